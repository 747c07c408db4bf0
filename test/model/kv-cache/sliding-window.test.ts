/**
 * Models whose layers see a window only: a text continues the same from a prefix that is kept, or copied from another
 * slot or from host memory, as when it is computed whole, also when the prefix is longer than the window.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openLlamaRunner } from '../../../src/engines/llamacpp/open-runner.ts'
import type { SlotStart } from '../../../src/protocol/model-runner.ts'
import { GREEDY } from '../../../src/scheduler/sequence.ts'
import { convertCheckpoint } from '../../../src/checkpoints/conversion/convert.ts'
import { findCheckpointFiles } from '../../../src/checkpoints/checkpoint-files.ts'
import {
  type LogitsCase,
  readReference,
  type TokenizerCase,
  writeReference,
} from '../../support/checkpoints/reference-checkpoints.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-window-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it.each(['gemma2', 'gemma3'])(
  '%s continues from a kept, from a copied and from a restored prefix',
  async (family) => {
    const references = await readReference<LogitsCase>('logits')
    const reference = references.find(({ name }) => name === `${family}, window shorter than the prompt`)
    const [tokenizer] = (await readReference<TokenizerCase>('tokenizers')).filter(
      ({ name }) => name === 'gemma',
    )
    if (reference === undefined || tokenizer === undefined) throw new Error(`no reference of ${family}`)
    const checkpoint = await writeReference(join(folder, family), { reference, tokenizer })
    const source = await findCheckpointFiles({ checkpoint, modelConfig: null, tokenizer: null })
    if (source.kind !== 'hugging-face') throw new Error('not a checkpoint')
    const modelPath = join(checkpoint, 'model.gguf')
    await convertCheckpoint({ source, tensorType: 'f32', outputPath: modelPath })
    const runner = await openLlamaRunner(
      {
        ...{ modelId: 'tiny', modelPath, maxBatchSize: 2, maxSeqLen: 512, threads: 1 },
        ...{ gpu: 'off', gpuLayers: null, kvCacheType: 'f32', prefixCacheBytes: 1e9 },
      },
      () => {},
    )
    expect(runner.canReusePrefixes && runner.canCopySlots).toBe(true)
    const promptTokenIds = Int32Array.from(reference.prompt)
    const compute = (slotId: number, tokenIds: Int32Array, start: Partial<SlotStart>) => {
      const of = { slotId, promptTokenIds: tokenIds, sampling: GREEDY, cachedTokens: 0, copyFromSlotId: null }
      const { cachedTokens: position = 0 } = start
      const runs = [{ slotId, position, tokenIds: tokenIds.subarray(position), wantsToken: true }]
      return runner.execute({ starts: [{ ...of, ...start }], runs })
    }
    const next = (slotId: number, start: Partial<SlotStart>) =>
      compute(slotId, promptTokenIds, start).tokenIds[0]
    expect(next(0, {})).toBe(reference.greedy[0])
    expect(next(0, { cachedTokens: 30 })).toBe(reference.greedy[0])
    expect(next(1, { cachedTokens: 25, copyFromSlotId: 0 })).toBe(reference.greedy[0])
    expect(next(0, { cachedTokens: 10 })).toBe(reference.greedy[0])
    // The copy lacks what the window has left behind, and is used whole.
    const tokens = promptTokenIds.length - 1
    const save = { entryId: 0, tokens }
    const { saved = [] } = compute(0, promptTokenIds.toReversed(), {
      host: { drop: [], save, restore: null },
    })
    expect(runner.hostRoom?.windowTokens).toBeLessThan(tokens)
    expect(saved[0]?.bytes).toBeLessThan(runner.hostRoom?.copyBytes(tokens) ?? 0)
    const restore = { entryId: 0, isForgotten: true }
    expect(next(0, { cachedTokens: tokens, host: { drop: [], save: null, restore } })).toBe(
      reference.greedy[0],
    )
    runner.close()
  },
)
