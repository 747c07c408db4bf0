import { describe, expect, it } from 'vitest'
import type { AnswerEvent, ToolCallStartEvent } from '../../../protocol/engine-events.ts'
import { AnswerReader } from './answer-reader.ts'

const SHAPE = {
  kind: 'chat',
  choices: 1,
  firstIndex: 0,
  stopStrings: ['END', 'FIN'],
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

/** A stream of one word, where the upstream tells these numbers. */
function eventsWith(usage: object): readonly AnswerEvent[] {
  const reader = new AnswerReader(SHAPE)
  const events: AnswerEvent[] = []
  reader.read(
    JSON.stringify({ choices: [{ index: 0, delta: { content: 'word' }, finish_reason: 'stop' }] }),
    events,
  )
  reader.read(JSON.stringify({ choices: [], usage }), events)
  reader.end(events)
  return events
}

/** What its end says of its prompt. */
const promptEnd = (usage: object) => eventsWith(usage).find((event) => event.type === 'sequence-end')

/** Of its answer. */
const tokensWith = (usage: object) =>
  eventsWith(usage).reduce((sum, event) => sum + (event.type === 'text-delta' ? event.tokenIds.length : 0), 0)

describe('the counts of an AnswerReader', () => {
  it('are those of the upstream as far as a model may read', () => {
    expect(promptEnd({ prompt_tokens: 2 ** 24 })).toMatchObject({ promptTokensCorrection: 2 ** 24 - 1 })
  })

  it('of many choices are together no more than a model makes', () => {
    const choices = Array.from({ length: 64 }, (_, index) => ({ index, delta: {}, finish_reason: 'stop' }))
    const reader = new AnswerReader({ ...SHAPE, choices: 64 })
    const events: AnswerEvent[] = []
    reader.read(JSON.stringify({ choices, usage: { completion_tokens: 2 ** 26 } }), events)
    reader.end(events)
    const tokens = events.map((event) => (event.type === 'text-delta' ? event.tokenIds.length : 0))
    expect(Math.max(...tokens)).toBeLessThan(2)
  })

  it.each([2 ** 24 + 1, 2 ** 31, 1e300, -1, 1.5, '7', null])('are estimated where it tells %j', (told) => {
    const end = promptEnd({ prompt_tokens: told, prompt_tokens_details: { cached_tokens: told } })
    expect(end).not.toHaveProperty('promptTokensCorrection')
    expect(end).not.toHaveProperty('cachedTokensCorrection')
  })

  it.each([
    [390, 390],
    [0, 0],
    [401, 400],
    [-1, undefined],
    [null, undefined],
  ])('where the upstream tells that %j of 400 were thought, are %j', (told, reasoningTokens) => {
    const usage = { completion_tokens: 400, completion_tokens_details: { reasoning_tokens: told } }
    expect(promptEnd(usage)?.reasoningTokens).toBe(reasoningTokens)
  })

  it.each([
    ['are the pieces of each choice where it tells none', undefined, [3, 1, undefined]],
    ['are those also where it tells the sum of several', { reasoning_tokens: 9 }, [3, 1, undefined]],
  ])('that were thought %s', (_, details, thought) => {
    const deltas = [
      { reasoning_content: 'a' },
      { reasoning: 'b' },
      { reasoning_content: 'c' },
      { content: 'd' },
    ]
    const reader = new AnswerReader({ ...SHAPE, choices: 3 })
    const events: AnswerEvent[] = []
    const read = (chunk: object): void => reader.read(JSON.stringify(chunk), events)
    for (const [index, given] of [deltas, deltas.slice(2), deltas.slice(3)].entries()) {
      for (const delta of given) read({ choices: [{ index, delta }] })
      read({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })
    }
    read({ choices: [], usage: { completion_tokens: 20, completion_tokens_details: details } })
    reader.end(events)

    const ends = events.filter((event) => event.type === 'sequence-end')
    expect(ends.map(({ reasoningTokens }) => reasoningTokens)).toEqual(thought)
  })

  it.each([
    [3, 3],
    [2 ** 20, 2 ** 20],
    [2 ** 20 + 1, 1],
    [2 ** 31 - 1, 1],
    [2 ** 40, 1],
  ])('for %j told tokens of an answer are %j: more than any model makes is not believed', (told, counted) => {
    expect(tokensWith({ completion_tokens: told })).toBe(counted)
  })
})

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

describe('the stop string of an AnswerReader', () => {
  it.each([
    ['vLLM names', { stop_reason: 'FIN' }, 'FIN'],
    ['SGLang names', { matched_stop: 'FIN' }, 'FIN'],
    ['is none where a token ended it', { stop_reason: null, matched_stop: 151_645 }, undefined],
    ['is none where a template ends each turn with a text', { matched_stop: '<|im_end|>' }, undefined],
    ['is none where nobody tells', {}, undefined],
  ])('%s', (_, told, stopString) => {
    const reader = new AnswerReader(SHAPE)
    const events: AnswerEvent[] = []
    reader.read(
      JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...told }] }),
      events,
    )
    reader.end(events)
    const end = events.find((event) => event.type === 'sequence-end')

    expect(end?.stopString).toBe(stopString)
  })
})
