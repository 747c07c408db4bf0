/** How much memory the system and the container have left for a model. */
import { readFileSync } from 'node:fs'
import os from 'node:os'

/**
 * Memory this process may still take. Caches that the system drops on demand count as available; macOS does not say how
 * large they are, so all of its memory counts.
 */
export function availableMemoryBytes(): number {
  if (process.platform !== 'linux') return process.platform === 'darwin' ? os.totalmem() : os.freemem()
  const system = parseField(readText('/proc/meminfo'), /^MemAvailable:\s+(\d+) kB$/m, 1024) ?? os.freemem()
  return Math.min(system, containerBytes())
}

/** What the container's limit leaves. Its file cache does not count, because it is dropped when needed. */
function containerBytes(): number {
  const limit = process.constrainedMemory()
  // Without a limit Node returns 0 or a number beyond any machine.
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
