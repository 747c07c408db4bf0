import { describe, expect, it } from 'vitest'
import { type CallEvent, CallsInTurn } from './calls-in-turn.ts'

const start = (call: number): CallEvent => ({
  type: 'tool-call-start',
  index: 0,
  call,
  id: `call_${call}`,
  name: 'f',
})
const more = (call: number, json: string): CallEvent => ({
  type: 'tool-call-delta',
  index: 0,
  call,
  arguments: json,
})

/** What each event lets pass. */
function passed(events: readonly CallEvent[], calls = new CallsInTurn()) {
  return events.map((event) => calls.add(event))
}

describe('calls in turn', () => {
  it('pass at once where they come one after the other', () => {
    const events = [start(0), more(0, '{"a":"\\"}'), more(0, '{\\'), more(0, '\\"}'), start(1), more(1, '{}')]

    expect(passed([...events, start(2)])).toEqual([...events, start(2)].map((event) => [event]))
  })

  it('wait until the object of the call before them is whole', () => {
    const events = [
      start(0),
      start(1),
      start(2),
      more(2, '{}'),
      more(1, '{}'),
      more(0, '{"a":{}'),
      more(0, '}'),
    ]
    const last = [more(0, '}'), start(1), more(1, '{}'), start(2), more(2, '{}')]

    expect(passed(events)).toEqual([[start(0)], [], [], [], [], [more(0, '{"a":{}')], last])
  })

  it('wait for none that was ended, of which nothing passes any more', () => {
    const calls = new CallsInTurn()
    passed([start(0), more(0, '{'), start(1), more(1, '{')], calls)

    expect(calls.end()).toEqual([start(1), more(1, '{')])
    expect(calls.end()).toEqual([])
    expect(passed([more(0, '}'), start(2), more(1, '}')], calls)).toEqual([[], [start(2)], []])
  })
})
