import { expect, it } from 'vitest'
import { createOperatorScene } from '../../../test/support/servers/operator-scene.ts'

it.each([
  [['--workers', '0'], 2, "--workers must be a whole number from 1 to 256, but was '0'."],
  [['--public-paths', 'x'], 2, "--public-paths must be a path such as /hook, /u/{id} or /x/*, but was 'x'."],
  [['--static-dir', '/nowhere'], 1, "staticDir must be a folder that can be read, but '/nowhere' is none."],
  [['--key-db', 'none.db'], 1, "'none.db' (--key-db) cannot be read: there is no such file."],
  [['--checkpoint', 'none.gguf'], 1, 'none.gguf'],
])('sluice light with %j ends with exit code %i and one line', async (words, exitCode, line) => {
  const ended = await createOperatorScene({ env: {} }).sluice('light', '--port', '0', ...words)

  expect(ended).toEqual({ exitCode, printed: '', complaints: [expect.stringContaining(line)] })
  expect(ended.complaints[0]).toMatch(/^sluice: /)
})
