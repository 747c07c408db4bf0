/**
 * The worker thread that converts: reading, converting and checking billions of numbers would hold up the event loop
 * of the server. Started by `convert-in-worker.ts` only; ends by itself when it is done.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { InvariantError, StartError } from '../core/errors.ts'
import { wholePercents } from '../core/whole-percents.ts'
import { convertCheckpoint } from './convert.ts'
import type { ConversionMessage, ConversionWork } from './convert-in-worker.ts'

const port = parentPort
if (port === null) throw new InvariantError('The conversion worker was not started as a worker thread')
const tell = (message: ConversionMessage) => port.postMessage(message)

const onProgress = wholePercents((fraction) => tell({ type: 'progress', fraction }))

try {
  await convertCheckpoint({ ...(workerData as ConversionWork), onProgress })
  tell({ type: 'end' })
} catch (error) {
  // Other errors end the thread with the `error` event, stack and all.
  if (!(error instanceof StartError)) throw error
  tell({ type: 'failed', message: error.message })
}
