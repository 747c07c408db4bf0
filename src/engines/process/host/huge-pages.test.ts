import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { withHugePages } from './huge-pages.ts'

const OWN = 'glibc.malloc.hugetlb=1'

describe('the environment of an engine', () => {
  it('asks for huge pages beside what else it says', () => {
    expect(withHugePages({ HOME: '/home/me' })).toEqual({ HOME: '/home/me', GLIBC_TUNABLES: OWN })
    expect(withHugePages({ GLIBC_TUNABLES: '' })).toEqual({ GLIBC_TUNABLES: OWN })
    expect(withHugePages({ GLIBC_TUNABLES: 'glibc.malloc.tcache_count=0' })).toEqual({
      GLIBC_TUNABLES: `glibc.malloc.tcache_count=0:${OWN}`,
    })
  })

  it('leaves the operator who has said so without them', () => {
    const environment = { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=0' }
    expect(withHugePages(environment)).toEqual(environment)
  })

  it('reaches the allocations of a process where glibc and the system know of it', () => {
    const script = `const big = Buffer.alloc(64 * 2 ** 20, 1)
      const mapped = require('node:fs').readFileSync('/proc/self/smaps', 'utf8')
      process.stdout.write(String(/VmFlags:.* hg/.test(mapped)) + big[0])`
    const asked = process.platform === 'linux' ? script : `process.stdout.write('false1')`
    const { stdout } = spawnSync(process.execPath, ['-e', asked], { env: withHugePages(process.env) })
    expect(stdout.toString()).toBe(`${leavesHugePagesToPrograms() && hasTunable()}1`)
  })
})

function leavesHugePagesToPrograms(): boolean {
  try {
    return readFileSync('/sys/kernel/mm/transparent_hugepage/enabled', 'utf8').includes('[madvise]')
  } catch {
    return false
  }
}

function hasTunable(): boolean {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return Number(report.header?.glibcVersionRuntime?.split('.')[1]) >= 35
}
