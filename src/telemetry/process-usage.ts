/** What other processes of the service use of the machine, as the system counts it: on Linux, whose files say it of any process. */
import { readFile } from 'node:fs/promises'

export interface ProcessUsage {
  /** User and system, since its start. */
  readonly cpuSeconds: number
  /** Mapped weights included. */
  readonly residentBytes: number
}

/** The unit that Linux gives CPU times in to programs, on every architecture. */
const TICKS_PER_SECOND = 100
const BYTES_PER_KB = 1024

/** Behind the name, which may hold anything: `state` is the first field, `utime` and `stime` the twelfth and the thirteenth. */
const UTIME = 11
const STIME = 12

/** Null where the system does not say, or the process has ended. */
export async function readProcessUsage(pid: number): Promise<ProcessUsage | null> {
  if (process.platform !== 'linux') return null
  const files = ['stat', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8'))
  const [stat = '', status = ''] = await Promise.all(files).catch(() => [])
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const cpuSeconds = (Number(fields[UTIME]) + Number(fields[STIME])) / TICKS_PER_SECOND
  const residentBytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * BYTES_PER_KB
  return Number.isNaN(cpuSeconds + residentBytes) ? null : { cpuSeconds, residentBytes }
}
