import os from 'node:os'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createOperatorScene } from '../../../../test/support/servers/operator-scene.ts'

/** What a command prints of what it made. */
interface Made {
  readonly id: string
  readonly user_id: string
  readonly team_id: string
  readonly key_prefix: string
}

interface ShownRecord {
  readonly action: string
  readonly target: string | null
  readonly status: number | null
}

it('what the command line changes is in the audit log, without a password', async () => {
  const { output, sluice, openServer } = createOperatorScene()
  await output('users', 'create', 'ada@example.org', '--password', 'correct horse')
  await output('users', 'list')
  await output('users', 'disable', 'ada@example.org')
  await sluice('keys', 'revoke', 'none')
  await sluice('keys', 'create', '--user', 'eve@example.org')
  const { database } = await openServer()

  const rows = await database.selectFrom('audit_log').selectAll().orderBy('created_at').execute()
  const [user] = await database.selectFrom('users').select('id').execute()
  const shown = rows.map(({ action, target, status }) => [action, target, status])
  expect(new Set(shown.map(String))).toEqual(
    new Set([
      `user.create,${user?.id ?? ''},200`,
      `user.disable,${user?.id ?? ''},200`,
      'key.revoke,none,404',
      'key.create,,404',
    ]),
  )
  expect(JSON.stringify(rows)).not.toContain('correct horse')
  const listed = JSON.parse(await output('audit', '--action', 'user.create', '--json')) as object
  expect(listed).toMatchObject({ count: 1, records: [{ target: user?.id, status: 200, request_id: null }] })
  expect((await output('audit')).split('\n')).toHaveLength(5)
  expect(await output('audit', '--since', '2100-01-01')).toBe('Nothing was done.')
  for (const { actor } of rows) expect(actor).toMatch(/^command-line:./)
})

it('what was asked for has the names of the admin API in the audit log', async () => {
  const { output } = createOperatorScene()
  await output('keys', 'create', '--rate-limit-rpm', '9', '--daily-token-budget', '5', '--json')
  const { records } = JSON.parse(await output('audit', '--json')) as { records: readonly object[] }
  expect(records).toHaveLength(1)
  expect(records[0]).toHaveProperty('details', {
    name: '',
    tier: 'free',
    user: null,
    expires_in_days: null,
    rate_limit_rpm: 9,
    daily_token_budget: 5,
  })
})

it('a user of the system who has no name is in the audit log by number', async () => {
  // As in a container that is run as any user.
  const userInfo = vi.spyOn(os, 'userInfo').mockImplementation(() => {
    throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT (no such file or directory)')
  })
  onTestFinished(() => userInfo.mockRestore())
  const { output } = createOperatorScene()
  await output('keys', 'create')
  const { records } = JSON.parse(await output('audit', '--json')) as { records: readonly object[] }
  expect(records).toMatchObject([{ actor: `command-line:${process.getuid?.()}`, action: 'key.create' }])
})

it('whatever is changed is in the audit log by its id, however it was named', async () => {
  const { output, clock } = createOperatorScene()
  const make = async (...words: string[]) => JSON.parse(await output(...words, '--json')) as Made
  const { team_id: team } = await make('teams', 'create', 'red')
  clock.advance(1000)
  const { user_id: user } = await make('users', 'create', 'ada@example.org')
  clock.advance(1000)
  const key = await make('keys', 'create', '--user', 'ada@example.org', '--team', 'red')
  const changes: readonly (readonly [id: string | null, ...words: string[]])[] = [
    [key.id, 'keys', 'rename', key.key_prefix, 'laptop'],
    [key.id, 'keys', 'extend', key.key_prefix, '30'],
    [key.id, 'keys', 'set-team', key.key_prefix, 'none'],
    [key.id, 'keys', 'set-budget', key.key_prefix, '--daily-token-budget', '5'],
    [key.id, 'keys', 'set-tier', key.key_prefix, 'pro'],
    [key.id, 'keys', 'revoke', key.key_prefix],
    [user, 'users', 'password', 'ada@example.org'],
    [user, 'users', 'set-tier', 'ada@example.org', 'pro'],
    [user, 'users', 'set-role', 'ada@example.org', 'user'],
    [user, 'users', 'set-team', 'ada@example.org', 'red'],
    [user, 'users', 'set-budget', 'ada@example.org', '--daily-token-budget', '5'],
    [user, 'users', 'disable', 'ada@example.org'],
    [user, 'users', 'enable', 'ada@example.org'],
    [null, 'users', 'invite', 'eve@example.org', '--team', 'red'],
    [user, 'users', 'delete', 'ada@example.org'],
    [team, 'teams', 'set-budget', 'red', '--daily-token-budget', '5'],
    [team, 'teams', 'rename', 'red', 'blue'],
    [team, 'teams', 'delete', 'blue'],
  ]
  for (const [, ...words] of changes) {
    clock.advance(1000)
    await output(...words)
  }

  const { records } = JSON.parse(await output('audit', '--json')) as { records: readonly ShownRecord[] }
  const actionOf = ([, family = '', action = '']: readonly (string | null)[]) =>
    action === 'invite' ? 'invitation.create' : `${family?.slice(0, -1)}.${action}`
  expect(records.map(({ action, target, status }) => [action, target, status])).toEqual([
    ['team.create', team, 200],
    ['user.create', user, 200],
    ['key.create', key.id, 200],
    ...changes.map((change) => [actionOf(change), change[0], 200]),
  ])
})

it('what the rules of the API refuse is in the audit log as it would be answered', async () => {
  const { output, sluice } = createOperatorScene()
  await output('keys', 'create')
  expect((await sluice('users', 'create', 'a@b.org', '--password', 'short')).exitCode).toBe(2)
  expect(JSON.parse(await output('audit', '--action', 'user.create', '--json'))).toMatchObject({
    records: [{ status: 400 }],
  })
})
