/**
 * How long a thread of this process has had a core, from Linux's scheduler (proc_pid_schedstat(5)). On a busy machine the time on the
 * wall says little about the work that a thread has done. Used to bound what grammar threads compile.
 */
import { readFileSync, readlinkSync } from 'node:fs'

const UNKNOWN = -1

/** The system's id of the calling thread; negative where the system does not say. */
export function ownThreadId(): number {
  try {
    return Number(/\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1] ?? UNKNOWN)
  } catch {
    return UNKNOWN
  }
}

/** In milliseconds; null where the system does not say. */
export function threadCpuMs(threadId: number): number | null {
  if (threadId <= 0) return null
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${threadId}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1e6
  } catch {
    return null
  }
}
