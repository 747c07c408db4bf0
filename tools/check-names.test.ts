import { expect, it } from 'vitest'
import { createSources } from '../test/support/source-tree.ts'
import { checkNames } from './check-names.mjs'

it('an exported name is declared once; passing it on and using it inside a file are free', () => {
  const found = checkNames(
    createSources({
      'a/one.ts': `export interface Rule {}\nexport const a = 1\nexport async function load() {}`,
      'b/two.ts': `export type Rule = string\nconst a = 2\nexport class Load {}`,
      'b/three.ts': `export { a } from '../a/one.ts'\nexport type { Rule } from './two.ts'\nfunction load() {}`,
      'b/two.test.ts': `export const a = 3`,
    }),
  )
  expect(found).toEqual(['Rule is exported by src/a/one.ts, src/b/two.ts'])
})
