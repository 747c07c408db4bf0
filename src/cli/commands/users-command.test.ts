import { describe, expect, it } from 'vitest'
import { SQL_INJECTIONS } from '../../../test/support/servers/account-services.ts'
import { createOperatorScene } from '../../../test/support/servers/operator-scene.ts'
import { userList } from '../../api/schemas/accounts.ts'

describe('sluice users list', () => {
  it('shows the registered users', async () => {
    const scene = createOperatorScene()
    const server = await scene.openServer()
    const ada = await server.registered('Ada@Example.org')
    server.clock.advance(1000)
    const bob = await server.registered('bob@example.org', 'enterprise')
    await server.accounts.changeUser(bob.userId, { disabled: true })
    expect((await scene.output('users', 'list')).split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['id', 'e-mail', 'tier', 'disabled', 'created'],
      [ada.userId, 'Ada@Example.org', 'free', 'no', '2023-11-14'],
      [bob.userId, 'bob@example.org', 'enterprise', 'yes', '2023-11-14'],
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
          disabled: false,
          created_at: 1_700_000_000.25,
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
      `User Ada@Example.org (${userId}) has tier pro now.`,
    )
    expect((await accounts.listUsers({ limit: null, cursor: null })).items).toMatchObject([{ tier: 'pro' }])
    expect(await authenticator.authenticate(keySecret)).toMatchObject({ tier: 'free' })
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
