import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { SQL_INJECTIONS } from '../../../../test/support/servers/account-services.ts'
import { createOperatorScene } from '../../../../test/support/servers/operator-scene.ts'
import { InvitationService } from '../../../accounts/sessions/invitation-service.ts'
import { userList } from '../../../api/schemas/accounts/users.ts'
import { AttemptThrottle } from '../../../limits/attempt-throttle.ts'
import { MemoryAttemptLimits } from '../../../limits/memory/attempt-limits.ts'

describe('sluice users list', () => {
  it('shows the registered users', async () => {
    const scene = createOperatorScene()
    const server = await scene.openServer()
    const ada = await server.registered('Ada@Example.org')
    server.clock.advance(1000)
    const bob = await server.registered('bob@example.org', 'enterprise')
    await server.accounts.changeUser(bob.userId, { disabled: true })
    expect((await scene.output('users', 'list')).split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['id', 'e-mail', 'tier', 'role', 'disabled', 'created'],
      [ada.userId, 'Ada@Example.org', 'free', 'user', 'no', '2023-11-14'],
      [bob.userId, 'bob@example.org', 'enterprise', 'user', 'yes', '2023-11-14'],
    ])
  })

  it('prints what the admin API answers as JSON, and no hash of a password', async () => {
    const scene = createOperatorScene()
    const server = await scene.openServer()
    const { userId } = await server.registered('ada@example.org')
    const printed = await scene.output('users', 'list', '--json')
    const listing: unknown = JSON.parse(printed)
    expect(userList.strict().parse(listing)).toEqual(listing)
    expect(listing).toEqual({
      users: [
        {
          user_id: userId,
          email: 'ada@example.org',
          tier: 'free',
          role: 'user',
          disabled: false,
          created_at: 1_700_000_000.25,
          team_id: null,
          daily_token_budget: null,
          monthly_token_budget: null,
        },
      ],
      count: 1,
    })
    expect(printed).not.toContain('argon2')
  })

  it('says that there are no users', async () => {
    const scene = createOperatorScene()
    await scene.openServer()
    expect(await scene.output('users', 'list')).toBe('There are no users.')
    expect(await scene.output('users', 'list', '--json')).toBe('{"users":[],"count":0}')
  })

  it('shows what would move the cursor, in every place where an e-mail stands', async () => {
    const scene = createOperatorScene()
    const server = await scene.openServer()
    const email = '\u001b]0;owned\u0007@example.org'
    const shown = String.raw`\u001b]0;owned\u0007@example.org`
    const { userId } = await server.registered(email)
    const printed = [
      await scene.output('users', 'list'),
      await scene.output('keys', 'list'),
      await scene.output('keys', 'create', '--user', userId),
      await scene.output('users', 'set-tier', email, 'pro'),
      ...(await scene.sluice('users', 'set-tier', `${email}x`, 'pro')).complaints,
    ]
    for (const text of printed) {
      expect(text).toContain(shown)
      expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
    }
  })
})

describe('sluice users set-tier', () => {
  it.each(['id', 'e-mail'])('takes the user by %s, and leaves the keys as they are', async (by) => {
    const scene = createOperatorScene()
    const { registered, accounts, authenticator } = await scene.openServer()
    const { userId, keySecret } = await registered('Ada@Example.org')
    const user = by === 'id' ? userId : 'ada@EXAMPLE.org'
    expect(await scene.output('users', 'set-tier', user, 'pro')).toBe(
      `User Ada@Example.org (${userId}) has tier pro now; a key keeps its tier (free), which 'users set-tier --keys' changes too.`,
    )
    expect((await accounts.listUsers({ limit: null, cursor: null })).items).toMatchObject([{ tier: 'pro' }])
    expect(await authenticator.authenticate(keySecret)).toMatchObject({ tier: 'free' })
  })

  it('changes the keys too with --keys, but no revoked one, and says how many', async () => {
    const scene = createOperatorScene()
    const { registered, keys, authenticator } = await scene.openServer()
    const { userId, keySecret, email } = await registered()
    const request = { name: '', tier: 'free', expiresInDays: null, userId } as const
    const revoked = await keys.createFor(request)
    await keys.revokeAny(revoked.record.id)
    await keys.createFor(request)
    const robot = await keys.createFor({ ...request, userId: null })

    expect(await scene.output('users', 'set-tier', userId, 'pro')).toContain(
      '; 2 keys keep theirs (free), which',
    )
    expect(await scene.output('users', 'set-tier', userId, 'pro', '--keys')).toBe(
      `User ${email} (${userId}) has tier pro now, and so have the 2 keys.`,
    )

    expect(await authenticator.authenticate(keySecret)).toMatchObject({ tier: 'pro' })
    expect(await keys.get(revoked.record.id)).toMatchObject({ tier: 'free' })
    expect(await keys.get(robot.record.id)).toMatchObject({ tier: 'free' })
    expect(await scene.output('users', 'set-tier', userId, 'pro')).toBe(
      `User ${email} (${userId}) has tier pro now.`,
    )
  })

  it('refuses a tier that there is not', async () => {
    const scene = createOperatorScene()
    expect(await scene.sluice('users', 'set-tier', 'ada@example.org', 'gold')).toEqual({
      exitCode: 2,
      printed: '',
      complaints: ["sluice: The tier must be one of free, pro, enterprise, but was 'gold'."],
    })
  })

  it.each(SQL_INJECTIONS)('takes %s as text and nothing else', async (text) => {
    const scene = createOperatorScene()
    const { registered } = await scene.openServer()
    const { userId } = await registered('ada@example.org')
    expect(await scene.sluice('users', 'set-tier', text, 'pro')).toMatchObject({
      exitCode: 1,
      complaints: [`sluice: User '${text}' does not exist.`],
    })
    expect(JSON.parse(await scene.output('users', 'list', '--json'))).toMatchObject({
      users: [{ user_id: userId, tier: 'free' }],
    })
  })
})

describe('sluice users create', () => {
  const NEW = 'new@example.org'

  it('makes a user, a password and a key, and the database where there is none', async () => {
    const scene = createOperatorScene()

    const printed = await scene.output('users', 'create', NEW, '--tier', 'pro')

    const [, secret = ''] = /^ {2}(sk-svc-[\da-f]{64})$/m.exec(printed) ?? []
    const [, password = ''] = /^ {2}([\w-]{24})$/m.exec(printed) ?? []
    expect(printed).toMatch(/^e-mail {2}new@example.org$/m)
    const { accounts, authenticator } = await scene.openServer()
    expect(await accounts.login({ email: NEW, password }, '192.0.2.1')).toMatchObject({ tier: 'pro' })
    expect(await authenticator.authenticate(secret)).toMatchObject({ tier: 'pro' })
  })

  it('takes a password, also from a file and with its blanks, and does not print it', async () => {
    const scene = createOperatorScene()
    const file = path.join(scene.folder, 'password')
    writeFileSync(file, ' with blanks \n')

    const printed = await scene.output('users', 'create', NEW, '--password', `@${file}`, '--json')
    await scene.output('users', 'create', 'other@example.org', '--password', 'right password')

    expect(JSON.parse(printed)).toEqual({
      user_id: expect.any(String),
      email: NEW,
      tier: 'free',
      api_key: expect.stringMatching(/^sk-svc-/),
    })
    const { accounts } = await scene.openServer()
    await accounts.login({ email: NEW, password: ' with blanks ' }, '192.0.2.1')
    await accounts.login({ email: 'other@example.org', password: 'right password' }, '192.0.2.1')
  })

  it.each([
    [
      ['not-an-address'],
      2,
      "The e-mail must be an e-mail address of at most 254 characters, but was 'not-an-address'.",
    ],
    [['a@b'], 2, 'The email must be an e-mail address of at most 254 characters, but was "a@b".'],
    [[NEW, '--password', 'short'], 2, 'The password must be a string of 8 to 128 characters, but has 5.'],
    [[NEW, '--password', '@/no/such/file'], 2, '--password names a file after @, but it does not exist.'],
  ])('refuses %j', async (words, exitCode, sentence) => {
    const scene = createOperatorScene()

    expect(await scene.sluice('users', 'create', ...words)).toEqual({
      exitCode,
      printed: '',
      complaints: [`sluice: ${sentence}`],
    })
  })

  it('refuses an e-mail address that is taken', async () => {
    const scene = createOperatorScene()
    await scene.output('users', 'create', NEW)

    expect(await scene.sluice('users', 'create', NEW.toUpperCase())).toMatchObject({
      exitCode: 1,
      complaints: ['sluice: The e-mail address NEW@EXAMPLE.ORG is registered already.'],
    })
  })
})

describe('sluice users set-role', () => {
  it('makes an admin and a user again, but leaves no server without its last admin', async () => {
    const scene = createOperatorScene()
    const { registered, accounts } = await scene.openServer()
    const { userId, email } = await registered()
    const other = await registered('eve@example.org')

    expect(await scene.output('users', 'set-role', email, 'admin')).toBe(
      `User ${email} (${userId}) is an admin now.`,
    )
    await expect(scene.output('users', 'set-role', email, 'user')).rejects.toThrow(/last admin/)
    await scene.output('users', 'set-role', other.userId, 'admin')
    expect(await scene.output('users', 'set-role', email, 'user')).toBe(
      `User ${email} (${userId}) is a user now.`,
    )
    expect((await accounts.findUser(email)).role).toBe('user')
  })
})

describe('sluice users disable, enable, delete', () => {
  it('hold from the next request on', async () => {
    const scene = createOperatorScene()
    const { registered, authenticator } = await scene.openServer()
    const { userId, keySecret, email } = await registered()
    const isLive = async () => (await authenticator.authenticate(keySecret)) !== null

    expect(await scene.output('users', 'disable', email)).toBe(
      `User ${email} (${userId}) is disabled: sessions have ended, and keys are refused until 'users enable'.`,
    )
    expect(await isLive()).toBe(false)
    expect(await scene.output('users', 'enable', userId)).toBe(
      `User ${email} (${userId}) is enabled: keys and logins are let in again.`,
    )
    expect(await isLive()).toBe(true)
    expect(await scene.output('users', 'delete', email)).toBe(
      `User ${email} (${userId}) is deleted, with all keys and sessions.`,
    )
    expect(await isLive()).toBe(false)
    expect(await scene.sluice('users', 'delete', email)).toMatchObject({
      exitCode: 1,
      complaints: [`sluice: User '${email}' does not exist.`],
    })
  })
})

describe('sluice users password', () => {
  it('gives a user another password, the given one or one that it prints', async () => {
    const scene = createOperatorScene()
    const { accounts, registered } = await scene.openServer()
    const { userId } = await registered('ada@example.org')
    const logsIn = (password: string) => accounts.login({ email: 'ada@example.org', password }, 'address')

    const given = await scene.output('users', 'password', 'ada@example.org', '--password', 'given-by-hand-1')
    expect(given).toBe(`User ada@example.org (${userId}) has another password now; all sessions have ended.`)
    expect(await logsIn('given-by-hand-1')).toMatchObject({ userId })

    const [made = ''] = (await scene.output('users', 'password', userId)).split(' ').slice(-1)
    expect(await logsIn(made)).toMatchObject({ userId })
    await expect(logsIn('given-by-hand-1')).rejects.toMatchObject({ code: 'invalid_login' })
  })

  it('refuses one that the API would refuse, and a user that there is not', async () => {
    const scene = createOperatorScene()
    await (await scene.openServer()).registered('ada@example.org')

    const short = await scene.sluice('users', 'password', 'ada@example.org', '--password', 'short')
    expect([short.exitCode, short.complaints.join()]).toEqual([2, expect.stringContaining('password must')])
    expect((await scene.sluice('users', 'password', 'eve@example.org')).exitCode).toBe(1)
  })
})

describe('sluice users invite', () => {
  it('prints a link for each address, and why there is none', async () => {
    const scene = createOperatorScene()
    const server = await scene.openServer()
    await server.registered('ada@example.org')
    const words = ['users', 'invite', 'bob@example.org', 'ada@example.org', '--tier', 'pro']

    const lines = (await scene.output(...words, '--url', 'https://llm.example.org/')).split('\n')

    expect(lines).toEqual([
      'Links that work once, for 7 days, shown now and never again:',
      '',
      expect.stringMatching(/^bob@example\.org {2}https:\/\/llm\.example\.org\/#invite=[\w-]{43}$/),
      expect.stringMatching(/^ada@example\.org {2}not invited: /),
    ])
  })

  it('prints JSON whose links make accounts of the tier', async () => {
    const scene = createOperatorScene()
    const { database, accounts, clock } = await scene.openServer()
    const words = ['users', 'invite', 'bob@example.org', '--tier', 'pro', '--expires-in-days', '2', '--json']
    const [made] = (JSON.parse(await scene.output(...words)) as { invitations: { link: string }[] })
      .invitations

    const token = made?.link.split('#invite=')[1] ?? ''
    const throttle = new AttemptThrottle(new MemoryAttemptLimits(clock))
    const invitations = new InvitationService({ database, accounts, throttle, clock })
    const { userId } = await invitations.accept({ token, password: 'long enough 1' }, 'address')

    expect(await accounts.findUser('bob@example.org')).toMatchObject({ userId, tier: 'pro' })
  })

  it('fails where nobody is invited', async () => {
    const scene = createOperatorScene()
    const server = await scene.openServer()
    await server.registered('ada@example.org')
    for (const format of [[], ['--json']])
      expect(await scene.sluice('users', 'invite', 'ada@example.org', ...format)).toEqual({
        exitCode: 1,
        printed: '',
        complaints: ['sluice: Nobody was invited. The e-mail address ada@example.org is registered already.'],
      })
    const { records } = JSON.parse(await scene.output('audit', '--json')) as { records: object[] }
    expect(records).toMatchObject([{ status: 409 }, { status: 409 }])
  })

  it('is in the audit log, without the link', async () => {
    const scene = createOperatorScene()
    await scene.openServer()
    await scene.output('users', 'invite', 'bob@example.org')

    const audit = await scene.output('audit', '--json')
    expect(audit).toContain('invitation.create')
    expect(audit).not.toContain('invite=')
  })

  it('refuses more addresses than the API', async () => {
    const scene = createOperatorScene()
    await scene.openServer()
    const addresses = Array.from({ length: 101 }, (_, index) => `user-${index}@example.org`)

    expect(await scene.sluice('users', 'invite', ...addresses)).toMatchObject({
      exitCode: 2,
      complaints: [expect.stringContaining('at most 100 people may be invited at once, but there are 101')],
    })
  })
})
