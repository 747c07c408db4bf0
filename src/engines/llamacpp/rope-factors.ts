/**
 * Which of two sets of rotary factors a model is computed with: the short ones, unless a text may grow longer than the
 * context of its first training. llama.cpp goes by the tokens of a KV cache, which are those of many texts where slots or
 * beams share one, so that the same text would be computed in two ways.
 */
import { servedSeqLen } from '../../checkpoints/memory/kv-room.ts'
import type { MetadataOverride, RunnerOptions } from '../../protocol/runner-options.ts'

/** Of the set for long texts. */
export const LONG_FACTORS = 'rope_factors_long.weight'

/** What the file of a model with two sets says. */
export interface RopeContexts {
  /** By key; null where the file lacks it. */
  readonly original: readonly [key: string, tokens: number | null]
  readonly trained: readonly [key: string, tokens: number | null]
}

export function ropeContextKeys(architecture: string) {
  return {
    original: `${architecture}.rope.scaling.original_context_length`,
    trained: `${architecture}.context_length`,
  }
}

/** More tokens than any cache has. */
const ENDLESS = 2 ** 31 - 1

type ServedLength = Pick<RunnerOptions, 'maxSeqLen' | 'kvCacheTokens' | 'metadataOverrides'>

/** Nothing where the long factors hold, which llama.cpp then takes for every cache. */
export function shortFactorOverrides(contexts: RopeContexts, options: ServedLength): MetadataOverride[] {
  const tokensOf = ([key, tokens]: RopeContexts['original']): number | null => {
    const override = options.metadataOverrides?.find((one) => one.key === key)
    return override === undefined ? tokens : Number(override.value)
  }
  const trained = tokensOf(contexts.trained)
  // As llama.cpp does where the file does not say it.
  const original = tokensOf(contexts.original) ?? trained
  if (original === null || servedSeqLen(options, trained) > original) return []
  return [{ key: contexts.original[0], type: 'int', value: ENDLESS }]
}
