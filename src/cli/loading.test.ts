/** What each command loads: the program itself little, and no command another one's parts. */
import { expect, it } from 'vitest'
import { walkImports } from '../../test/support/import-graph.ts'

const packagesOf = (file: string) =>
  [...walkImports(file).others].filter((specifier) => !specifier.startsWith('node:')).sort()

it('the program loads neither the server nor a database before it knows that it needs one', () => {
  expect(packagesOf('cli/main.ts')).toEqual(['commander'])
})

it('the operator commands load the database and not the server', () => {
  const file = 'cli/commands/operator/operator-commands.ts'
  expect(packagesOf(file)).toEqual(['@node-rs/argon2', '@photostructure/sqlite', 'kysely'])
  const { files } = walkImports(file)
  expect(
    [...files].filter((loaded) => /^(?:api|engines|models|scheduler|checkpoints|telemetry)\//.test(loaded)),
  ).toEqual([])
  expect(files).not.toContain('app/create-server.ts')
})

it('cli/commands/pull-command.ts loads the library of the Hub alone', () => {
  expect(packagesOf('cli/commands/pull-command.ts')).toEqual(['@huggingface/hub'])
})

it('the server starts its engines before it loads what answers requests', () => {
  const { files, others } = walkImports('app/create-server.ts')
  expect(files).toContain('engines/process/host/engine-process.ts')
  for (const name of ['fastify', 'kysely', 'zod']) expect(others).not.toContain(name)
})

it.each(['app/create-server.ts', 'app/open-service.ts'])(
  '%s loads no command, and the library of the Hub only for those who need it',
  (file) => {
    expect(packagesOf(file)).not.toContain('@huggingface/hub')
    const { files } = walkImports(file)
    expect([...files].filter((loaded) => loaded.startsWith('cli/'))).toEqual([])
  },
)
