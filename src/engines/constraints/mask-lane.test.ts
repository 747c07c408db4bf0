/** What a step waits for: the work of a thread counts against a text, the time that it gets no core does not. */
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { createBell, createLane, endBell, MaskReader } from './mask-lane.ts'

const BUILT = new URL('../../../dist/engines/constraints/mask-lane.js', import.meta.url).href
const VOCAB_SIZE = 64
let thread: Worker | null = null

afterEach(() => thread?.terminate())

/** A reader, and a thread that does so before it answers: `rests`, as where it gets no core, or `works`. */
function open({ restMs = 0, workMs = 0 }: { restMs?: number; workMs?: number }) {
  const [lane, bell] = [createLane(VOCAB_SIZE), createBell()]
  let slow = 0
  const program = `
    import { workerData } from 'node:worker_threads'
    import { MaskWriter } from ${JSON.stringify(BUILT)}
    const { lane, bell, restMs, workMs } = workerData
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, restMs)
    const advance = async () => {
      for (const end = performance.now() + workMs; performance.now() < end;);
      return Int32Array.of(1, 2)
    }
    await new MaskWriter(lane, bell, { advance }).answer()`
  const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`)
  thread = new Worker(url, { workerData: { lane, bell, restMs, workMs } })
  return { reader: new MaskReader(lane, bell, () => slow++), slowCalls: () => slow }
}

describe('a mask', () => {
  it('is waited for while its thread gets no core', () => {
    const { reader, slowCalls } = open({ restMs: 2500 })
    expect([reader.wait(), [...reader.mask], slowCalls()]).toEqual(['open', [1, 2], 0])
  })

  it('is not waited for where its thread has ended', () => {
    const bell = createBell()
    let calls = 0
    const reader = new MaskReader(createLane(VOCAB_SIZE), bell, () => calls++)
    endBell(bell)
    expect([reader.wait(), calls]).toEqual(['lost', 1])
  })

  it('whose making takes too long is given up', () => {
    const { reader, slowCalls } = open({ workMs: 60_000 })
    expect([reader.wait(), slowCalls()]).toEqual(['lost', 1])
    expect(reader.wait()).toBe('lost')
  })
})
