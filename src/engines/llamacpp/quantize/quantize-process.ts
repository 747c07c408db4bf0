/**
 * Quantizes a model in a separate process, at low priority: a native abort ends that process and no other, and
 * its memory is gone with it. Same contract as the cache asks of a quantizer.
 */
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { abortReason } from '../../../core/concurrency/abort.ts'
import { StartError } from '../../../core/errors.ts'
import { type ChildExit, startChild } from '../../child/child-program.ts'
import type { QuantFormat } from '../../../checkpoints/quantization/quantization-plan.ts'
import type { QuantizeWork } from '../../../checkpoints/quantization/quantize-model.ts'

export interface QuantizeOptions {
  /** The file, or the first of its splits. */
  readonly sourcePath: string
  /** Must not exist yet; on failure the caller removes what was written. */
  readonly outputPath: string
  readonly format: QuantFormat
  readonly threads: number
}

export interface QuantizeEnd {
  /** Of the weights rounded to fp8, those stored exactly as E4M3; null for the other formats. */
  readonly exactShare: number | null
}

export interface QuantizeProcessOptions extends QuantizeOptions {
  readonly parentPid: number
}

/** Quantizer → parent, one JSON line each, over the pipe; `end` or `failed` comes last. */
export type QuantizeMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'end'; readonly end: QuantizeEnd }
  | { readonly type: 'failed'; readonly message: string }

export interface QuantizeHooks {
  /** Its last lines, when it ended without reporting a reason; for the log. */
  readonly onLastLines?: (lines: readonly string[]) => void
  /** One line of the process's standard error, where llama.cpp logs each tensor. */
  readonly onLogLine?: (line: string) => void
}

/** Share of the work that looking for NaN and Infinity is. */
export const CHECK_SHARE = 0.1

const KEPT_LINES = 2

const ENTRY = fileURLToPath(new URL('quantize-main.js', import.meta.url))

/** @throws StartError with one sentence when it fails or the process dies of it. */
export async function quantizeInProcess(
  { model, format, outputPath, onProgress, signal }: QuantizeWork,
  { onLogLine, onLastLines }: QuantizeHooks = {},
): Promise<QuantizeEnd> {
  signal?.throwIfAborted()
  const options: QuantizeOptions = {
    sourcePath: model.path,
    outputPath,
    format,
    threads: os.availableParallelism(),
  }
  let result: QuantizeMessage | null = null
  /** They hold the reason of a native failure. */
  const lastLines: string[] = []
  const child = startChild<QuantizeMessage>(
    { entry: ENTRY, options },
    {
      onLogLine: (line) => {
        const words = withoutProgress(line)
        if (words !== '') lastLines.push(words)
        if (lastLines.length > KEPT_LINES) lastLines.shift()
        const fraction = progressOfLine(line)
        if (fraction !== null) onProgress(fraction)
        onLogLine?.(line)
      },
      onMessage: (message) => {
        if (message.type === 'progress') onProgress(message.fraction)
        else result = message
      },
    },
  )
  const kill = (): void => child.kill()
  signal?.addEventListener('abort', kill, { once: true })
  const exit = await child.exited
  signal?.removeEventListener('abort', kill)
  if (signal?.aborted === true) throw abortReason(signal)
  if (result === null) onLastLines?.(lastLines)
  return settle(result, exit)
}

function settle(result: QuantizeMessage | null, { how, signal }: ChildExit): QuantizeEnd {
  if (result?.type === 'end') return result.end
  if (result?.type === 'failed') throw new StartError(result.message, 1)
  const why = signal === 'SIGKILL' ? '; the system does that when memory runs out' : ''
  throw new StartError(`The process that quantized the model ${how}${why}.`, 1)
}

/** What a line says beside the progress; an error follows on the same line. */
export function withoutProgress(line: string): string {
  return line.replace(/^\[ *\d+\/ *\d+\] .*?(?=llama_|$)/, '').trim()
}

/**
 * llama.cpp says on standard error which tensor it works on; this is the share of the work that is done by then. Null
 * for other lines.
 */
export function progressOfLine(line: string): number | null {
  const [, number, count] = /^\[ *(\d+)\/ *(\d+)\] /.exec(line) ?? []
  if (number === undefined || count === undefined) return null
  return CHECK_SHARE + (1 - CHECK_SHARE) * (Number(number) / Number(count))
}
