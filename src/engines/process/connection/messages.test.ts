import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { engineRequest } from '../../../../test/support/engines/engine-requests.ts'
import { unpackPrompt } from '../../tokenizing/packed-prompt.ts'
import {
  encodeFrame,
  FrameReader,
  toLoopRequest,
  toLoopText,
  toTokenIds,
  toTokenizedText,
  toTokensResult,
  type ClientMessage,
  type ReceivedMessage,
} from './messages.ts'

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

  it('of long requests bring their text as bytes, however they are cut', () => {
    const piece = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.repeat(300))
    const prompts = fc.array(fc.array(piece, { maxLength: 4 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(prompts, fc.array(fc.integer({ min: 1, max: 4000 })), (texts, sizes) => {
        const request = {
          ...engineRequest('x'),
          prompts: [...texts, ['long '.repeat(2000)]].map((pieces) => ({
            pieces,
            addSpecial: pieces.length > 1,
          })),
        }
        const abort = { type: 'abort' as const, id: 1 }
        const bytes = Buffer.concat([encodeFrame({ type: 'generate', id: 7, request }), encodeFrame(abort)])
        const reader = new FrameReader<ReceivedMessage>()
        const received: ReceivedMessage[] = []
        let offset = 0
        for (const size of [...sizes, bytes.length]) {
          received.push(...reader.push(bytes.subarray(offset, offset + size)))
          offset = Math.min(bytes.length, offset + size)
        }
        const [first, second] = received
        if (first?.type !== 'generate-long') throw new Error('a long request was expected')
        const read = toLoopRequest(first)
        expect({
          ...read,
          prompts: read.prompts.map((prompt) => ('tokenIds' in prompt ? prompt : unpackPrompt(prompt))),
        }).toEqual(request)
        expect([first.id, second]).toEqual([7, abort])
      }),
      { numRuns: 30 },
    )
  })

  it('of prompts of tokens bring them as bytes, beside texts', () => {
    const tokenIds = fc.array(fc.nat(2 ** 31 - 1), { minLength: 1, maxLength: 50 })
    const prompt = fc.oneof(
      tokenIds.map((ids) => ({ tokenIds: ids })),
      fc.string({ unit: 'grapheme' }).map((text) => ({ pieces: [text], addSpecial: true })),
    )
    fc.assert(
      fc.property(fc.array(prompt, { maxLength: 4 }), tokenIds, (others, last) => {
        const prompts = [...others, { tokenIds: last }]
        const request = { ...engineRequest('x'), prompts }
        const [message] = new FrameReader<ReceivedMessage>().push(
          encodeFrame({ type: 'generate', id: 7, request }),
        )
        if (message?.type !== 'generate-long') throw new Error('a request with bytes was expected')
        const read = toLoopRequest(message).prompts.map((one) =>
          'tokenIds' in one ? { tokenIds: [...Int32Array.from(one.tokenIds)] } : unpackPrompt(one),
        )
        expect(read).toEqual(prompts)
      }),
    )
  })

  it('of texts and tokens without a generation arrive as they were sent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.nat(2 ** 31 - 1)), (text, tokenIds) => {
        const prompt = { pieces: [text, text], addSpecial: false }
        const request = { prompt, accountId: 'a', wantsTexts: true }
        const sent = [
          encodeFrame({ type: 'tokenize', id: 1, request }),
          encodeFrame({ type: 'detokenize', id: 2, tokenIds }),
        ]
        const [first, second] = new FrameReader<ReceivedMessage>().push(Buffer.concat(sent))
        if (first?.type !== 'tokenize-long' || second?.type !== 'detokenize-long')
          throw new Error('other frames')
        const read = toLoopText(first)
        expect({ ...read, prompt: unpackPrompt(read.prompt) }).toEqual(request)
        expect([...toTokenIds(second.text)]).toEqual(tokenIds)
        const tokens = { tokenIds: Int32Array.from(tokenIds), texts: null }
        expect(toTokenizedText(toTokensResult(tokens))).toEqual(tokens)
      }),
    )
  })

  it('of an impossible size are refused before they are awaited', () => {
    const reader = new FrameReader<ClientMessage>()
    expect(reader.push(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x7b]))).toEqual([])
    expect(reader.isBroken).toBe(true)
  })

  it('that are no message end the reading, after those that came before them', () => {
    const good: ClientMessage = { type: 'abort', id: 1 }
    for (const body of ['{"type":"ab', 'null', '7', '']) {
      const broken = Buffer.concat([Buffer.alloc(4), Buffer.from(body)])
      broken.writeUInt32LE(body.length)
      const reader = new FrameReader<ClientMessage>()
      expect(reader.push(Buffer.concat([encodeFrame(good), broken, encodeFrame(good)]))).toEqual([good])
      expect(reader.isBroken).toBe(true)
      expect(reader.push(encodeFrame(good))).toEqual([])
    }
  })

  it('of any bytes throw nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
        const reader = new FrameReader<ClientMessage>()
        for (const chunk of chunks) reader.push(Buffer.from(chunk))
      }),
    )
  })
})
