/** Which models can keep their KV cache in 8 bits. Arithmetic only: no library is loaded. */
import { BLOCK_ELEMENTS } from '../../checkpoints/memory/memory-need.ts'
import { StartError } from '../../core/errors.ts'
import type { RunnerOptions } from '../../protocol/runner-options.ts'
import type { Model } from './model.ts'

/** The one architecture for which llama.cpp switches flash attention off. */
const WITHOUT_FLASH_ATTENTION = 'grok'

/**
 * Q8_0 needs heads of whole blocks, and flash attention to read its values.
 * @throws StartError when the model lacks one of them.
 */
export function checkKvCacheType(
  { architecture, kvHeadSizes }: Pick<Model, 'architecture' | 'kvHeadSizes'>,
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
