/**
 * Where an answer may end, beside stop strings and its length: fields that all routes that generate share (**ext**, named
 * as in vLLM), and what they ask of an engine.
 */
import type { EndRules } from '../../protocol/engine.ts'
import { arrayOf, boolean, integer, integerFrom, nullableWithDefault } from './fields.ts'

const MAX_STOP_TOKENS = 64

const minTokens = () =>
  integerFrom(0).describe(
    'Tokens before which no end token, stop token or stop text ends the answer; at most as many as are asked for.',
  )

const ignoreEos = () =>
  boolean().describe("True goes on behind the model's own end tokens, up to the length asked for.")

const stopTokenIds = () =>
  arrayOf(integer(0, 2 ** 31 - 1), { min: 0, max: MAX_STOP_TOKENS, of: 'token ids' }).describe(
    'Tokens that end the answer, as the end tokens of the model do; the text of such a token is not returned.',
  )

export const endFields = () => ({
  min_tokens: nullableWithDefault(minTokens(), 0),
  ignore_eos: nullableWithDefault(ignoreEos(), false),
  stop_token_ids: nullableWithDefault(stopTokenIds(), []),
})

interface EndBody {
  readonly min_tokens: number
  readonly ignore_eos: boolean
  readonly stop_token_ids: readonly number[]
}

/** Nothing where the defaults hold: it needs no bytes on its way to the engine. */
export function toEndRules(body: EndBody): { readonly endRules?: EndRules } {
  const { min_tokens: minTokens, ignore_eos: ignoresEndTokens, stop_token_ids: stopTokenIds } = body
  if (minTokens === 0 && !ignoresEndTokens && stopTokenIds.length === 0) return {}
  return { endRules: { minTokens, ignoresEndTokens, stopTokenIds } }
}
