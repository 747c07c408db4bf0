/**
 * Models whose layers see a window only: a text continues the same from a prefix that is kept, or copied from another
 * slot or from host memory, as when it is computed whole, also when the prefix is longer than the window.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openLlamaRunner } from '../../../src/engines/llamacpp/runner.ts'
import type { HostMoves } from '../../../src/protocol/model-runner.ts'
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
    const next = (slotId: number, cachedTokens: number, copyFromSlotId: number | null, host?: HostMoves) =>
      runner.execute({
        starts: [
          { slotId, promptTokenIds, sampling: GREEDY, cachedTokens, copyFromSlotId, ...(host && { host }) },
        ],
        runs: [
          {
            slotId,
            position: cachedTokens,
            tokenIds: promptTokenIds.subarray(cachedTokens),
            wantsToken: true,
          },
        ],
      }).tokenIds[0]
    expect(next(0, 0, null)).toBe(reference.greedy[0])
    expect(next(0, 30, null)).toBe(reference.greedy[0])
    expect(next(1, 25, 0)).toBe(reference.greedy[0])
    expect(next(0, 10, null)).toBe(reference.greedy[0])
    // The window has left most of it behind, which the copy lacks: it is used whole.
    const whole = promptTokenIds.length - 1
    expect(runner.hostRoom?.windowTokens).toBeLessThan(whole)
    expect(next(1, 0, null)).toBe(reference.greedy[0])
    next(1, 0, null, { drop: [], save: { entryId: 0, tokens: whole }, restore: null })
    const other = {
      starts: [
        {
          slotId: 0,
          promptTokenIds: promptTokenIds.toReversed(),
          sampling: GREEDY,
          cachedTokens: 0,
          copyFromSlotId: null,
        },
      ],
      runs: [{ slotId: 0, position: 0, tokenIds: promptTokenIds.toReversed(), wantsToken: true }],
    }
    runner.execute(other)
    const restore = { entryId: 0, isForgotten: true }
    expect(next(0, whole, null, { drop: [], save: null, restore })).toBe(reference.greedy[0])
    runner.close()
  },
)
