/**
 * How much memory a model needs and how much there is. Linux hands out memory that does not exist and kills the
 * process later, so what will not fit must be refused before it is asked for.
 */
import { readFileSync } from 'node:fs'
import os from 'node:os'
import { StartError } from '../../core/errors.ts'

const BYTES_PER_MB = 1_000_000

export interface MemoryNeed {
  readonly modelPath: string
  readonly weightBytes: number
  /** 0 while the model's shape is not known yet. */
  readonly kvCacheBytes: number
}

/** @throws StartError naming both numbers when what is needed is more than what is there. */
export function checkMemory(
  { modelPath, weightBytes, kvCacheBytes }: MemoryNeed,
  availableBytes: number,
): void {
  const neededBytes = weightBytes + kvCacheBytes
  if (neededBytes <= availableBytes) return
  const parts =
    kvCacheBytes === 0
      ? 'for its weights'
      : `(${neededMegabytes(weightBytes)} weights, ${neededMegabytes(kvCacheBytes)} KV cache: lower max_batch_size or max_seq_len)`
  throw new StartError(
    `'${modelPath}' needs ${neededMegabytes(neededBytes)} of memory ${parts}, but ${availableMegabytes(availableBytes)} is available.`,
    1,
  )
}

/** In MB (10^6 bytes), rounded so that a refusal never shows less needed than available. */
export function neededMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / BYTES_PER_MB)} MB`
}

export function availableMegabytes(bytes: number): string {
  return `${Math.floor(bytes / BYTES_PER_MB)} MB`
}

/**
 * Memory this process may still take. Caches that the system gives up when asked count as available, which
 * `os.freemem()` does not know on macOS: there all memory counts.
 */
export function availableMemoryBytes(): number {
  if (process.platform !== 'linux') return process.platform === 'darwin' ? os.totalmem() : os.freemem()
  const system = parseField(readText('/proc/meminfo'), /^MemAvailable:\s+(\d+) kB$/m, 1024) ?? os.freemem()
  return Math.min(system, containerBytes())
}

/** What the container's limit leaves: its file cache does not count, because it is given up when needed. */
function containerBytes(): number {
  const limit = process.constrainedMemory()
  // Without a limit Node tells 0 or a number beyond any machine.
  if (limit === 0 || limit >= os.totalmem()) return Number.POSITIVE_INFINITY
  const used =
    parseField(readText('/sys/fs/cgroup/memory.stat'), /^anon (\d+)$/m, 1) ??
    parseField(readText('/sys/fs/cgroup/memory/memory.stat'), /^total_rss (\d+)$/m, 1) ??
    process.memoryUsage.rss()
  return Math.max(limit - used, 0)
}

function parseField(text: string, pattern: RegExp, unitBytes: number): number | null {
  const match = pattern.exec(text)
  return match === null ? null : Number(match[1]) * unitBytes
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
