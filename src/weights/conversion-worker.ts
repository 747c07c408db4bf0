/**
 * The worker thread that converts: reading, converting and checking billions of numbers would hold up the event loop
 * of the server. Started by `convert-in-worker.ts` only; ends by itself when it is done.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { InvariantError, StartError } from '../core/errors.ts'
import { convertCheckpoint } from './convert.ts'
import type { ConversionMessage, ConversionWork } from './convert-in-worker.ts'

/** Messages are for a person to watch; more of them cost time and show nothing. */
const PROGRESS_STEP = 0.01

const port = parentPort
if (port === null) throw new InvariantError('The conversion worker was not started as a worker thread')
const tell = (message: ConversionMessage) => port.postMessage(message)

let told = 0
const onProgress = (fraction: number) => {
  if (fraction - told < PROGRESS_STEP) return
  told = fraction
  tell({ type: 'progress', fraction })
}

try {
  await convertCheckpoint({ ...(workerData as ConversionWork), onProgress })
  tell({ type: 'end' })
} catch (error) {
  // Other errors end the thread with the `error` event, stack and all.
  if (!(error instanceof StartError)) throw error
  tell({ type: 'failed', message: error.message })
}
