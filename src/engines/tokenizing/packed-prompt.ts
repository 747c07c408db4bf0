/** A long prompt as text or as the bytes in which it crosses a socket or a thread's border. */
import type { TextPrompt, TokenPrompt } from '../../protocol/engine.ts'
import type { LongPrompt, PackedPrompt } from '../../protocol/model-runner.ts'

export function isTokenPrompt(prompt: LongPrompt | TokenPrompt): prompt is TokenPrompt {
  return 'tokenIds' in prompt
}

/** Of its text in UTF-8. */
export function textBytes(prompt: LongPrompt): number {
  if ('text' in prompt) return prompt.text.length
  return prompt.pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
}

/** With bytes of its own, which may be transferred. */
export function packPrompt(prompt: LongPrompt): PackedPrompt {
  if ('text' in prompt) return { ...prompt, text: new Uint8Array(prompt.text) }
  const { pieces, addSpecial } = prompt
  const pieceBytes = pieces.map((piece) => Buffer.byteLength(piece))
  const text = Buffer.alloc(pieceBytes.reduce((sum, bytes) => sum + bytes, 0))
  let offset = 0
  for (const piece of pieces) offset += text.write(piece, offset)
  return { text: new Uint8Array(text.buffer, text.byteOffset, text.length), pieceBytes, addSpecial }
}

export function unpackPrompt(prompt: LongPrompt): TextPrompt {
  if (!('text' in prompt)) return prompt
  const { text, pieceBytes, addSpecial } = prompt
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length)
  let offset = 0
  const pieces = pieceBytes.map((length) => {
    offset += length
    return bytes.toString('utf8', offset - length, offset)
  })
  return { pieces, addSpecial }
}
