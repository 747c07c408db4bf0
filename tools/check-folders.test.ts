import { expect, it } from 'vitest'
import { createSources } from '../test/support/source-tree.ts'
import { checkFolders } from './check-folders.mjs'

const files = (folder: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/${index}.ts`, '']))

it('a folder holds at most 20 files side by side, those in folders inside it not counted', () => {
  expect(checkFolders(createSources({ ...files('a', 20), ...files('a/b', 20) }))).toEqual([])
  expect(checkFolders(createSources({ ...files('a', 2), ...files('a/b', 21) }))).toEqual([
    'src/a/b holds 21 files side by side; at most 20 may',
  ])
})
