/**
 * Plans and carries out conversions in a worker thread, because planning a vocabulary of 256,000 tokens takes seconds of
 * computing and converting takes minutes, that of an adapter seconds. A small checkpoint is planned in this thread: it takes less than to start another.
 * The thread has ended when the promise settles.
 */
import { stat } from 'node:fs/promises'
import { withAbort } from '../../core/concurrency/abort.ts'
import { WorkerCalls } from '../../core/concurrency/worker-calls.ts'
import { workerEntry } from '../../core/concurrency/worker-channel.ts'
import { InvariantError } from '../../core/errors.ts'
import { errorCode } from '../../core/system-error.ts'
import type { BaseModel } from '../adapters/adapter-model.ts'
import type { AdapterConversion } from '../adapters/convert-adapter.ts'
import type { HfFiles } from '../checkpoint-files.ts'
import { badFile } from '../files/file-errors.ts'
import { headerLength } from '../safetensors/safetensors-file.ts'
import type { LeftOutTensors, PlannedFile, TensorType } from './conversion-plan.ts'
import type { ConvertOptions } from './convert.ts'

/** Server → thread, as its `workerData`. */
export type ConversionWork =
  | ({ readonly type: 'convert' } & Pick<ConvertOptions, 'source' | 'tensorType' | 'outputPath'>)
  | { readonly type: 'plan'; readonly source: HfFiles; readonly tensorType: TensorType }
  | ({ readonly type: 'convert-adapter' } & AdapterConversion)

export type ConversionAnswer =
  | { readonly type: 'adapter-converted' }
  | { readonly type: 'converted'; readonly leftOut: LeftOutTensors | null }
  | { readonly type: 'planned'; readonly file: PlannedFile }

/** Bytes of text up to which a plan takes less than to start another thread: some 12,000 tokens. */
const SMALL_BYTES = 256 * 1024

/** As `convertCheckpoint`. */
export async function convertInWorker(options: ConvertOptions): Promise<void> {
  const { source, tensorType, outputPath, onProgress, onLeftOut, signal } = options
  const answer = await runThread({ type: 'convert', source, tensorType, outputPath }, { onProgress, signal })
  if (answer.type === 'converted' && answer.leftOut !== null) onLeftOut?.(answer.leftOut)
}

/** As `convertAdapter`. */
export async function convertAdapterInWorker(
  { files, base, outputPath }: AdapterConversion,
  signal?: AbortSignal,
): Promise<void> {
  await runThread({ type: 'convert-adapter', files, base: forConversion(base), outputPath }, { signal })
}

/** Without the vocabulary, which would be copied for the thread in this one. */
function forConversion({ modelId, architecture, metadata, tensors }: BaseModel): BaseModel {
  const values = [...metadata].filter(([, { type }]) => type !== 'array')
  return { modelId, architecture, metadata: new Map(values), tensors }
}

/** As `planConversion`, without what only a conversion needs. */
export async function planAside(
  source: HfFiles,
  tensorType: TensorType,
  signal?: AbortSignal,
): Promise<PlannedFile> {
  const untilAborted = <Value>(work: Promise<Value>) =>
    signal === undefined ? work : withAbort(work, signal)
  if (await untilAborted(isSmall(source))) return await untilAborted(planHere(source, tensorType))
  return await planInThread(source, tensorType, signal)
}

/** Whether little is read of all files but the weights, and of their header. Those in several files are of no small model. */
export async function isSmall(source: HfFiles): Promise<boolean> {
  const { kind: _, weightsPath, ...others } = source
  if (weightsPath.endsWith('.json')) return false
  const sizes = await Promise.all(Object.values(others).map(sizeOf))
  return sizes.reduce((sum, size) => sum + size, await headerLength(weightsPath)) <= SMALL_BYTES
}

/** 0 where there is none: most of them need not exist. */
async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0
}

async function planHere(source: HfFiles, tensorType: TensorType): Promise<PlannedFile> {
  const { planConversion, plannedFile } = await import('./conversion-plan.ts')
  return plannedFile(await planConversion(source, tensorType))
}

async function planInThread(
  source: HfFiles,
  tensorType: TensorType,
  signal?: AbortSignal,
): Promise<PlannedFile> {
  const answer = await runThread({ type: 'plan', source, tensorType }, { signal })
  if (answer.type !== 'planned') throw new InvariantError('The conversion thread ended without a plan')
  return answer.file
}

async function runThread(
  work: ConversionWork,
  { onProgress, signal }: Pick<ConvertOptions, 'onProgress' | 'signal'>,
): Promise<ConversionAnswer> {
  signal?.throwIfAborted()
  const thread = new WorkerCalls<ConversionWork, ConversionAnswer>({
    entry: workerEntry(import.meta.url, 'conversion-worker'),
    name: 'The conversion thread',
  })
  const stop = () => void thread.close()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    return await thread.call(work, { onProgress })
  } catch (error) {
    signal?.throwIfAborted()
    throw isOutOfMemory(error)
      ? badFile(weightsPathOf(work), 'or a file beside it takes too much memory to be read')
      : error
  } finally {
    signal?.removeEventListener('abort', stop)
    await thread.close()
  }
}

function weightsPathOf(work: ConversionWork): string {
  return work.type === 'convert-adapter' ? work.files.weightsPath : work.source.weightsPath
}

/** Node ends a thread whose heap is full, and nothing else. */
function isOutOfMemory(thrown: unknown): boolean {
  return thrown instanceof Error && errorCode(thrown.cause) === 'ERR_WORKER_OUT_OF_MEMORY'
}
