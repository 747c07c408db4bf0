import { describe, expect, it } from 'vitest'
import { createSources } from '../test/support/source-tree.ts'
import { checkCircles } from './check-circles.mjs'

/** What is found in files that import these. */
function check(imports: Readonly<Record<string, readonly string[]>>): string[] {
  const texts = Object.entries(imports).map(([file, specifiers]) => [
    file,
    specifiers.map((specifier) => `import type { X } from '${specifier}'`).join('\n'),
  ])
  return checkCircles(createSources(Object.fromEntries(texts)))
}

describe('imports', () => {
  it('may meet again where no circle comes of it', () => {
    const found = check({
      'a/one.ts': ['./two.ts', '../b/three.ts', 'node:path'],
      'a/two.ts': ['../b/three.ts'],
      'b/three.ts': ['./four.ts'],
      'b/four.ts': [],
    })
    expect(found).toEqual([])
  })

  it('may not go in a circle between files, of which the shortest is shown', () => {
    const found = check({
      'a/one.ts': ['./two.ts', './three.ts'],
      'a/two.ts': ['./three.ts'],
      'a/three.ts': ['./one.ts'],
    })
    expect(found).toEqual(['files import in a circle: a/one.ts → a/three.ts → a/one.ts'])
  })

  it('may not go in a circle between folders side by side, at any depth', () => {
    const found = check({
      'p/a/deep/one.ts': ['../../b/two.ts'],
      'p/b/two.ts': [],
      'p/b/three.ts': ['../a/four.ts'],
      'p/a/four.ts': [],
    })
    expect(found).toEqual([
      'folders import in a circle: p/a → p/b → p/a (p/a/deep/one.ts imports p/b/two.ts; p/b/three.ts imports p/a/four.ts)',
    ])
  })

  it('may go both ways between a folder and one inside it', () => {
    const found = check({
      'a/one.ts': ['./inside/two.ts'],
      'a/inside/two.ts': ['../three.ts'],
      'a/three.ts': [],
    })
    expect(found).toEqual([])
  })
})
