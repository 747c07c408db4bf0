import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LLAMA_VERSION } from './ffi/libraries.ts'
import { koffi } from '../koffi.ts'
import { STRUCTS } from './ffi/structs.ts'

interface Layouts {
  readonly llamaVersion: string
  readonly structs: Readonly<Record<string, { size: number; offsets: Record<string, number> }>>
}

const layouts = JSON.parse(readFileSync(new URL('layouts.json', import.meta.url), 'utf8')) as Layouts

describe('struct layouts', () => {
  it('are those of the pinned version', () => {
    expect(layouts.llamaVersion).toBe(LLAMA_VERSION)
  })

  it('cover every struct that is passed', () => {
    expect(Object.keys(STRUCTS).sort()).toEqual(Object.keys(layouts.structs).sort())
  })

  it.each(Object.entries(STRUCTS))('match the C compiler for %s', (name, type) => {
    const members = Object.keys(type.members ?? {})
    const offsets = Object.fromEntries(members.map((member) => [member, koffi.offsetof(type, member)]))
    expect({ size: koffi.sizeof(type), offsets }).toEqual(layouts.structs[name])
  })
})
