/**
 * The quantizer's process: quantizes one model and ends. Started by `quantize-process.ts`, with which it ends too.
 */
import os from 'node:os'
import { StartError } from '../../../core/errors.ts'
import { wholePercents } from '../../../core/text/whole-percents.ts'
import { exitAtOnce } from '../../child/exit-at-once.ts'
import { linkToParent, tellParent } from '../../child/parent-link.ts'
import type { QuantizeMessage, QuantizeProcessOptions } from './quantize-process.ts'
import { quantizeWeights } from './quantize-weights.ts'

/** Engines and HTTP go first. */
const LOW_PRIORITY = 10

const tell = (message: QuantizeMessage): void => tellParent(message)

function lowerPriority(): void {
  try {
    os.setPriority(LOW_PRIORITY)
  } catch {
    // Some sandboxes forbid even that; the work goes on at the usual priority.
  }
}

try {
  const options = JSON.parse(process.argv[2] ?? '') as QuantizeProcessOptions
  linkToParent(options.parentPid)
  lowerPriority()
  const onProgress = wholePercents((fraction) => tell({ type: 'progress', fraction }))
  tell({ type: 'end', end: await quantizeWeights(options, onProgress) })
  exitAtOnce(0)
} catch (error) {
  if (error instanceof StartError) tell({ type: 'failed', message: error.message })
  else process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  exitAtOnce(1)
}
