import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../core/clock.ts'
import { RequestTimeline } from './request-timeline.ts'

describe('RequestTimeline', () => {
  it('has no generation to sum up for a request that reached no model', () => {
    expect(new RequestTimeline(new VirtualClock()).summary()).toBeNull()
  })

  it('counts from the moment the request was received', () => {
    const clock = new VirtualClock()
    const timeline = new RequestTimeline(clock)
    timeline.recordModel('m')

    clock.advance(30)
    timeline.record({ type: 'sequence-start', index: 0, promptTokens: 7, cachedTokens: 0, queueMs: 25 })
    clock.advance(10)
    timeline.record({ type: 'text-delta', index: 0, text: 'a', tokenIds: [1, 2] })
    clock.advance(10)
    timeline.record({ type: 'text-delta', index: 0, text: 'b', tokenIds: [3] })
    timeline.record({ type: 'sequence-end', index: 0, finishReason: 'length', error: null })
    clock.advance(5)

    expect(timeline.elapsedMs()).toBe(55)
    expect(timeline.summary()).toEqual({
      model: 'm',
      promptTokens: 7,
      completionTokens: 3,
      queueMs: 25,
      ttftMs: 40,
      e2eMs: 50,
      finishReason: 'length',
    })
  })

  it('sums the tokens of all sequences and names each finish reason once', () => {
    const timeline = new RequestTimeline(new VirtualClock())
    timeline.recordModel('m')
    for (const [index, finishReason] of (['stop', 'length', 'stop'] as const).entries()) {
      timeline.record({ type: 'sequence-start', index, promptTokens: 2, cachedTokens: 0, queueMs: index })
      timeline.record({ type: 'text-delta', index, text: 'a', tokenIds: [1] })
      timeline.record({ type: 'sequence-end', index, finishReason, error: null })
    }

    expect(timeline.summary()).toMatchObject({
      promptTokens: 6,
      completionTokens: 3,
      queueMs: 2,
      finishReason: 'stop,length',
    })
  })

  it('sums what was guessed for the sequences that have ended', () => {
    const timeline = new RequestTimeline(new VirtualClock())
    const end = { type: 'sequence-end', finishReason: 'stop', error: null } as const
    timeline.record({ ...end, index: 0, drafts: { draftedTokens: 12, acceptedTokens: 9 } })
    timeline.record({ ...end, index: 1 })
    timeline.record({ ...end, index: 2, drafts: { draftedTokens: 3, acceptedTokens: 0 } })
    expect(timeline.drafts).toEqual({ draftedTokens: 15, acceptedTokens: 9 })
  })

  it('keeps what was made before a client left', () => {
    const timeline = new RequestTimeline(new VirtualClock())
    timeline.recordModel('m')
    timeline.record({ type: 'sequence-start', index: 0, promptTokens: 2, cachedTokens: 0, queueMs: 0 })
    timeline.record({ type: 'text-delta', index: 0, text: 'a', tokenIds: [1] })

    expect(timeline.summary()).toMatchObject({ completionTokens: 1, e2eMs: null, finishReason: null })
  })
})
