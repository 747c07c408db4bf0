/**
 * The worker thread that plans and converts: reading, converting and checking billions of numbers would block the event
 * loop of the server. Started by `conversion-thread.ts` only.
 */
import { answerCalls } from '../../core/concurrency/worker-calls.ts'
import { wholePercents } from '../../core/text/whole-percents.ts'
import { convertAdapter } from '../adapters/convert-adapter.ts'
import { type LeftOutTensors, planConversion, plannedFile } from './conversion-plan.ts'
import type { ConversionAnswer, ConversionWork } from './conversion-thread.ts'
import { convertCheckpoint } from './convert.ts'

answerCalls(
  async (work: ConversionWork, onProgress): Promise<ConversionAnswer> => {
    if (work.type === 'plan') {
      const file = plannedFile(await planConversion(work.source, work.tensorType))
      return { type: 'planned', file }
    }
    if (work.type === 'convert-adapter') {
      await convertAdapter(work)
      return { type: 'adapter-converted' }
    }
    let leftOut: LeftOutTensors | null = null
    const onLeftOut = (tensors: LeftOutTensors) => {
      leftOut = tensors
    }
    await convertCheckpoint({ ...work, onProgress: wholePercents(onProgress), onLeftOut })
    return { type: 'converted', leftOut }
  },
  // Transferred, not copied: it holds the whole vocabulary.
  (answer) => (answer.type === 'planned' ? [answer.file.headerBytes.buffer] : []),
)
