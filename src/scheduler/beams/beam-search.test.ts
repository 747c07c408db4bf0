import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../test/support/length-of.ts'
import type { BeamChoice } from '../../protocol/model-runner.ts'
import { BeamSearch, type BeamEnd, type Hypothesis } from './beam-search.ts'

const EOS = 0

/** A model of a few tokens: log-probabilities of the next one after any tokens. */
interface TinyModel {
  readonly vocabSize: number
  readonly maxNewTokens: number
  logProbs(tokenIds: readonly number[]): readonly number[]
}

/** Every table is a model; tokens choose the row. */
function createModel(vocabSize: number, maxNewTokens: number, seed: number): TinyModel {
  return {
    vocabSize,
    maxNewTokens,
    logProbs: (tokenIds) => {
      let state = seed
      for (const tokenId of tokenIds) state = (Math.imul(state, 31) + tokenId + 1) | 0
      const logits = Array.from({ length: vocabSize }, (_, tokenId) => {
        const mixed = Math.imul(state ^ Math.imul(tokenId + 1, 0x9e3779b1), 0x85ebca6b)
        return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 30
      })
      const sum = Math.log(logits.reduce((all, logit) => all + Math.exp(logit), 0))
      return logits.map((logit) => logit - sum)
    },
  }
}

const models = fc
  .record({
    vocabSize: fc.integer({ min: 2, max: 4 }),
    maxNewTokens: fc.integer({ min: 1, max: 4 }),
    seed: fc.integer(),
  })
  .map(({ vocabSize, maxNewTokens, seed }) => createModel(vocabSize, maxNewTokens, seed))

function endOf(model: TinyModel, tokenIds: readonly number[]): BeamEnd | null {
  if (tokenIds.at(-1) === EOS) return 'stop'
  return tokenIds.length === model.maxNewTokens ? 'length' : null
}

function search(model: TinyModel, numBeams: number): Hypothesis {
  const beams = new BeamSearch<null>({
    numBeams,
    firstState: null,
    extend: ({ tokenIds }, tokenId) => ({ state: null, end: endOf(model, [...tokenIds, tokenId]) }),
  })
  for (let steps = 1; !beams.isDone; steps++) {
    expect(steps).toBeLessThanOrEqual(model.maxNewTokens)
    const candidates = beams.beams.flatMap(({ tokenIds, score }, beam): BeamChoice[] =>
      model.logProbs(tokenIds).map((logProb, tokenId) => ({ beam, tokenId, score: score + logProb })),
    )
    candidates.sort((a, b) => b.score - a.score)
    beams.advance(candidates.slice(0, 2 * numBeams))
    expect(beams.beams.length).toBeLessThanOrEqual(numBeams)
  }
  return beams.best
}

/** The best score per token of all texts there are. */
function searchAll(model: TinyModel): { tokenIds: readonly number[]; normalizedScore: number } {
  let best = { tokenIds: [] as readonly number[], normalizedScore: Number.NEGATIVE_INFINITY }
  const visit = (tokenIds: readonly number[], score: number): void => {
    if (endOf(model, tokenIds) !== null) {
      const normalizedScore = score / tokenIds.length
      if (normalizedScore > best.normalizedScore) best = { tokenIds, normalizedScore }
      return
    }
    for (const [tokenId, logProb] of model.logProbs(tokenIds).entries()) {
      visit([...tokenIds, tokenId], score + logProb)
    }
  }
  visit([], 0)
  return best
}

/**
 * The same rules written the other way round, as Hugging Face writes them: always `numBeams` rows, with a score of -1e9
 * where there is no beam or no end yet.
 */
function searchInRows(model: TinyModel, numBeams: number): readonly number[] {
  const NEVER = -1e9
  const blank = Array.from({ length: numBeams }, () => ({ tokenIds: [] as readonly number[], score: NEVER }))
  let running = blank.map((row, i) => ({ ...row, score: i === 0 ? 0 : NEVER }))
  let ended = blank
  for (let length = 1; ; length++) {
    const top = running
      .flatMap(({ tokenIds, score }) =>
        score <= NEVER / 2 && length > 1
          ? [{ tokenIds: [...tokenIds, EOS], score: NEVER * 2 }]
          : model
              .logProbs(tokenIds)
              .map((logProb, id) => ({ tokenIds: [...tokenIds, id], score: score + logProb })),
      )
      .sort((a, b) => b.score - a.score)
      .slice(0, 2 * numBeams)
    const isEnd = ({ tokenIds }: { tokenIds: readonly number[] }): boolean => endOf(model, tokenIds) !== null
    ended = [
      ...ended,
      ...top
        .slice(0, numBeams)
        .map((row) => ({ ...row, score: isEnd(row) ? row.score / length : NEVER * 2 })),
    ]
      .sort((a, b) => b.score - a.score)
      .slice(0, numBeams)
    running = top
      .map((row) => ({ ...row, score: isEnd(row) ? row.score + NEVER : row.score }))
      .sort((a, b) => b.score - a.score)
      .slice(0, numBeams)
    const worst = Math.min(...ended.map(({ score }) => score))
    const isFull = worst > NEVER / 2
    const canImprove = !isFull || (running[0]?.score ?? NEVER) / length > worst
    if (!canImprove || top.every(isEnd)) return ended[0]?.tokenIds ?? []
  }
}

describe('BeamSearch', () => {
  it('finds the best of all texts when it has a beam for each', () => {
    fc.assert(
      fc.property(models, (model) => {
        const found = search(model, model.vocabSize ** model.maxNewTokens)
        const best = searchAll(model)
        expect(found.normalizedScore).toBeCloseTo(best.normalizedScore, 9)
        expect(found.tokenIds).toEqual(best.tokenIds)
      }),
      { numRuns: lengthOf({ test: 300, soak: 6000 }) },
    )
  })

  it('with fewer beams finds what the same rules over padded rows find', () => {
    fc.assert(
      fc.property(models, fc.integer({ min: 2, max: 8 }), (model, numBeams) => {
        expect(search(model, numBeams).tokenIds).toEqual(searchInRows(model, numBeams))
      }),
      { numRuns: lengthOf({ test: 1000, soak: 20_000 }) },
    )
  })

  const createSearch = (numBeams: number) =>
    new BeamSearch<null>({
      numBeams,
      firstState: null,
      extend: (_, tokenId) => ({ state: null, end: tokenId === EOS ? 'stop' : null }),
    })
  const candidate = (beam: number, tokenId: number, score: number): BeamChoice => ({
    beam,
    tokenId,
    score,
  })

  it('ranks ended texts by score per token, the end token counted', () => {
    const beams = createSearch(2)
    beams.advance([candidate(0, EOS, -1), candidate(0, 1, -1.1), candidate(0, 2, -3), candidate(0, 3, -9)])
    expect(beams.isDone).toBe(false)
    beams.advance([candidate(0, EOS, -1.2), candidate(0, 1, -5), candidate(1, 1, -6), candidate(1, 2, -7)])
    expect(beams.hypotheses).toEqual([
      { tokenIds: [1, EOS], score: -1.2, normalizedScore: -0.6, finishReason: 'stop' },
      { tokenIds: [EOS], score: -1, normalizedScore: -1, finishReason: 'stop' },
    ])
    expect(beams.isDone).toBe(true)
  })

  it.each([
    [-5.9, false],
    [-6.1, true],
  ])(
    'with as many ended texts as beams goes on while a running one, here %d, is better per token',
    (score, isDone) => {
      const beams = createSearch(2)
      beams.advance([candidate(0, EOS, -2), candidate(0, 1, -2.1), candidate(0, 2, -3), candidate(0, 3, -9)])
      beams.advance([
        candidate(0, EOS, -6),
        candidate(0, 1, score),
        candidate(1, 1, -6.2),
        candidate(1, 2, -7),
      ])
      expect(beams.hypotheses.map(({ normalizedScore }) => normalizedScore)).toEqual([-2, -3])
      expect(beams.isDone).toBe(isDone)
    },
  )

  it('ends no text that comes after as many likelier candidates as there are beams', () => {
    const beams = createSearch(2)
    beams.advance([candidate(0, 1, -1), candidate(0, 2, -2), candidate(0, EOS, -3), candidate(0, 3, -4)])
    expect(beams.hypotheses).toEqual([])
    expect(beams.beams.map(({ tokenIds }) => tokenIds)).toEqual([[1], [2]])
  })

  it('goes on with fewer beams where a step leaves fewer, and says whose children they are', () => {
    const beams = createSearch(3)
    expect(beams.advance([candidate(0, 2, -2), candidate(0, EOS, -1)])).toEqual([0])
    expect(beams.advance([candidate(0, 1, -4), candidate(0, 2, -3)])).toEqual([0, 0])
    expect(beams.beams.map(({ tokenIds }) => tokenIds)).toEqual([
      [2, 2],
      [2, 1],
    ])
  })
})
