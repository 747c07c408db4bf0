import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { engineRequest } from '../../../test/support/engine-requests.ts'
import { encodeFrame, FrameReader, type ClientMessage } from './messages.ts'

describe('frames', () => {
  it('arrive as they were sent, however the bytes are cut', () => {
    const message = fc.oneof(
      fc.record({ type: fc.constant('abort' as const), id: fc.nat() }),
      fc
        .tuple(fc.nat(), fc.string({ unit: 'grapheme', maxLength: 300 }))
        .map(([id, text]) => ({ type: 'generate' as const, id, request: engineRequest(text) })),
    )
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 90 })),
        (sent, sizes) => {
          const bytes = Buffer.concat(sent.map(encodeFrame))
          const reader = new FrameReader<ClientMessage>()
          const received: ClientMessage[] = []
          let offset = 0
          for (const size of [...sizes, bytes.length]) {
            received.push(...reader.push(bytes.subarray(offset, offset + size)))
            offset = Math.min(bytes.length, offset + size)
          }
          expect(received).toEqual(sent)
        },
      ),
    )
  })

  it('of an impossible size are refused before they are awaited', () => {
    const reader = new FrameReader<ClientMessage>()
    expect(reader.push(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x7b]))).toEqual([])
    expect(reader.isBroken).toBe(true)
  })
})
