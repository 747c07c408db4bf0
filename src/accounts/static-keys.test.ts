import { describe, expect, it } from 'vitest'
import { createOpenAuthenticator, createStaticKeyAuthenticator } from './authenticator.ts'

describe('createStaticKeyAuthenticator', () => {
  it('makes every given secret a key of the operator, tier enterprise', async () => {
    const authenticator = createStaticKeyAuthenticator(['one', 'ключ'], 'salt')

    const one = await authenticator.authenticate('one')
    const two = await authenticator.authenticate('ключ')

    const operator = { accountId: 'operator', userId: null, kind: 'static', tier: 'enterprise' }
    expect(one).toMatchObject({ ...operator, customRateLimitRpm: null, limitId: one?.keyId })
    expect(two).toMatchObject({ ...operator, customRateLimitRpm: null, limitId: two?.keyId })
    expect(one?.keyId).not.toBe(two?.keyId)
  })

  it.each([null, '', 'One', 'one ', 'two'])('knows nothing of %j', async (secret) => {
    expect(await createStaticKeyAuthenticator(['one'], 'salt').authenticate(secret)).toBeNull()
  })

  it('gives a key the same id wherever it stands in the list', async () => {
    const first = await createStaticKeyAuthenticator(['a', 'b'], 'salt').authenticate('b')
    const second = await createStaticKeyAuthenticator(['b', 'a'], 'salt').authenticate('b')

    expect(first).toEqual(second)
  })

  it('never keeps a secret in an id', async () => {
    const credential = await createStaticKeyAuthenticator(['plain-secret'], 'salt').authenticate(
      'plain-secret',
    )

    expect(JSON.stringify(credential)).not.toContain('plain')
  })

  it('gives a key another id under another salt', async () => {
    const first = await createStaticKeyAuthenticator(['a'], 'one').authenticate('a')
    const second = await createStaticKeyAuthenticator(['a'], 'two').authenticate('a')

    expect(first?.keyId).not.toBe(second?.keyId)
  })

  it('refuses an empty secret', () => {
    expect(() => createStaticKeyAuthenticator(['a', ''], 'salt')).toThrow('An API key must not be empty.')
  })
})

describe('createOpenAuthenticator', () => {
  it.each([null, 'anything'])('takes %j for the operator', async (secret) => {
    expect(await createOpenAuthenticator().authenticate(secret)).toMatchObject({
      accountId: 'operator',
      kind: 'open',
    })
  })
})
