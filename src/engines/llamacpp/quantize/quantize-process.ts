/**
 * Has a model quantized in a process of its own, at low priority: a native abort ends that process and no other, and
 * its memory is gone with it. Same contract as the cache asks of a quantizer.
 */
import { spawn } from 'node:child_process'
import os from 'node:os'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { abortReason } from '../../../core/abort.ts'
import { StartError } from '../../../core/errors.ts'
import type { QuantizeWork } from '../../../checkpoints/cache/quantization-cache.ts'
import { progressOfLine, withoutProgress } from './quantize-progress.ts'
import type { QuantizeEnd, QuantizeOptions } from './quantize-weights.ts'

export interface QuantizeProcessOptions extends QuantizeOptions {
  readonly parentPid: number
}

/** Quantizer → parent, one JSON line each, over the pipe; `end` or `failed` comes last. */
export type QuantizeMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'end'; readonly end: QuantizeEnd }
  | { readonly type: 'failed'; readonly message: string }

export interface QuantizeHooks {
  /** What it said last, when it ended without a reason of its own: for the log, it is of no use to others. */
  readonly onLastLines?: (lines: readonly string[]) => void
  /** One line of the process's standard error, where llama.cpp logs each tensor. */
  readonly onLogLine?: (line: string) => void
}

const ENTRY = fileURLToPath(new URL('quantize-main.js', import.meta.url))

/** @throws StartError with one sentence when it fails or the process dies of it. */
export async function quantizeInProcess(
  { model, format, outputPath, onProgress, signal }: QuantizeWork,
  { onLogLine, onLastLines }: QuantizeHooks = {},
): Promise<QuantizeEnd> {
  signal?.throwIfAborted()
  const options: QuantizeProcessOptions = {
    sourcePath: model.path,
    outputPath,
    format,
    threads: os.availableParallelism(),
    parentPid: process.pid,
  }
  const child = spawn(process.execPath, [ENTRY, JSON.stringify(options)], {
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  })
  child.stdin?.on('error', () => {})
  const kill = (): void => void child.kill('SIGKILL')
  signal?.addEventListener('abort', kill, { once: true })
  let result: QuantizeMessage | null = null
  const follow = (stream: unknown, onLine: (line: string) => void): void => {
    if (stream instanceof Readable) createInterface({ input: stream }).on('line', onLine)
  }
  /** They say why a native function failed. */
  const lastLines: string[] = []
  follow(child.stderr, (line) => {
    const words = withoutProgress(line)
    if (words !== '') lastLines.push(words)
    if (lastLines.length > 2) lastLines.shift()
    const fraction = progressOfLine(line)
    if (fraction !== null) onProgress(fraction)
    onLogLine?.(line)
  })
  follow(child.stdio[3], (line) => {
    const message = JSON.parse(line) as QuantizeMessage
    if (message.type === 'progress') onProgress(message.fraction)
    else result = message
  })
  const how = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(`could not be started: ${error.message}.`))
    child.on('close', (code, endSignal) =>
      resolve(
        endSignal === null
          ? `ended with exit code ${code}.`
          : endSignal === 'SIGKILL'
            ? 'was ended by SIGKILL; the system does that when memory runs out.'
            : `was ended by ${endSignal}.`,
      ),
    )
  })
  signal?.removeEventListener('abort', kill)
  if (signal?.aborted === true) throw abortReason(signal)
  if (result === null) onLastLines?.(lastLines)
  return settle(result, how)
}

function settle(result: QuantizeMessage | null, how: string): QuantizeEnd {
  if (result?.type === 'end') return result.end
  if (result?.type === 'failed') throw new StartError(result.message, 1)
  throw new StartError(`The process that quantized the model ${how}`, 1)
}
