import { expect, it } from 'vitest'
import { createGenerateFrames } from './answers.ts'

it('leaves out what a remote model thinks, which knows chats only', () => {
  const framesOf = (...thoughts: string[]): string => {
    const frames = createGenerateFrames()
    return [
      frames.start({ type: 'sequence-start', index: 0, promptTokens: 3, cachedTokens: 0, queueMs: 0 }),
      ...thoughts.map((text) => frames.delta({ type: 'reasoning-delta', index: 0, text })),
      frames.delta({ type: 'text-delta', index: 0, text: 'Yes', tokenIds: [1] }),
      frames.end({ type: 'sequence-end', index: 0, finishReason: 'stop', error: null }),
    ].join('')
  }

  expect(framesOf('Hm', ' well')).toBe(framesOf())
})
