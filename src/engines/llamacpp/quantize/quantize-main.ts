/**
 * The quantizer's process: quantizes one model and ends. Started by `quantize-process.ts` with its options as the only
 * argument; file descriptor 3 is a pipe back, standard input closes when whoever started it ends.
 */
import { writeSync } from 'node:fs'
import os from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StartError } from '../../../core/errors.ts'
import { wholePercents } from '../../../core/whole-percents.ts'
import { dieWithParent } from '../ffi/die-with-parent.ts'
import type { QuantizeMessage, QuantizeProcessOptions } from './quantize-process.ts'
import { quantizeWeights } from './quantize-weights.ts'

const PARENT_PIPE = 3
/** Engines and HTTP go first. */
const LOW_PRIORITY = 10

const tell = (message: QuantizeMessage): void => void writeSync(PARENT_PIPE, `${JSON.stringify(message)}\n`)

function lowerPriority(): void {
  try {
    os.setPriority(LOW_PRIORITY)
  } catch {
    // Some sandboxes forbid even that; the work goes on at the usual priority.
  }
}

try {
  // Ctrl-C, and the end of a terminal, reach the whole process group; only the server decides when this ends.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {})
  process.on('SIGHUP', () => {})
  const options = JSON.parse(process.argv[2] ?? '') as QuantizeProcessOptions
  dieWithParent(options.parentPid)
  process.stdin.on('close', () => process.exit(0)).resume()
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
