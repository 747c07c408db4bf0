/** How much memory a KV cache takes, and which models can keep theirs in 8 bits. Arithmetic only: no library is loaded. */
import { StartError } from '../../core/errors.ts'
import type { RunnerOptions } from '../../protocol/runner-options.ts'

type KvCacheType = RunnerOptions['kvCacheType']

/** llama.cpp gives each sequence a multiple of this many tokens. */
const SEQUENCE_TOKENS_UNIT = 256
/** Numbers that Q8_0 packs together, with one scale. */
const BLOCK_ELEMENTS = 32
const BLOCK_BYTES: Readonly<Record<KvCacheType, number>> = { f16: 64, q8_0: 34, f32: 128 }
/** The one architecture for which llama.cpp switches flash attention off. */
const WITHOUT_FLASH_ATTENTION = 'grok'

/** Tokens of KV cache that a slot really gets. */
export function slotTokens(maxSeqLen: number): number {
  return Math.ceil(maxSeqLen / SEQUENCE_TOKENS_UNIT) * SEQUENCE_TOKENS_UNIT
}

/** What a KV cache of that many elements takes. */
export function kvCacheBytes(elements: number, kvCacheType: KvCacheType): number {
  return (elements * BLOCK_BYTES[kvCacheType]) / BLOCK_ELEMENTS
}

interface KvShape {
  readonly architecture: string
  readonly kvHeadSizes: readonly number[]
}

/**
 * Q8_0 needs heads of whole blocks, and flash attention to read its values.
 * @throws StartError when the model has one of them not.
 */
export function checkKvCacheType(
  { architecture, kvHeadSizes }: KvShape,
  { modelId, kvCacheType }: Pick<RunnerOptions, 'modelId' | 'kvCacheType'>,
): void {
  if (kvCacheType !== 'q8_0') return
  const refuse = (reason: string): never => {
    throw new StartError(`kv_cache_type must be f16 for '${modelId}': q8_0 ${reason}.`, 1)
  }
  const oddSize = kvHeadSizes.find((size) => size % BLOCK_ELEMENTS !== 0)
  if (oddSize !== undefined)
    refuse(`needs attention heads of a multiple of ${BLOCK_ELEMENTS} numbers, but they have ${oddSize}`)
  if (architecture === WITHOUT_FLASH_ATTENTION)
    refuse(`needs flash attention, which '${architecture}' does not have`)
}
