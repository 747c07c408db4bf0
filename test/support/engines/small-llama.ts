/** The small Llama of `test/data` in 32-bit floats, in slots of 512 tokens, on one thread of this process: its texts are the same every time. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findCheckpointFiles } from '../../../src/checkpoints/checkpoint-files.ts'
import { convertCheckpoint } from '../../../src/checkpoints/conversion/convert.ts'
import type * as Runner from '../../../src/engines/llamacpp/open-runner.ts'
import type * as InProcess from '../../../src/engines/process/step-loop/in-process-engine.ts'
import type { ModelRunner } from '../../../src/protocol/model-runner.ts'

const CHECKPOINT = path.resolve(import.meta.dirname, '../../data/small-llama')

export interface SmallLlamaOptions {
  readonly maxBatchSize: number
  /** Whether built files run: constraints are matched in threads, which have no others. @default false */
  readonly isBuilt?: boolean
  /** @default the small Llama as it is */
  readonly checkpoint?: string
  /** @default 512 */
  readonly maxSeqLen?: number
  /** @default room for a whole sequence in each slot */
  readonly kvCacheTokens?: number
  /** Host memory for what leaves the slots. @default 0 */
  readonly prefixCacheBytes?: number
}

export interface SmallLlama {
  readonly modelPath: string
  readonly runner: ModelRunner
  readonly engine: InProcess.InProcessEngine
  close(): Promise<void>
}

/** Call in a `beforeAll`: it takes seconds. */
export async function openSmallLlama({
  maxBatchSize,
  isBuilt = false,
  checkpoint = CHECKPOINT,
  maxSeqLen = 512,
  kvCacheTokens,
  prefixCacheBytes = 0,
}: SmallLlamaOptions): Promise<SmallLlama> {
  const [base, extension] = isBuilt ? ['../../../dist', 'js'] : ['../../../src', 'ts']
  const { openLlamaRunner }: typeof Runner = await import(`${base}/engines/llamacpp/open-runner.${extension}`)
  const { InProcessEngine }: typeof InProcess = await import(
    `${base}/engines/process/step-loop/in-process-engine.${extension}`
  )
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'))
  const modelPath = path.join(folder, 'model.gguf')
  await convertToF32(checkpoint, modelPath)
  const sizes = {
    maxBatchSize,
    maxSeqLen,
    ...(kvCacheTokens && { kvCacheTokens }),
    prefixCacheBytes,
    threads: 1,
  }
  const device = { gpu: 'off', gpuLayers: null, kvCacheType: 'f32' } as const
  const runner = await openLlamaRunner({ modelId: 'small-llama', modelPath, ...sizes, ...device }, () => {})
  const engine = new InProcessEngine({ runner })
  const close = async () => {
    await engine.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { modelPath, runner, engine, close }
}

export async function convertToF32(checkpoint: string, outputPath: string): Promise<void> {
  const source = await findCheckpointFiles({ checkpoint, modelConfig: null, tokenizer: null })
  if (source.kind !== 'hugging-face') throw new Error(`${checkpoint} is a safetensors checkpoint`)
  await convertCheckpoint({ source, tensorType: 'f32', outputPath })
}
