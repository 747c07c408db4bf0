/**
 * The worker thread that plans and converts: reading, converting and checking billions of numbers would block the event
 * loop of the server. Started by `conversion-thread.ts` only.
 */
import { answerCalls } from '../../core/concurrency/worker-calls.ts'
import { wholePercents } from '../../core/text/whole-percents.ts'
import { planConversion, plannedFile } from './conversion-plan.ts'
import type { ConversionAnswer, ConversionWork } from './conversion-thread.ts'
import { convertCheckpoint } from './convert.ts'

answerCalls(
  async (work: ConversionWork, onProgress): Promise<ConversionAnswer> => {
    if (work.type === 'plan') return plannedFile(await planConversion(work.source, work.tensorType))
    await convertCheckpoint({ ...work, onProgress: wholePercents(onProgress) })
    return null
  },
  // Transferred, not copied: it holds the whole vocabulary.
  (file) => (file === null ? [] : [file.headerBytes.buffer]),
)
