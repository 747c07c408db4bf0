import { expect, it, onTestFinished } from 'vitest'
import { openApiDatabase } from './api-database.ts'
import { ensureSetting } from './settings-repository.ts'

it('keeps the first value that a name was given', async () => {
  const database = await openApiDatabase(':memory:')
  onTestFinished(() => database.destroy())

  expect(await ensureSetting(database, 'colour', 'red')).toBe('red')
  expect(await ensureSetting(database, 'colour', 'blue')).toBe('red')
  expect(await ensureSetting(database, 'size', 'blue')).toBe('blue')
})
