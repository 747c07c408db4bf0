/** What package-lock.json and package.json must keep so that an installation is safe, small and possible on Node 20. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

interface Entry {
  readonly integrity?: string
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly engines?: { readonly node?: string }
}

const ROOT = path.resolve(import.meta.dirname, '..')
const readJson = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path.join(ROOT, name), 'utf8'))

const packages = readJson('package-lock.json')['packages'] as Readonly<Record<string, Entry>>
const installed = Object.entries(packages).filter(([name]) => name !== '')

const OLDEST_NODE = [20, 19, 0]

/** Knows the forms that the lockfile uses: `>=20.19`, `^20.0.0`, `20` and several of them. */
function admitsOldestNode(range: string): boolean {
  return range.split('||').some((alternative) =>
    alternative
      .trim()
      .replace(/([<>=^~]) +/g, '$1')
      .split(/ +/)
      .every((comparator) => {
        const [, sign = '', version = ''] = /^([<>=^~]*)v?([\d.x*]+)$/.exec(comparator) ?? []
        const parts = version.split('.').map(Number)
        const order =
          OLDEST_NODE.map((have, index) => have - (parts[index] || 0)).find((step) => step !== 0) ?? 0
        if (sign === '>=') return order >= 0
        if (sign === '<') return order < 0
        return version === '*' || (parts[0] === OLDEST_NODE[0] && order >= 0)
      }),
  )
}

describe('package-lock.json', () => {
  it('has the checksum of every package', () => {
    const unchecked = installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
    expect(unchecked.map(([name]) => name)).toEqual([])
  })

  it('asks for no newer Node than the oldest that is supported', () => {
    const tooNew = installed.filter(([, { engines }]) => !admitsOldestNode(engines?.node ?? '*'))
    expect(tooNew.map(([name, { engines }]) => `${name} wants ${engines?.node}`)).toEqual([])
  })

  it('installs the libraries of llama.cpp on the machine that they are for alone', () => {
    // The package of linux-arm64 says that it is for x64 too, and would come with every installation: 20 MB that nothing loads.
    const libraries = installed.filter(([name]) => name.includes('@node-llama-cpp/'))
    expect(libraries.map(([name, { os, cpu }]) => [name.split('/').at(-1), os, cpu])).toEqual([
      ['linux-x64', ['linux'], ['x64']],
    ])
  })
})

it('package.json has no overrides, which an installation from a registry would not follow', () => {
  expect(readJson('package.json')).not.toHaveProperty('overrides')
})
