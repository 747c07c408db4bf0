/** The child's side of `child-program.ts`: a child process reports to its parent and ends with it. */
import { writeSync } from 'node:fs'
import { koffi } from '../koffi.ts'
import { exitAtOnce } from './exit-at-once.ts'

const PARENT_PIPE = 3
const PR_SET_PDEATHSIG = 1
const SIGKILL = 9

/**
 * Must be called first: afterwards the process ends with its parent, and only its parent ends it.
 * @param finish what is to be done before, where the parent closes the standard input and waits
 */
export function linkToParent(parentPid: number, finish: () => Promise<void> = () => Promise.resolve()): void {
  // Ctrl-C, and the end of a terminal, reach the whole process group.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  dieWithParent(parentPid)
  process.stdin.on('close', () => void finish().finally(() => exitAtOnce(0))).resume()
}

/** Written at once, because native work may block the event loop next. */
export function tellParent(message: object): void {
  writeSync(PARENT_PIPE, `${JSON.stringify(message)}\n`)
}

/**
 * On Linux the kernel kills this process as soon as its parent ends, however that happens. Other systems rely on standard
 * input closing. Must be called from the main thread.
 */
export function dieWithParent(parentPid: number = process.ppid): void {
  if (process.platform !== 'linux') return
  const prctl = koffi.load(null).func('prctl', 'int', ['int', 'ulong', 'ulong', 'ulong', 'ulong'])
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
  // A parent that ended before the call sends no signal.
  if (process.ppid !== parentPid) process.kill(process.pid, 'SIGKILL')
}
