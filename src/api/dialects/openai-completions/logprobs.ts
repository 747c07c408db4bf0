/** Log probabilities in the shape of OpenAI's legacy completions: four lists, one item for each token. */
import type { ChosenLogprob } from '../../../protocol/engine-events.ts'
import type { AnswerOf } from '../frames.ts'
import type { completionLogprobs } from './schema.ts'

type Logprobs = AnswerOf<typeof completionLogprobs>
type Bytes = ChosenLogprob['bytes']

/** One answer's, whole or in the chunks of a stream: each says where its tokens begin in the text so far. */
export class LogprobLists {
  readonly #hasTop: boolean
  /** Characters in front of the next token. */
  #offset: number

  /** @param echoed what the text begins with */
  constructor({ hasTop, echoed }: { readonly hasTop: boolean; readonly echoed: string }) {
    this.#hasTop = hasTop
    this.#offset = charactersOf(Buffer.from(echoed))
  }

  add(tokens: readonly ChosenLogprob[]): Logprobs {
    return {
      tokens: tokens.map(({ bytes }) => toTokenText(bytes)),
      token_logprobs: tokens.map(({ logprob }) => logprob),
      top_logprobs: this.#hasTop ? tokens.map(toTopLogprobs) : null,
      text_offset: tokens.map(({ bytes }) => {
        const offset = this.#offset
        this.#offset += charactersOf(bytes)
        return offset
      }),
    }
  }
}

/** Tokens of the same text share one entry, the likeliest one's. */
function toTopLogprobs({ bytes, logprob, top }: ChosenLogprob): Record<string, number> {
  const byText = new Map<string, number>()
  for (const one of [...top, { bytes, logprob }]) {
    const text = toTokenText(one.bytes)
    byText.set(text, Math.max(one.logprob, byText.get(text) ?? one.logprob))
  }
  return Object.fromEntries(byText)
}

function toTokenText(bytes: Bytes): string {
  const text = Buffer.from(bytes).toString('utf8')
  if (!text.includes('\u{FFFD}')) return text
  return `bytes:${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}`
}

/** That begin in these bytes: all but UTF-8's continuation bytes do. */
function charactersOf(bytes: Iterable<number>): number {
  let count = 0
  for (const byte of bytes) if ((byte & 0xc0) !== 0x80) count++
  return count
}
