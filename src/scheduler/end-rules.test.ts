/** Where texts end, in the running batch and in beam searches: against the rule written down over whole texts. */
import { describe, expect, it } from 'vitest'
import { answer, createRequest } from '../../test/support/engines/sequences.ts'
import { VirtualClock } from '../core/clock.ts'
import type { EndRules } from '../protocol/engine.ts'
import { ContinuousBatchScheduler, type SchedulerEvent } from './continuous-batch-scheduler.ts'
import { endsText } from './end-rules.ts'
import type { ScheduledRequest } from './sequence.ts'

const EOS = 0
const RULES: EndRules = { minTokens: 0, ignoresEndTokens: false, stopTokenIds: [] }

interface Outcome {
  readonly text: string
  readonly tokenIds: readonly number[]
  readonly finishReason: string
}

/** Runs one request whose model says `tokenIds`: letters, and an end token without text. */
function run(options: Partial<ScheduledRequest>, tokenIds: readonly number[]): Outcome {
  const scheduler = new ContinuousBatchScheduler({
    maxBatchSize: 1,
    maxSeqLen: null,
    schedulePolicy: 'fcfs',
    clock: new VirtualClock(),
    beamRoom: { seats: 2, tokens: 4096 },
    isEndOfGeneration: (tokenId) => tokenId === EOS,
    tokenBytes: (tokenId) => Buffer.from(tokenId === EOS ? '' : String.fromCodePoint(96 + tokenId)),
  })
  scheduler.add(createRequest(1, { maxNewTokens: tokenIds.length, ...options }))
  const events: SchedulerEvent[] = []
  for (const tokenId of tokenIds) {
    const plan = scheduler.plan()
    if (plan === null) break
    const beamChoices = plan.beams?.groups.map(({ beams }) =>
      // The second beam says nothing that anyone would choose.
      [
        { beam: 0, tokenId, score: (beams[0]?.score ?? 0) - 0.1 },
        { beam: 0, tokenId: 26, score: -1e6 },
      ],
    )
    events.push(...scheduler.update({ ...answer(plan, tokenId), ...(beamChoices && { beamChoices }) }))
    scheduler.checkIntegrity()
  }
  const deltas = events.filter((event) => event.type === 'text-delta')
  const [end] = events.filter((event) => event.type === 'sequence-end')
  return {
    text: deltas.map(({ text }) => text).join(''),
    tokenIds: deltas.flatMap((delta) => delta.tokenIds),
    finishReason: end?.finishReason ?? 'none',
  }
}

/** Over the whole text: the first place at which a token or a stop string may end it. */
function expected(rules: EndRules, stop: string, tokenIds: readonly number[]): Outcome {
  let text = ''
  for (const [index, tokenId] of tokenIds.entries()) {
    const taken = tokenIds.slice(0, index + 1)
    const isLate = index >= rules.minTokens
    const isEnd = rules.stopTokenIds.includes(tokenId) || (tokenId === EOS && !rules.ignoresEndTokens)
    if (isLate && isEnd) return { text, tokenIds: taken, finishReason: 'stop' }
    if (tokenId === EOS) continue
    text += String.fromCodePoint(96 + tokenId)
    if (isLate && text.endsWith(stop)) {
      return { text: text.slice(0, -stop.length), tokenIds: taken, finishReason: 'stop' }
    }
  }
  return { text, tokenIds, finishReason: 'length' }
}

describe.each([
  ['the running batch', 1],
  ['a beam search', 2],
])('in %s', (_, numBeams) => {
  it.each<[string, { rules: Partial<EndRules>; said: string; text: string; tokens: number }]>([
    ['an end token ends a text', { rules: {}, said: 'ab.cd', text: 'ab', tokens: 3 }],
    [
      'an ignored one does not',
      { rules: { ignoresEndTokens: true }, said: 'ab.cd', text: 'abcd', tokens: 5 },
    ],
    [
      'a stop token ends it, and its text is not shown',
      { rules: { stopTokenIds: [3, 9] }, said: 'abcd', text: 'ab', tokens: 3 },
    ],
    [
      'a stop token counts where end tokens do not',
      { rules: { stopTokenIds: [EOS], ignoresEndTokens: true }, said: 'a.b', text: 'a', tokens: 2 },
    ],
    [
      'nothing ends it too early',
      { rules: { minTokens: 3, stopTokenIds: [1] }, said: 'a.bcad', text: 'abc', tokens: 5 },
    ],
    [
      'an end may follow the least tokens at once',
      { rules: { minTokens: 2 }, said: 'ab.', text: 'ab', tokens: 3 },
    ],
    [
      'the last of the least tokens is no end',
      { rules: { minTokens: 3 }, said: 'ab.cd', text: 'abcd', tokens: 5 },
    ],
  ])('%s', (__, { rules, said, text, tokens }) => {
    const tokenIds = Array.from(said, (letter) => (letter === '.' ? EOS : letter.charCodeAt(0) - 96))
    const outcome = run({ numBeams, endRules: { ...RULES, ...rules } }, tokenIds)
    expect(outcome).toMatchObject({ text, tokenIds: tokenIds.slice(0, tokens) })
  })

  it('a stop string that ends too early is text, and one that ends in time is found where it begins early', () => {
    const endRules = { ...RULES, minTokens: 3 }
    const say = (said: string) =>
      run(
        { numBeams, endRules, stopStrings: ['ab'] },
        Array.from(said, (letter) => letter.charCodeAt(0) - 96),
      )
    expect(say('abcdabx')).toMatchObject({ text: 'abcd', finishReason: 'stop' })
    expect(say('ccabx')).toMatchObject({ text: 'cc', finishReason: 'stop' })
    expect(say('cabcd')).toMatchObject({ text: 'cabcd', finishReason: 'length' })
  })

  it('texts end where the rules say, whatever they are', () => {
    let seed = 1
    const below = (max: number): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % max
    }
    for (let i = 0; i < 2000; i++) {
      const tokenIds = Array.from({ length: 1 + below(12) }, () => below(4))
      const endRules: EndRules = {
        minTokens: below(8),
        ignoresEndTokens: below(2) === 0,
        stopTokenIds: below(3) === 0 ? [below(4)] : [],
      }
      const stop = ['ab', 'aa', 'aba', 'cc'][below(4)] ?? ''
      const outcome = run({ numBeams, endRules, stopStrings: [stop] }, tokenIds)
      expect([tokenIds, endRules, stop, outcome]).toEqual([
        tokenIds,
        endRules,
        stop,
        expected(endRules, stop, tokenIds),
      ])
    }
  })
})

describe('endsText', () => {
  it('asks the model alone where there are no rules', () => {
    const isEnd = (tokenId: number) => endsText(null, { tokenId, place: 1 }, (id) => id === EOS)
    expect([isEnd(EOS), isEnd(1)]).toEqual([true, false])
  })
})
