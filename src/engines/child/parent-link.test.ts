import { expect, it } from 'vitest'
import { dieWithParent } from './parent-link.ts'
import { koffi } from '../koffi.ts'

const PR_GET_PDEATHSIG = 2
const SIGKILL = 9

/** The signal that the kernel sends this process when its parent ends; null where there is no such thing. */
function parentDeathSignal(): number | null {
  if (process.platform !== 'linux') return null
  const prctl = koffi.load(null).func('prctl', 'int', ['int', 'void *', 'ulong', 'ulong', 'ulong'])
  const signal = new Int32Array(1)
  expect(prctl(PR_GET_PDEATHSIG, signal, 0, 0, 0)).toBe(0)
  return signal[0] ?? null
}

it('asks the kernel, where it can be asked, to kill this process when its parent ends', () => {
  dieWithParent()
  expect(parentDeathSignal()).toBe(process.platform === 'linux' ? SIGKILL : null)
})
