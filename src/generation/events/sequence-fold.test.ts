import { describe, expect, it } from 'vitest'
import { sequenceEnd, sequenceStart, textDelta } from '../../../test/support/engines/scripted-engine.ts'
import { failedSequence, type SequenceEvent, SequenceFold } from './sequence-fold.ts'

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

  it('counts as thought what its end tells, also where no thoughts were shown', () => {
    const fold = new SequenceFold()
    const events = [sequenceStart(), textDelta('a', [-1, -1]), { ...sequenceEnd('stop'), reasoningTokens: 1 }]
    for (const event of events) fold.add(event)

    expect(fold.finish().reasoningTokens).toBe(1)
  })

  it('keeps text, reasoning and calls in the order in which they came', () => {
    const fold = new SequenceFold()
    const events: readonly SequenceEvent[] = [
      sequenceStart(),
      { type: 'reasoning-delta', index: 0, text: 'hm' },
      { type: 'reasoning-delta', index: 0, text: 'm' },
      textDelta('', [1]),
      textDelta('I', [2]),
      textDelta(' call', [3]),
      { type: 'tool-call-start', index: 0, call: 0, id: 'c0', name: 'add' },
      { type: 'tool-call-delta', index: 0, call: 0, arguments: '{"a":' },
      textDelta('', [4]),
      { type: 'tool-call-delta', index: 0, call: 0, arguments: '1}' },
      textDelta(' twice', [5]),
      { type: 'tool-call-start', index: 0, call: 1, id: 'c1', name: 'now' },
      sequenceEnd('stop'),
    ]
    for (const event of events) fold.add(event)

    const calls = [
      { id: 'c0', name: 'add', arguments: '{"a":1}' },
      { id: 'c1', name: 'now', arguments: '' },
    ]
    expect(fold.finish()).toMatchObject({
      text: 'I call twice',
      reasoning: 'hmm',
      toolCalls: calls,
      parts: [
        { type: 'reasoning', text: 'hmm' },
        { type: 'text', text: 'I call' },
        { type: 'tool-call', call: calls[0] },
        { type: 'text', text: ' twice' },
        { type: 'tool-call', call: calls[1] },
      ],
      tokenIds: [1, 2, 3, 4, 5],
    })
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
    parts: [],
    logprobs: [],
    tokenIds: [],
    reasoningTokens: 0,
    promptTokens: 0,
    cachedTokens: 0,
    queueMs: 0,
    finishReason: 'error',
    stopString: null,
    error: 'why',
  })
})
