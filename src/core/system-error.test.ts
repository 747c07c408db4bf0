import { statSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { errorCode, systemCallCode } from './system-error.ts'

function thrownBy(act: () => unknown): unknown {
  try {
    return act()
  } catch (thrown) {
    return thrown
  }
}

describe('the code of an error', () => {
  it('is that of a failed system call', () => {
    const thrown = thrownBy(() => statSync('/nowhere'))
    expect([errorCode(thrown), systemCallCode(thrown)]).toEqual(['ENOENT', 'ENOENT'])
  })

  it('is told in a context whose Error is another one, as a test runner makes it', () => {
    const thrown: unknown = runInNewContext(
      "Object.assign(new Error('m'), { code: 'ENOENT', syscall: 'stat' })",
    )
    expect(thrown).not.toBeInstanceOf(Error)
    expect([errorCode(thrown), systemCallCode(thrown)]).toEqual(['ENOENT', 'ENOENT'])
  })

  it.each([null, undefined, 'ENOENT', new Error('ENOENT'), { code: 5 }])('is null of %o', (thrown) => {
    expect([errorCode(thrown), systemCallCode(thrown)]).toEqual([null, null])
  })
})
