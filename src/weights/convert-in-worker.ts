/**
 * Runs `convertCheckpoint` in a worker thread. Same contract; the thread is gone when the promise settles.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { abortReason } from '../core/abort.ts'
import { InvariantError, StartError } from '../core/errors.ts'
import type { ConvertOptions } from './convert.ts'

/** What the thread is given. */
export type ConversionWork = Pick<ConvertOptions, 'source' | 'tensorType' | 'outputPath'>

/** What the thread says; `end` or `failed` comes last. */
export type ConversionMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'end' }
  | { readonly type: 'failed'; readonly message: string }

export async function convertInWorker(options: ConvertOptions): Promise<void> {
  const { source, tensorType, outputPath, onProgress, signal } = options
  signal?.throwIfAborted()
  const work: ConversionWork = { source, tensorType, outputPath }
  const worker = new Worker(new URL(workerFile(import.meta.url), import.meta.url), { workerData: work })
  let result: ConversionMessage | null = null
  worker.on('message', (message: ConversionMessage) => {
    if (message.type === 'progress') onProgress?.(message.fraction)
    else result = message
  })
  const stop = () => void worker.terminate()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    // Rejects with what the thread threw.
    await once(worker, 'exit')
  } finally {
    signal?.removeEventListener('abort', stop)
  }
  settle(result, signal)
}

/** The thread runs the same kind of file as this one: built JavaScript, or the source where Node strips types. */
function workerFile(ownUrl: string): string {
  return ownUrl.endsWith('.ts') ? './conversion-worker.ts' : './conversion-worker.js'
}

function settle(result: ConversionMessage | null, signal: AbortSignal | undefined): void {
  if (result?.type === 'end') return
  if (result?.type === 'failed') throw new StartError(result.message, 1)
  if (signal?.aborted === true) throw abortReason(signal)
  throw new InvariantError('The conversion thread ended without a result')
}
