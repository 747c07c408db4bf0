/**
 * The worker thread that plans and converts: reading, converting and checking billions of numbers would hold up the
 * event loop of the server. Started by `conversion-thread.ts` only; ends by itself when it is done.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { InvariantError, StartError } from '../../core/errors.ts'
import { wholePercents } from '../../core/whole-percents.ts'
import { planConversion, plannedFile } from './conversion-plan.ts'
import type { ConversionMessage, ConversionWork } from './conversion-thread.ts'
import { convertCheckpoint } from './convert.ts'

const port = parentPort
if (port === null) throw new InvariantError('The conversion worker was not started as a worker thread')
const tell = (message: ConversionMessage) => port.postMessage(message)

const onProgress = wholePercents((fraction) => tell({ type: 'progress', fraction }))

try {
  const work = workerData as ConversionWork
  if (work.type === 'plan') {
    const file = plannedFile(await planConversion(work.source, work.tensorType))
    // Handed over, not copied: it holds the whole vocabulary.
    port.postMessage({ type: 'planned', file } satisfies ConversionMessage, [file.headerBytes.buffer])
  } else {
    await convertCheckpoint({ ...work, onProgress })
    tell({ type: 'converted' })
  }
} catch (error) {
  // Other errors end the thread with the `error` event, stack and all.
  if (!(error instanceof StartError)) throw error
  tell({ type: 'failed', message: error.message })
}
