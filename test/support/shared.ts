/** What many tests of a `describe` use and none of them changes: made once before the first, undone after the last. */
import { afterAll, beforeAll, onTestFinished } from 'vitest'

type Cleanup = () => unknown

/** Of the thing that is being made; null while none is made. */
let cleanupsInMaking: Cleanup[] | null = null

/** Runs after the test, or, for what `shared` makes, after the last test that uses it. */
export function whenUnused(cleanup: Cleanup): void {
  if (cleanupsInMaking === null) onTestFinished(async () => void (await cleanup()))
  else cleanupsInMaking.push(cleanup)
}

/** Makes a thing outside of a test; `undo` runs what `whenUnused` was given on the way. */
export async function makeUndoable<Thing>(
  make: () => Thing | Promise<Thing>,
): Promise<{ readonly thing: Thing; readonly undo: () => Promise<void> }> {
  const cleanups: Cleanup[] = []
  const undo = async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  }
  cleanupsInMaking = cleanups
  try {
    return { thing: await make(), undo }
  } catch (error) {
    await undo()
    throw error
  } finally {
    cleanupsInMaking = null
  }
}

/** Call in a `describe` or at the top of a file; what it gives is there as soon as the first test runs. */
export function shared<Thing>(make: () => Thing | Promise<Thing>): () => Thing {
  let made: Awaited<ReturnType<typeof makeUndoable<Thing>>> | null = null
  beforeAll(async () => {
    made = await makeUndoable(make)
  })
  afterAll(async () => {
    await made?.undo()
    made = null
  })
  return () => {
    if (made === null) throw new Error('It is there from the first test to the last.')
    return made.thing
  }
}
