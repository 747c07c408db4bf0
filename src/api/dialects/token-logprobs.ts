/** The log probability of a token, and of the likeliest in its place, as OpenAI's dialects show them. */
import { z } from 'zod'
import type { ChosenLogprob, TokenLogprob } from '../../protocol/engine-events.ts'

/** As many as OpenAI gives. */
export const MAX_TOP_LOGPROBS = 20

const tokenFields = {
  token: z.string().describe('Text of the token; a part of a character is replaced by U+FFFD.'),
  logprob: z.number().describe('Natural logarithm of its probability; -9999 is anything less than that.'),
  bytes: z.array(z.int()),
}

export const tokenLogprob = z
  .object({ ...tokenFields, top_logprobs: z.array(z.object(tokenFields)) })
  .meta({ id: 'TokenLogprob' })

export function toTokenLogprob({ top, ...chosen }: ChosenLogprob) {
  return { ...toToken(chosen), top_logprobs: top.map((token) => toToken(token)) }
}

function toToken({ bytes, logprob }: TokenLogprob) {
  return { token: Buffer.from(bytes).toString('utf8'), logprob, bytes }
}
