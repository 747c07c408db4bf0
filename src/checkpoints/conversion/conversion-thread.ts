/**
 * Plans and carries out conversions in a worker thread: a vocabulary of 256,000 tokens takes seconds of computing, and
 * converting takes minutes. Same contracts as the functions named; the thread is gone when the promise settles.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { abortReason } from '../../core/abort.ts'
import { InvariantError, StartError } from '../../core/errors.ts'
import type { planConversion, PlannedFile, TensorType } from './conversion-plan.ts'
import type { ConvertOptions } from './convert.ts'
import type { HfFiles } from '../checkpoint-files.ts'

/** What the thread is given. */
export type ConversionWork =
  | ({ readonly type: 'convert' } & Pick<ConvertOptions, 'source' | 'tensorType' | 'outputPath'>)
  | { readonly type: 'plan'; readonly source: HfFiles; readonly tensorType: TensorType }

/** What the thread says; one of the others than `progress` comes last. */
export type ConversionMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'planned'; readonly file: PlannedFile }
  | { readonly type: 'converted' }
  | { readonly type: 'failed'; readonly message: string }

/** As `convertCheckpoint`. */
export async function convertInWorker(options: ConvertOptions): Promise<void> {
  const { source, tensorType, outputPath, onProgress, signal } = options
  const result = await runThread({ type: 'convert', source, tensorType, outputPath }, { onProgress, signal })
  if (result.type !== 'converted') throw new InvariantError('The conversion thread ended without a result')
}

/** As `planConversion`, but for what is only of use to whoever converts. */
export async function planInWorker(
  ...[source, tensorType, signal]: [...Parameters<typeof planConversion>, AbortSignal?]
): Promise<PlannedFile> {
  const result = await runThread({ type: 'plan', source, tensorType }, { signal })
  if (result.type !== 'planned') throw new InvariantError('The conversion thread ended without a plan')
  return result.file
}

interface ThreadHooks {
  readonly onProgress?: ((fraction: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

type Result = Exclude<ConversionMessage, { type: 'progress' | 'failed' }>

async function runThread(work: ConversionWork, { onProgress, signal }: ThreadHooks): Promise<Result> {
  signal?.throwIfAborted()
  const worker = new Worker(new URL(workerFile(import.meta.url), import.meta.url), { workerData: work })
  let last: ConversionMessage | null = null
  worker.on('message', (message: ConversionMessage) => {
    if (message.type === 'progress') onProgress?.(message.fraction)
    else last = message
  })
  const stop = () => void worker.terminate()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    // Rejects with what the thread threw.
    await once(worker, 'exit')
  } finally {
    signal?.removeEventListener('abort', stop)
  }
  return settle(last, signal)
}

/** The thread runs the same kind of file as this one: built JavaScript, or the source where Node strips types. */
function workerFile(ownUrl: string): string {
  return ownUrl.endsWith('.ts') ? './conversion-worker.ts' : './conversion-worker.js'
}

function settle(last: Result | { type: 'failed'; message: string } | null, signal?: AbortSignal): Result {
  if (last?.type === 'failed') throw new StartError(last.message, 1)
  if (last !== null) return last
  if (signal?.aborted === true) throw abortReason(signal)
  throw new InvariantError('The conversion thread ended without a result')
}
