/** The cores that this process may use, and how busy they are. */
import { readFileSync } from 'node:fs'
import os from 'node:os'

/** With less, a thread waits for the others longer than it computes. */
const MIN_WEIGHT_BYTES_PER_THREAD = 6_000_000

/** Cores that the process may use: its affinity, and the whole cores of a container's CPU quota. At least 1. */
export function availableCores(): number {
  return Math.max(1, Math.floor(Math.min(os.availableParallelism(), quotaCores())))
}

/**
 * A meter of cores that did nothing, or only what runs at a lower priority, since its last call. All cores of the machine
 * count, because nothing says which of them a container's quota will come from.
 */
export function createIdleCoresMeter(): () => number {
  let last = coreTimes()
  return () => {
    const now = coreTimes()
    const totalMs = now.totalMs - last.totalMs
    const idleMs = now.idleMs - last.idleMs
    last = now
    return totalMs === 0 ? 0 : (idleMs / totalMs) * now.cores
  }
}

function coreTimes(): { readonly cores: number; readonly totalMs: number; readonly idleMs: number } {
  let totalMs = 0
  let idleMs = 0
  const cores = os.cpus()
  for (const { times } of cores) {
    totalMs += times.user + times.nice + times.sys + times.idle + times.irq
    idleMs += times.idle + times.nice
  }
  return { cores: cores.length, totalMs, idleMs }
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
