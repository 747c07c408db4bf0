/**
 * Ties an engine process to the server that started it: on Linux the kernel kills it the moment its parent ends,
 * however that happens. Elsewhere it does nothing, and the engine relies on its channel closing.
 */
import { koffi } from '../koffi.ts'

const PR_SET_PDEATHSIG = 1
const SIGKILL = 9

/** Call first thing in the engine process, from its main thread; `parentPid` is who started it. */
export function dieWithParent(parentPid: number = process.ppid): void {
  if (process.platform !== 'linux') return
  const prctl = koffi.load(null).func('prctl', 'int', ['int', 'ulong', 'ulong', 'ulong', 'ulong'])
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
  // A parent that ended before the call sends no signal any more.
  if (process.ppid !== parentPid) process.kill(process.pid, 'SIGKILL')
}
