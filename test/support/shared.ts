/** What many tests of a `describe` use and none of them changes: made once before the first, undone after the last. */
import { afterAll, beforeAll, onTestFinished } from 'vitest'

type Cleanup = () => unknown

/** Of the thing that `shared` is making; null while none is made. */
let cleanupsInMaking: Cleanup[] | null = null

/** Runs after the test, or, for what `shared` makes, after the last test that uses it. */
export function whenUnused(cleanup: Cleanup): void {
  if (cleanupsInMaking === null) onTestFinished(async () => void (await cleanup()))
  else cleanupsInMaking.push(cleanup)
}

/** Call in a `describe` or at the top of a file; what it gives is there as soon as the first test runs. */
export function shared<Thing>(make: () => Thing | Promise<Thing>): () => Thing {
  const cleanups: Cleanup[] = []
  const made: Thing[] = []
  beforeAll(async () => {
    cleanupsInMaking = cleanups
    try {
      made[0] = await make()
    } finally {
      cleanupsInMaking = null
    }
  })
  afterAll(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
    made.length = 0
  })
  return () => {
    const [thing] = made
    if (thing === undefined) throw new Error('It is there from the first test to the last.')
    return thing
  }
}
