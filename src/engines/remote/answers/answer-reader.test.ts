import { describe, expect, it } from 'vitest'
import type { AnswerEvent, ToolCallStartEvent } from '../../../protocol/engine-events.ts'
import { AnswerReader } from './answer-reader.ts'

const SHAPE = {
  kind: 'chat',
  choices: 1,
  firstIndex: 0,
  topLogprobs: 0,
  estimatedPromptTokens: 1,
  maxTokens: Infinity,
} as const

/** What starts where an upstream tells a call in two chunks, both with its id. */
function startsOfCall(id: string, name: string): readonly ToolCallStartEvent[] {
  const reader = new AnswerReader(SHAPE)
  const events: AnswerEvent[] = []
  for (const called of [{ name, arguments: '{' }, { arguments: '}' }]) {
    const delta = { tool_calls: [{ index: 0, id, function: called }] }
    reader.read(JSON.stringify({ choices: [{ index: 0, delta }] }), events)
  }
  return events.filter((event) => event.type === 'tool-call-start')
}

describe('the calls of an AnswerReader', () => {
  it.each(['call_1', 'functions.f:0', 'x'.repeat(256)])('keep the id %j of the upstream', (id) => {
    expect(startsOfCall(id, 'f')).toMatchObject([{ id, name: 'f' }])
  })

  it.each(['', 'x'.repeat(257), 'call\u001B[2J', 'call\n1'])('get an id of ours for %j', (id) => {
    expect(startsOfCall(id, 'f')).toMatchObject([{ id: expect.stringMatching(/^call_[\w-]+$/), name: 'f' }])
  })

  it.each(['', 'f', 'ns.sub:find/all-2', 'x'.repeat(128)])('keep the name %j', (name) => {
    expect(startsOfCall('c', name)).toMatchObject([{ name }])
  })

  it.each([
    ['x'.repeat(129), 'x'.repeat(128)],
    ['f\u001B[2J', 'f__2J'],
    ['two words', 'two_words'],
    ['f\n', 'f_'],
  ])('cut the name %j to what a function may be called, %j', (name, shown) => {
    expect(startsOfCall('c', name)).toMatchObject([{ name: shown }])
  })
})
