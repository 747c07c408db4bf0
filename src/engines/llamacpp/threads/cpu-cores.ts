/** The cores that this process may use, and how busy they are. */
import { readFileSync } from 'node:fs'
import os from 'node:os'

/** With less, a thread waits for the others longer than it computes. */
const MIN_WEIGHT_BYTES_PER_THREAD = 6_000_000

/** Cores that the process may use: its affinity, and the whole cores of a container's CPU quota. At least 1. */
export function availableCores(): number {
  return Math.max(1, Math.floor(Math.min(os.availableParallelism(), quotaCores())))
}

/** Cores without urgent work. */
export interface SpareCores {
  readonly idle: number
  /** Busy with what runs at a lower priority. */
  readonly lowPriority: number
}

/**
 * A meter of what the cores did since its last call. All cores of the machine count, because nothing says which of them a
 * container's quota will come from.
 */
export function createSpareCoresMeter(): () => SpareCores {
  let last = coreTimes()
  return () => {
    const now = coreTimes()
    const totalMs = now.totalMs - last.totalMs
    const perMs = totalMs === 0 ? 0 : now.cores / totalMs
    const spare = {
      idle: (now.idleMs - last.idleMs) * perMs,
      lowPriority: (now.niceMs - last.niceMs) * perMs,
    }
    last = now
    return spare
  }
}

function coreTimes() {
  let totalMs = 0
  let idleMs = 0
  let niceMs = 0
  const cores = os.cpus()
  for (const { times } of cores) {
    totalMs += times.user + times.nice + times.sys + times.idle + times.irq
    idleMs += times.idle
    niceMs += times.nice
  }
  return { cores: cores.length, totalMs, idleMs, niceMs }
}

/** `cpu.max` of cgroup v2 is "QUOTA PERIOD" or "max PERIOD"; v1 has a file for each, and -1 for none. */
function quotaCores(): number {
  const [quota, period] =
    readWords('/sys/fs/cgroup/cpu.max') ??
    [
      readWords('/sys/fs/cgroup/cpu/cpu.cfs_quota_us'),
      readWords('/sys/fs/cgroup/cpu/cpu.cfs_period_us'),
    ].flat()
  const cores = Number(quota) / Number(period)
  return cores > 0 ? cores : Number.POSITIVE_INFINITY
}

function readWords(path: string): string[] | null {
  try {
    return readFileSync(path, 'utf8').trim().split(' ')
  } catch {
    return null
  }
}

/** One for each core, but no more than the weights give work to: threads meet after every operation (decision 0007). */
export function defaultThreads(weightBytes: number): number {
  const worthwhile = Math.max(1, Math.floor(weightBytes / MIN_WEIGHT_BYTES_PER_THREAD))
  return Math.min(availableCores(), worthwhile)
}
