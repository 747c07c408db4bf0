import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { DAY_MS, SQL_INJECTIONS } from '../../../../test/support/servers/account-services.ts'
import { createOperatorScene, type OperatorScene } from '../../../../test/support/servers/operator-scene.ts'
import { adminCreatedKey, adminKey } from '../../../api/schemas/keys.ts'

interface PrintedKey {
  readonly key: string
  readonly id: string
  readonly key_prefix: string
  readonly name: string
  readonly tier: string
  readonly is_active: boolean
  readonly created_at: number
  readonly expires_at: number | null
  readonly rate_limit_rpm: number
  readonly last_used: number | null
  readonly team_id: string | null
  readonly daily_token_budget: number | null
  readonly monthly_token_budget: number | null
  readonly user_id: string | null
  readonly email: string | null
}

async function createKey({ output }: OperatorScene, ...words: string[]): Promise<PrintedKey> {
  return JSON.parse(await output('keys', 'create', '--json', ...words)) as PrintedKey
}

async function listKeys({ output }: OperatorScene, ...words: string[]): Promise<readonly PrintedKey[]> {
  return (JSON.parse(await output('keys', 'list', '--json', ...words)) as { keys: PrintedKey[] }).keys
}

/** The cells of a table's row, by the names of its columns. */
function readRow(table: string, row: number): Record<string, string> {
  const [columns = [], ...rows] = table.split('\n').map((line) => line.split(/ {2,}/))
  return Object.fromEntries(columns.map((column, index) => [column, rows[row]?.[index] ?? '']))
}

describe('sluice keys extend', () => {
  it('lets a key end so many days from now', async () => {
    const scene = createOperatorScene()
    const { id, key_prefix: prefix } = await createKey(scene, '--expires-in-days', '1')

    expect(await scene.output('keys', 'extend', prefix, '30')).toBe(
      `Key ${prefix} (${id}) expires 2023-12-14 now.`,
    )
    expect((await listKeys(scene))[0]?.expires_at).toBe(1_700_000_000 + 30 * 24 * 60 * 60)
    expect((await scene.sluice('keys', 'extend', prefix, '0')).exitCode).toBe(2)
  })
})

describe('sluice keys', () => {
  it('creates, lists, gives a tier and revokes', async () => {
    const scene = createOperatorScene()
    const { output } = scene
    const { id, key_prefix: prefix } = await createKey(scene, '--name', 'CI', '--expires-in-days', '30')
    const row = {
      id,
      prefix,
      name: 'CI',
      owner: '-',
      'last used': 'never',
      created: '2023-11-14',
      expires: '2023-12-14',
    }
    expect(readRow(await output('keys', 'list'), 0)).toEqual({
      ...row,
      tier: 'free',
      active: 'yes',
      rpm: '60',
    })

    expect(await output('keys', 'set-tier', prefix, 'pro')).toBe(
      `Key ${prefix} (${id}) has tier pro now, 1000 requests per minute.`,
    )
    expect(readRow(await output('keys', 'list'), 0)).toEqual({
      ...row,
      tier: 'pro',
      active: 'yes',
      rpm: '1000',
    })

    expect(await output('keys', 'revoke', id)).toBe(`Key ${prefix} (${id}) is revoked.`)
    expect(readRow(await output('keys', 'list'), 0)).toEqual({
      ...row,
      tier: 'pro',
      active: 'no',
      rpm: '1000',
    })
  })

  it('works beside a server that has the database open, from its next request on', async () => {
    const scene = createOperatorScene()
    const { authenticator } = await scene.openServer()
    const { id, key, key_prefix: prefix } = await createKey(scene, '--tier', 'pro', '--rate-limit-rpm', '7')
    expect(await authenticator.authenticate(key)).toMatchObject({
      keyId: id,
      tier: 'pro',
      customRateLimitRpm: 7,
    })
    await scene.output('keys', 'set-tier', prefix, 'free')
    expect(await authenticator.authenticate(key)).toMatchObject({ tier: 'free', customRateLimitRpm: 7 })
    await scene.output('keys', 'revoke', prefix)
    expect(await authenticator.authenticate(key)).toBeNull()
  })

  it('leaves the database file alone in its folder', async () => {
    const scene = createOperatorScene()
    await createKey(scene)
    await scene.sluice('keys', 'revoke', 'nobody')
    expect(readdirSync(scene.folder)).toEqual(['api.db'])
  })
})

describe('sluice keys create', () => {
  it('shows the secret once, to a person', async () => {
    const scene = createOperatorScene()
    const server = await scene.openServer()
    const printed = await scene.output('keys', 'create', '--name', 'CI', '--rate-limit-rpm', '5')
    const secrets = printed.match(/sk-svc-[0-9a-f]{64}/g) ?? []
    expect(secrets).toHaveLength(1)
    const [secret = ''] = secrets
    expect(await server.authenticator.authenticate(secret)).not.toBeNull()
    expect(printed.split('\n').slice(4)).toEqual([
      expect.stringMatching(/^id {19}[0-9a-f-]{36}$/),
      'name                 CI',
      'tier                 free',
      'requests per minute  5',
      'owner                -',
      'expires              never',
    ])
    const later = await Promise.all([scene.output('keys', 'list'), scene.output('keys', 'list', '--json')])
    expect(later.join('\n')).not.toContain(secret)
    expect(readFileSync(scene.file).includes(secret)).toBe(false)
  })

  it('prints the fields of the admin API as JSON, and the owner', async () => {
    const scene = createOperatorScene()
    const { userId } = await (await scene.openServer()).registered('Ada@Example.org')
    const key = await createKey(scene, '--user', 'ada@example.ORG', '--expires-in-days', '3650')
    const {
      key_prefix: _,
      email,
      last_used,
      team_id,
      daily_token_budget,
      monthly_token_budget,
      ...fields
    } = key
    expect([last_used, team_id, daily_token_budget, monthly_token_budget]).toEqual([null, null, null, null])
    expect(adminCreatedKey.strict().parse(fields)).toEqual(fields)
    expect(email).toBe('Ada@Example.org')
    expect(key.user_id).toBe(userId)
    expect(key.expires_at).toBe(key.created_at + 3650 * (DAY_MS / 1000))
    const listed = (await listKeys(scene)).at(-1)
    const { email: listedEmail, ...row } = listed ?? key
    expect(adminKey.strict().parse(row)).toEqual(row)
    expect(listedEmail).toBe('Ada@Example.org')
  })

  it('takes the owner by id as well, and keeps to what the owner may have', async () => {
    const scene = createOperatorScene()
    const { userId } = await (await scene.openServer()).registered('ada@example.org')
    expect((await createKey(scene, '--user', userId)).email).toBe('ada@example.org')
    // Registering has made one key already.
    const third = await scene.sluice('keys', 'create', '--user', userId)
    expect(third).toEqual({
      exitCode: 1,
      printed: '',
      complaints: [
        "sluice: An account of tier 'free' may have at most 2 active keys, and this one has 2; revoke one first.",
      ],
    })
  })

  it.each([
    [
      ['--name', 'a'.repeat(65)],
      /^sluice: --name must be at most 64 characters without a null character, but was 'a/,
    ],
    [['--name', 'a\0b'], /^sluice: --name must be at most 64 characters without a null character/],
    [['--tier', 'gold'], /^sluice: --tier must be one of free, pro, enterprise, but was 'gold'\.$/],
    [
      ['--expires-in-days', '0'],
      /^sluice: --expires-in-days must be a whole number from 1 to 3650, but was '0'\.$/,
    ],
    [['--expires-in-days', '3651'], /from 1 to 3650, but was '3651'/],
    [
      ['--rate-limit-rpm', '1.5'],
      /^sluice: --rate-limit-rpm must be a whole number from 1 to 1000000, but was '1\.5'/,
    ],
    [['--rate-limit-rpm', '1000001'], /from 1 to 1000000/],
    [['--user', ''], /^sluice: --user must be the id or the e-mail address of a user, but was ''\.$/],
  ])('refuses %j with 2 and makes nothing', async (words, complaint) => {
    const scene = createOperatorScene()
    const { exitCode, printed, complaints } = await scene.sluice('keys', 'create', ...words)
    expect([exitCode, printed, complaints.length]).toEqual([2, '', 1])
    expect(complaints[0]).toMatch(complaint)
    expect(readdirSync(scene.folder)).toEqual([])
  })

  it('counts the name in code points', async () => {
    const scene = createOperatorScene()
    expect((await createKey(scene, '--name', '🔑'.repeat(64))).name).toBe('🔑'.repeat(64))
  })
})

describe('what is printed once', () => {
  it.each([
    ['key', ['keys', 'create'], ['keys', 'revoke']],
    ['user', ['users', 'create', 'a@b.org'], ['users', 'delete']],
  ])('names the %s that nobody can use where it cannot be written', async (subject, made, ended) => {
    const scene = createOperatorScene({ losesOutput: true })
    const { complaints } = await scene.sluice(...made)

    const named = new RegExp(
      `^sluice: ${subject} (\\S+) was made, and its secret cannot be shown again: '(.*)' ends it\\.$`,
    ).exec(complaints.join('\n'))
    expect(named?.[2]).toBe(`sluice ${ended.join(' ')} ${named?.[1]}`)
    expect(await scene.sluice(...ended, named?.[1] ?? '')).toMatchObject({ exitCode: 0, complaints: [] })
  })
})

describe('sluice keys list', () => {
  it("gives one user's keys, and everyone's with their owners", async () => {
    const scene = createOperatorScene()
    const server = await scene.openServer()
    const ada = await server.registered('ada@example.org')
    await server.registered('bob@example.org', 'pro')
    await createKey(scene)
    const owners = (await listKeys(scene)).map(({ email }) => email)
    expect(owners).toHaveLength(3)
    expect(new Set(owners)).toEqual(new Set(['ada@example.org', 'bob@example.org', null]))
    const [own, ...others] = await listKeys(scene, '--user', ' ADA@example.org')
    expect(own?.user_id).toBe(ada.userId)
    expect(others).toEqual([])
    expect(readRow(await scene.output('keys', 'list', '--user', ada.userId), 0)['owner']).toBe(
      'ada@example.org',
    )
  })

  it('shows an expired key as not active', async () => {
    const scene = createOperatorScene()
    await createKey(scene, '--expires-in-days', '1')
    expect((await listKeys(scene))[0]?.is_active).toBe(true)
    scene.clock.advance(DAY_MS)
    expect((await listKeys(scene))[0]?.is_active).toBe(false)
  })

  it('says that there are no keys', async () => {
    const scene = createOperatorScene()
    await scene.openServer()
    expect(await scene.output('keys', 'list')).toBe('There are no keys.')
    expect(await scene.output('keys', 'list', '--json')).toBe('{"keys":[],"count":0}')
  })

  it('shows what would move the cursor, and keeps it exact in JSON', async () => {
    const scene = createOperatorScene()
    const name = '\u001b[2J\u009b31m\r\nroot\u202e'
    const shown = String.raw`\u001b[2J\u009b31m\u000d\u000aroot\u202e`
    const created = await scene.output('keys', 'create', '--name', name)
    expect(created).toContain(`name                 ${shown}\n`)
    expect(created).not.toContain('\u001b')
    expect(readRow(await scene.output('keys', 'list'), 0)['name']).toBe(shown)
    expect(await scene.output('keys', 'list', '--json')).not.toMatch(/\p{C}/u)
    expect((await listKeys(scene))[0]?.name).toBe(name)
  })
})

describe('naming a key', () => {
  it.each(['revoke', 'set-tier'])('%s says that there is none', async (action) => {
    const scene = createOperatorScene()
    await createKey(scene)
    const words = action === 'revoke' ? [] : ['pro']
    expect(await scene.sluice('keys', action, 'sk-svc-', ...words)).toEqual({
      exitCode: 1,
      printed: '',
      complaints: ["sluice: Key 'sk-svc-' was not found."],
    })
  })

  it('asks for the id when keys share a prefix', async () => {
    const scene = createOperatorScene()
    const { database } = await scene.openServer()
    const one = await createKey(scene)
    const other = await createKey(scene)
    await database.updateTable('api_keys').set({ key_prefix: one.key_prefix }).execute()
    const { exitCode, complaints } = await scene.sluice('keys', 'revoke', one.key_prefix)
    expect(exitCode).toBe(1)
    const ids = [one.id, other.id].sort().join(', ')
    expect(complaints).toEqual([
      `sluice: 2 keys have the prefix '${one.key_prefix}'; give the id of one: ${ids}.`,
    ])
    expect((await listKeys(scene)).every(({ is_active: isActive }) => isActive)).toBe(true)
    await scene.output('keys', 'revoke', one.id)
    expect((await listKeys(scene)).filter(({ is_active: isActive }) => isActive)).toMatchObject([
      { id: other.id },
    ])
  })

  it('tells a key that is revoked already from one that is not there', async () => {
    const scene = createOperatorScene()
    const { id, key_prefix: prefix } = await createKey(scene)
    await scene.output('keys', 'revoke', id)
    expect(await scene.sluice('keys', 'revoke', id)).toMatchObject({
      exitCode: 1,
      complaints: [`sluice: Key ${prefix} (${id}) is revoked already.`],
    })
    const { records } = JSON.parse(await scene.output('audit', '--action', 'key.revoke', '--json'))
    expect(records.map((record: { status: number }) => record.status).toSorted()).toEqual([200, 404])
  })

  it('does not repeat a whole secret', async () => {
    const scene = createOperatorScene()
    const { key } = await createKey(scene)
    const { exitCode, complaints } = await scene.sluice('keys', 'revoke', key)
    expect(exitCode).toBe(2)
    expect(complaints).toEqual([
      'sluice: The key must be the id or the prefix of a key, but is a whole secret.',
    ])
  })

  it.each(SQL_INJECTIONS)('takes %s as text and nothing else', async (text) => {
    const scene = createOperatorScene()
    const { id } = await createKey(scene, '--name', text)
    expect(await scene.sluice('keys', 'revoke', text)).toMatchObject({
      exitCode: 1,
      complaints: [`sluice: Key '${text}' was not found.`],
    })
    expect(await scene.sluice('keys', 'list', '--user', text)).toMatchObject({
      exitCode: 1,
      complaints: [`sluice: User '${text}' does not exist.`],
    })
    expect(await listKeys(scene)).toMatchObject([{ id, name: text, is_active: true }])
  })
})

describe('the database', () => {
  it.each([
    [['keys', 'list']],
    [['keys', 'revoke', 'x']],
    [['keys', 'set-tier', 'x', 'pro']],
    [['keys', 'create', '--user', 'ada@example.org']],
    [['users', 'list']],
    [['users', 'set-tier', 'x', 'pro']],
  ])('is not made by %j', async (words) => {
    const scene = createOperatorScene()
    const { exitCode, complaints } = await scene.sluice(
      ...words,
      '--data-dir',
      path.join(scene.folder, 'data'),
    )
    expect(exitCode).toBe(1)
    expect(complaints).toEqual([
      `sluice: There is no database of accounts and keys at '${scene.file}' (--api-db, --data-dir); ` +
        "the server makes it, and 'sluice keys create' does.",
    ])
    expect(readdirSync(scene.folder)).toEqual([])
  })

  it('is found as the server finds it: command line, environment, file, data folder', async () => {
    const scene = createOperatorScene({ env: {} })
    const dataDir = path.join(scene.folder, 'data')
    await createKey(scene, '--data-dir', dataDir, '--name', 'in the data folder')
    expect(existsSync(path.join(dataDir, 'api.db'))).toBe(true)
    await createKey(scene, '--api-db', scene.file, '--name', 'in a file')
    const config = path.join(scene.folder, 'sluice.yaml')
    writeFileSync(config, `dataDir: ${dataDir}\n`)
    expect(await listKeys(scene, '--config', config)).toMatchObject([{ name: 'in the data folder' }])
    const both = ['--config', config, '--api-db', scene.file]
    expect(await listKeys(scene, ...both)).toMatchObject([{ name: 'in a file' }])
  })

  it("does not care about the server's other options, nor read its secrets", async () => {
    const env = { SLUICE_PORT: 'many', SLUICE_ADMIN_KEY: '@/no/such/file', SLUICE_WORKERS: '2' }
    const scene = createOperatorScene({ env })
    expect((await createKey(scene, '--api-db', scene.file)).tier).toBe('free')
  })

  it.each([
    [
      ':memory:',
      "sluice: The database of accounts and keys ':memory:' (--api-db) is the server's alone; give a file.",
    ],
  ])('cannot be %s', async (location, complaint) => {
    const scene = createOperatorScene()
    expect(await scene.sluice('keys', 'create', '--api-db', location)).toEqual({
      exitCode: 2,
      printed: '',
      complaints: [complaint],
    })
  })

  it('names a PostgreSQL that cannot be reached without its password', async () => {
    const url = 'postgres://me:top-secret@127.0.0.1:1/db?password=top-secret'
    expect(await createOperatorScene().sluice('keys', 'create', '--api-db', url)).toEqual({
      exitCode: 1,
      printed: '',
      complaints: [
        "sluice: The database of accounts and keys 'postgres://me@127.0.0.1:1/db' (--api-db) cannot be used: nothing listens there.",
      ],
    })
  })

  it('is left as it was when it is something else', async () => {
    const scene = createOperatorScene()
    writeFileSync(scene.file, 'Dear diary, '.repeat(500))
    expect(await scene.sluice('keys', 'list')).toMatchObject({
      exitCode: 1,
      complaints: [
        `sluice: The database of accounts and keys '${scene.file}' (--api-db) cannot be used: it is not a SQLite database.`,
      ],
    })
    expect(readFileSync(scene.file, 'utf8')).toBe('Dear diary, '.repeat(500))
    expect(readdirSync(scene.folder)).toEqual(['api.db'])
  })

  it('says in a sentence why it failed in the midst of the work', async () => {
    const scene = createOperatorScene()
    const { database } = await scene.openServer()
    await createKey(scene)
    await database.schema.dropTable('api_keys').execute()
    const { exitCode, complaints } = await scene.sluice('keys', 'list')
    expect(exitCode).toBe(1)
    expect(complaints).toEqual([
      `sluice: The database of accounts and keys '${scene.file}' (--api-db) failed: no such table: api_keys.`,
    ])
  })

  it('needs a data folder that can be made', async () => {
    const scene = createOperatorScene({ env: {} })
    mkdirSync(path.join(scene.folder, 'data'))
    const file = path.join(scene.folder, 'data', 'a-file')
    writeFileSync(file, '')
    const create = (dataDir: string) => scene.sluice('keys', 'create', '--data-dir', dataDir)
    expect(await create(file)).toMatchObject({
      exitCode: 1,
      complaints: [`sluice: The data folder '${file}' (--data-dir) cannot be made: it is a file.`],
    })
    expect((await create(path.join(file, 'sub'))).complaints[0]).toMatch(/: a part of its path is a file\.$/)
  })
})

describe('sluice keys rename', () => {
  it('takes the key by its prefix, and an empty name too', async () => {
    const scene = createOperatorScene()
    const { keys, registered, credentialOf } = await scene.openServer()
    const { keyId } = await credentialOf((await registered()).keySecret)
    const { keyPrefix } = await keys.get(keyId)

    expect(await scene.output('keys', 'rename', keyPrefix, 'ci robot')).toBe(
      `Key ${keyPrefix} (${keyId}) is called 'ci robot' now.`,
    )
    expect((await keys.get(keyId)).name).toBe('ci robot')
    await scene.output('keys', 'rename', keyId, '')
    expect((await keys.get(keyId)).name).toBe('')
    expect(await scene.sluice('keys', 'rename', keyId, 'x'.repeat(65))).toMatchObject({ exitCode: 2 })
    expect(await scene.sluice('keys', 'rename', 'sk-svc-none', 'x')).toMatchObject({
      exitCode: 1,
      complaints: ["sluice: Key 'sk-svc-none' was not found."],
    })
  })
})
