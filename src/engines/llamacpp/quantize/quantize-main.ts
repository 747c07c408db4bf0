/**
 * The quantizer's process: quantizes one model and ends. Started by `quantize-process.ts`, with which it ends too.
 */
import os from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StartError } from '../../../core/errors.ts'
import { wholePercents } from '../../../core/text/whole-percents.ts'
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
  // A thread of V8's may have asked for a collection while the native call kept this one busy; leaving without a turn of
  // the event loop, Node 24 waits for that thread, and the thread for the collection.
  await nextTurn()
  process.exit(0)
} catch (error) {
  if (error instanceof StartError) tell({ type: 'failed', message: error.message })
  else process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
