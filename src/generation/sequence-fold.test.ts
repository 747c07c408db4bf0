import { describe, expect, it } from 'vitest'
import { sequenceEnd, sequenceStart, textDelta } from '../../test/support/engines/scripted-engine.ts'
import { failedSequence, SequenceFold } from './sequence-fold.ts'

describe('SequenceFold', () => {
  it('holds all texts and tokens of a sequence in their order', () => {
    const fold = new SequenceFold()
    for (const event of [sequenceStart(), textDelta('a', [1]), textDelta('', [2]), textDelta('b', [3, 4])])
      fold.add(event)
    expect(fold.hasEnded).toBe(false)
    fold.add(sequenceEnd('length'))

    expect(fold.hasEnded).toBe(true)
    expect(fold.finish()).toMatchObject({
      text: 'ab',
      tokenIds: [1, 2, 3, 4],
      finishReason: 'length',
      error: null,
    })
  })

  it('knows the stop string that ended a sequence, or that none did', () => {
    const ends = [sequenceEnd('stop'), { ...sequenceEnd('stop'), stopString: 'END' }]
    const stopStrings = ends.map((end) => {
      const fold = new SequenceFold()
      fold.add(end)
      return fold.finish().stopString
    })
    expect(stopStrings).toEqual([null, 'END'])
  })

  it('refuses what comes after the end, and to finish before it', () => {
    const fold = new SequenceFold()
    expect(() => fold.finish()).toThrow('never ended')
    fold.add(sequenceEnd('stop'))

    expect(() => fold.add(textDelta('late', [1]))).toThrow('after the end')
    expect(fold.finish().text).toBe('')
  })
})

it('a sequence that never ran has its error and nothing else', () => {
  expect(failedSequence('why')).toEqual({
    text: '',
    reasoning: '',
    toolCalls: [],
    logprobs: [],
    tokenIds: [],
    promptTokens: 0,
    queueMs: 0,
    finishReason: 'error',
    stopString: null,
    error: 'why',
  })
})
