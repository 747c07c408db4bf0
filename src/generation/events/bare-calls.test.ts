import { describe, expect, it } from 'vitest'
import { sequenceEnd, sequenceStart, textDelta } from '../../../test/support/engines/scripted-engine.ts'
import { BareCalls } from './bare-calls.ts'
import { type SequenceEvent, SequenceFold } from './sequence-fold.ts'

const start = (call: number): SequenceEvent => ({
  type: 'tool-call-start',
  index: 0,
  call,
  id: `c${call}`,
  name: 'f',
})
const json = (call: number, text: string): SequenceEvent => ({
  type: 'tool-call-delta',
  index: 0,
  call,
  arguments: text,
})

/** Arguments of the calls, where events come one by one and all at once. */
function argumentsOf(events: readonly SequenceEvent[]): readonly string[] {
  const both = [events.map((event) => [event]), [events]].map((batches) => {
    const calls = new BareCalls(1)
    const fold = new SequenceFold()
    for (const event of batches.flatMap((batch) => calls.complete(batch))) fold.add(event)
    return fold.finish().toolCalls.map((call) => call.arguments)
  })
  expect(both[0]).toEqual(both[1])
  return both[0] ?? []
}

describe('BareCalls', () => {
  it('gives arguments to the calls that have none, each its own', () => {
    const events = [
      sequenceStart(),
      start(0),
      start(1),
      json(1, '{"a":'),
      start(2),
      json(1, '1}'),
      sequenceEnd(),
    ]
    expect(argumentsOf(events)).toEqual(['{}', '{"a":1}', '{}'])
  })

  it('leaves unfinished what was cut', () => {
    expect(argumentsOf([sequenceStart(), start(0), sequenceEnd('length')])).toEqual([''])
  })

  it('gives back what has nothing to complete', () => {
    const events = [sequenceStart(), textDelta('a', [1]), sequenceEnd()]
    expect(new BareCalls(1).complete(events)).toBe(events)
  })
})
