/** Log probabilities of an answer's tokens, as `/v1/responses` shows them. */
import { z } from 'zod'
import type { ChosenLogprob } from '../../../protocol/engine.ts'

const oneLogprob = z.object({ token: z.string(), bytes: z.array(z.int()), logprob: z.number() })

export const tokenLogprob = oneLogprob
  .extend({ top_logprobs: z.array(oneLogprob) })
  .meta({ id: 'ResponseLogprob' })

export function toTokenLogprob({ top, ...chosen }: ChosenLogprob) {
  return { ...toOneLogprob(chosen), top_logprobs: top.map(toOneLogprob) }
}

/** A part of a character is shown as U+FFFD: `bytes` has what it is. */
function toOneLogprob({ bytes, logprob }: Pick<ChosenLogprob, 'bytes' | 'logprob'>) {
  return { token: Buffer.from(bytes).toString('utf8'), bytes, logprob }
}
