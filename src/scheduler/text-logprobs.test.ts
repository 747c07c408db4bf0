/** Log probabilities in the scheduler's events: those of the text, whatever is held back and cut. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRequest } from '../../test/support/engines/sequences.ts'
import { VirtualClock } from '../core/clock.ts'
import type { ChosenLogprob } from '../protocol/engine-events.ts'
import type { SampledLogprob } from '../protocol/model-runner.ts'
import { ContinuousBatchScheduler, type SchedulerEvent } from './continuous-batch-scheduler.ts'
import type { ScheduledRequest } from './sequence.ts'

/** The model's only end token. */
const END = 0

/** A model that says these tokens, whatever it is asked. */
function say(
  vocabulary: readonly Uint8Array[],
  spoken: readonly (number | null)[],
  request: Partial<ScheduledRequest> = { topLogprobs: 1 },
): readonly SchedulerEvent[] {
  const scheduler = new ContinuousBatchScheduler({
    maxBatchSize: 1,
    maxSeqLen: 512,
    schedulePolicy: 'fcfs',
    clock: new VirtualClock(),
    isEndOfGeneration: (tokenId) => tokenId === END,
    tokenBytes: (tokenId) => vocabulary[tokenId] ?? Buffer.alloc(0),
  })
  scheduler.add({ ...createRequest(1, { maxNewTokens: spoken.length }), ...request })
  const events: SchedulerEvent[] = []
  let step = 0
  while (scheduler.hasWork) {
    scheduler.plan()
    const tokenId = spoken[step] ?? null
    events.push(...scheduler.update({ tokenIds: [tokenId], logprobs: [[sampled(tokenId, step)]] }))
    step++
  }
  return events
}

/** One that says when it was sampled. */
function sampled(tokenId: number | null, step: number): SampledLogprob {
  return { logprob: 0 - step, top: [{ tokenId: tokenId ?? END, logprob: 0 - step }] }
}

const textOf = (logprobs: readonly ChosenLogprob[]) =>
  Buffer.from(logprobs.flatMap(({ bytes }) => bytes)).toString('utf8')

/** Without the beginning of a character that the next token goes on with. */
const wholeTextOf = (logprobs: readonly ChosenLogprob[]) => textOf(logprobs).replace(/\ufffd+$/, '')

function fold(events: readonly SchedulerEvent[]) {
  const deltas = events.filter((event) => event.type === 'text-delta')
  return {
    text: deltas.map(({ text }) => text).join(''),
    tokenIds: deltas.flatMap(({ tokenIds }) => tokenIds),
    logprobs: deltas.flatMap(({ logprobs = [] }) => logprobs),
    /** As sent up to each delta. */
    prefixes: deltas.map((_, last) => {
      const sent = deltas.slice(0, last + 1)
      return {
        text: sent.map(({ text }) => text).join(''),
        logprobs: sent.flatMap(({ logprobs = [] }) => logprobs),
      }
    }),
  }
}

const WORDS = ['', 'one', ' two', 'ST', 'OP', ' x'].map((word) => Buffer.from(word))

describe('log probabilities of a text', () => {
  it('come with their tokens, with the bytes of each', () => {
    const { logprobs } = fold(say(WORDS, [1, 2]))

    const [one, two] = [[...Buffer.from('one')], [...Buffer.from(' two')]]
    expect(logprobs).toEqual([
      { tokenId: 1, logprob: 0, bytes: one, top: [{ tokenId: 1, logprob: 0, bytes: one }] },
      { tokenId: 2, logprob: -1, bytes: two, top: [{ tokenId: 2, logprob: -1, bytes: two }] },
    ])
  })

  it('leave out the tokens of a stop string and the token that ends the text, which are counted', () => {
    const stopped = fold(say(WORDS, [1, 3, 4, 5], { stopStrings: ['STOP'], topLogprobs: 1 }))
    expect(stopped).toMatchObject({ text: 'one', tokenIds: [1, 3, 4] })
    expect(stopped.logprobs.map(({ tokenId }) => tokenId)).toEqual([1])

    const ended = fold(say(WORDS, [1, END, 5]))
    expect(ended).toMatchObject({ text: 'one', tokenIds: [1, END] })
    expect(ended.logprobs.map(({ tokenId }) => tokenId)).toEqual([1])
  })

  it('wait with a text that may become a stop string', () => {
    const events = say(WORDS, [1, 3, 5], { stopStrings: ['STOP'], topLogprobs: 1 })
    const deltas = events.filter((event) => event.type === 'text-delta')

    expect(deltas.map(({ text, logprobs = [] }) => [text, logprobs.map(({ tokenId }) => tokenId)])).toEqual([
      ['one', [1]],
      ['', []],
      ['ST x', [3, 5]],
    ])
  })

  it('come with what was held back, where the runner ends the text', () => {
    const { text, logprobs } = fold(say(WORDS, [1, 3, null], { stopStrings: ['STOP'], topLogprobs: 1 }))

    expect([text, logprobs.map(({ tokenId }) => tokenId)]).toEqual(['oneST', [1, 3]])
  })

  it('are absent where they were not asked for', () => {
    const events = say(WORDS, [1, 2], {})

    expect(events.filter((event) => 'logprobs' in event)).toEqual([])
  })

  it('begin with the text, for random vocabularies and stop strings, and never come before it', () => {
    const pieces = fc.string({ unit: fc.constantFrom('a', 'b', 'ü', '🙂', '\n'), maxLength: 4 })
    /** Also halves of characters and bytes that are no UTF-8. */
    const bytes = fc
      .tuple(pieces, fc.nat(3), fc.nat(3))
      .map(([text, from, less]) =>
        Buffer.from(text).subarray(from, Math.max(from, Buffer.byteLength(text) - less)),
      )
    fc.assert(
      fc.property(
        fc.array(bytes, { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(12), { minLength: 1, maxLength: 20 }),
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'ü', '\n'), minLength: 1, maxLength: 3 }), {
          maxLength: 3,
        }),
        (vocabulary, spoken, stopStrings) => {
          const vocabularyWithEnd = [Buffer.alloc(0), ...vocabulary]
          const events = say(vocabularyWithEnd, spoken, { stopStrings, topLogprobs: 1 })
          const { text, logprobs, prefixes } = fold(events)
          expect(textOf(logprobs).startsWith(text)).toBe(true)
          expect(text.startsWith(wholeTextOf(logprobs.slice(0, -1)))).toBe(true)
          for (const sent of prefixes.slice(0, -1)) {
            expect(sent.text.startsWith(wholeTextOf(sent.logprobs))).toBe(true)
          }
          const places = logprobs.map(({ logprob }) => 0 - logprob)
          expect(places).toEqual(places.map((_, place) => place))
        },
      ),
    )
  })
})
