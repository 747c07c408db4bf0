/** A folder of its own for each test, and conversions of the tiny checkpoint in it. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { convertCheckpoint } from '../../../src/checkpoints/conversion/convert.ts'
import { outlineCheckpoint } from '../../../src/checkpoints/checkpoint-outline.ts'
import { plannedFile, planConversion } from '../../../src/checkpoints/conversion/conversion-plan.ts'
import { resolveModelFile, type ResolveOptions } from '../../../src/checkpoints/model-file.ts'
import { type CheckpointFiles, writeCheckpoint } from './tiny-checkpoint.ts'

/** Call at the top of a test file. */
export function useConversions() {
  let folder = ''
  let converted = 0
  beforeEach(async () => {
    converted = 0
    folder = await mkdtemp(join(tmpdir(), 'sluice-weights-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  const optionsFor = (checkpoint: string, changes: Partial<ResolveOptions> = {}): ResolveOptions => ({
    checkpoint,
    modelConfig: null,
    tokenizer: null,
    dataDir: join(folder, 'data'),
    // In this thread: the worker runs built code.
    convert: async (work) => {
      await convertCheckpoint(work)
      converted++
    },
    ...changes,
  })
  return {
    /** The test's folder. */
    folder: () => folder,
    optionsFor,
    resolve: (checkpoint: string, changes: Partial<ResolveOptions> = {}) =>
      resolveModelFile(optionsFor(checkpoint, changes)),
    /** Conversions that were made, and not found in the cache. */
    converted: () => converted,
    /** Checks a checkpoint by its headers, in this thread. */
    check: (checkpoint: string, changes: Partial<ResolveOptions> = {}) =>
      outlineCheckpoint(optionsFor(checkpoint, changes), {
        maxSeqLen: null,
        plan: async (files, type) => plannedFile(await planConversion(files, type)),
      }),
    /** Writes a checkpoint and resolves with its folder. */
    write: (files: CheckpointFiles = {}) => writeCheckpoint(folder, files),
    /** Names in the cache, its index left out; none before there is a cache. */
    modelFiles: async () => {
      const names = await readdir(join(folder, 'data', 'models')).catch((): string[] => [])
      return names.filter((name) => !name.endsWith('.json'))
    },
  }
}
