import { describe, expect, it } from 'vitest'
import { HERMES } from '../../models/chat/formats/hermes.ts'
import { CallReader } from '../../models/chat/reading/call-reader.ts'
import { ReasoningReader } from '../../models/chat/reading/reasoning-reader.ts'
import type { ChosenLogprob, EngineEvent } from '../../protocol/engine-events.ts'
import { AnswerEvents } from './answer-events.ts'
import { SequenceFold } from './sequence-fold.ts'

const createReader = () =>
  new ReasoningReader({
    markers: { open: '<think>', close: '</think>' },
    isOpen: false,
    next: new CallReader({
      ...{ syntax: HERMES.syntax, trigger: HERMES.trigger },
      tools: new Map([['f', {}]]),
      maxCalls: Infinity,
      startsInCalls: false,
    }),
  })

/** Reads tokens that come one by one, with a log probability each. */
function read(tokens: readonly string[]) {
  const events = new AnswerEvents(createReader, 1)
  const fold = new SequenceFold()
  const deltas = tokens.map((text, tokenId): EngineEvent => {
    const logprobs = [
      { tokenId, logprob: -1, bytes: [...Buffer.from(text)], top: [] } satisfies ChosenLogprob,
    ]
    return { type: 'text-delta', index: 0, text, tokenIds: [tokenId], logprobs }
  })
  const end: EngineEvent = { type: 'sequence-end', index: 0, finishReason: 'stop', error: null }
  for (const event of [...deltas, end]) for (const one of events.read(event)) fold.add(one)
  return fold.finish()
}

const CALL = ['<tool_call>', '\n{"name":', ' "f",', ' "arguments": {}', '}\n', '</tool_call>']

describe('log probabilities of an answer', () => {
  it('are those of its text alone, where reasoning and calls stand beside it', () => {
    const tokens = ['<think>', '\nHm', '.\n', '</think>', '\n\n', 'Let', ' me', ' see', '.', '\n', ...CALL]
    const answer = read(tokens)

    expect(answer).toMatchObject({ text: 'Let me see.', reasoning: 'Hm.' })
    expect(answer.toolCalls).toMatchObject([{ name: 'f', arguments: '{}' }])
    expect(answer.logprobs.map(({ tokenId }) => tokens[tokenId])).toEqual(['Let', ' me', ' see', '.'])
    expect(answer.tokenIds).toEqual(tokens.map((_, tokenId) => tokenId))
  })

  it('come with text that waited, in its order', () => {
    const tokens = ['a ', '<tool', '_call>', ' is', ' a', ' tag']
    const answer = read(tokens)

    expect(answer.text).toBe('a <tool_call> is a tag')
    expect(answer.logprobs.map(({ tokenId }) => tokenId)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('are there for a token that is text in part', () => {
    const answer = read(['<think>a', '</think> Yes', '.\n\n<tool_call>', '{"name": "f", "arguments": {}}'])

    expect(answer.text).toBe('Yes.')
    expect(answer.logprobs.map(({ tokenId }) => tokenId)).toEqual([1, 2])
  })
})
