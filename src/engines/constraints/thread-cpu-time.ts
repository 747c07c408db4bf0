/**
 * How long a thread of this process has had a core, from Linux's scheduler (proc_pid_schedstat(5)). On a busy machine the time on the
 * wall says little about the work that a thread has done. Used to bound what grammar threads compile.
 */
import { readFileSync, readlinkSync } from 'node:fs'

/** The system's id of the calling thread; 0 where the system does not say. */
export function ownThreadId(): number {
  try {
    return Number(/\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** In milliseconds; null where the system does not say. */
export function threadCpuMs(threadId: number): number | null {
  if (threadId === 0) return null
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${threadId}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1e6
  } catch {
    return null
  }
}
