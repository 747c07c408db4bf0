import { expect, it } from 'vitest'
import { dieWithParent } from './die-with-parent.ts'
import { koffi } from './native.ts'

const PR_GET_PDEATHSIG = 2

it.runIf(process.platform === 'linux')('asks the kernel to kill this process when its parent ends', () => {
  const prctl = koffi.load(null).func('prctl', 'int', ['int', 'void *', 'ulong', 'ulong', 'ulong'])
  const signal = new Int32Array(1)
  dieWithParent()
  expect(prctl(PR_GET_PDEATHSIG, signal, 0, 0, 0)).toBe(0)
  expect(signal[0]).toBe(9)
})
