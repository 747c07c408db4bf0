/**
 * Log probabilities as OpenAI's chat completions have them (`logprobs`, `top_logprobs`; `choices[].logprobs.content`): the
 * request's fields and the answer's, plain and in chunks.
 */
import { z } from 'zod'
import type { ChosenLogprob } from '../../../protocol/engine-events.ts'
import { boolean, integer, nullableWithDefault } from '../../schemas/fields.ts'
import { MAX_TOP_LOGPROBS, tokenLogprob, toTokenLogprob } from '../token-logprobs.ts'

export const logprobFields = () => ({
  logprobs: nullableWithDefault(
    boolean().describe('Whether each token of the answer comes with its log probability.'),
    false,
  ),
  top_logprobs: nullableWithDefault(
    integer(0, MAX_TOP_LOGPROBS).describe(
      'Likeliest tokens whose log probabilities come with each token; above 0 with `logprobs` only.',
    ),
    0,
  ),
})

interface LogprobBody {
  readonly logprobs: boolean
  readonly top_logprobs: number
}

/** For `superRefine`. vLLM passes the 0 that asks for nothing too. */
export function checkLogprobs(body: LogprobBody, context: z.RefinementCtx): void {
  if (body.logprobs || body.top_logprobs === 0) return
  context.addIssue({
    code: 'custom',
    path: ['top_logprobs'],
    message: `must be 0 where logprobs is not true, but was ${body.top_logprobs}`,
  })
}

export function toTopLogprobs(body: LogprobBody): { readonly topLogprobs?: number } {
  return body.logprobs ? { topLogprobs: body.top_logprobs } : {}
}

export const choiceLogprobs = z
  .object({ content: z.array(tokenLogprob), refusal: z.null() })
  .meta({ id: 'ChoiceLogprobs' })

export function toChoiceLogprobs(logprobs: readonly ChosenLogprob[]) {
  return { content: logprobs.map((token) => toTokenLogprob(token)), refusal: null }
}
