import { describe, expect, it } from 'vitest'
import { createOpenAuthenticator, createStaticKeyAuthenticator } from './static-keys.ts'

describe('createStaticKeyAuthenticator', () => {
  it('makes every given secret a key of the operator, tier enterprise', async () => {
    const authenticator = createStaticKeyAuthenticator(['one', 'ключ'])

    const one = await authenticator.authenticate('one')
    const two = await authenticator.authenticate('ключ')

    const operator = { accountId: 'operator', userId: null, kind: 'static', tier: 'enterprise' }
    expect(one).toMatchObject({ ...operator, customRateLimitRpm: null, limitId: one?.keyId })
    expect(two).toMatchObject({ ...operator, customRateLimitRpm: null, limitId: two?.keyId })
    expect(one?.keyId).not.toBe(two?.keyId)
  })

  it.each([null, '', 'One', 'one ', 'two'])('knows nothing of %j', async (secret) => {
    expect(await createStaticKeyAuthenticator(['one']).authenticate(secret)).toBeNull()
  })

  it('gives a key the same id wherever it stands in the list', async () => {
    const first = await createStaticKeyAuthenticator(['a', 'b']).authenticate('b')
    const second = await createStaticKeyAuthenticator(['b', 'a']).authenticate('b')

    expect(first).toEqual(second)
  })

  it('never keeps a secret in an id', async () => {
    const credential = await createStaticKeyAuthenticator(['plain-secret']).authenticate('plain-secret')

    expect(JSON.stringify(credential)).not.toContain('plain')
  })

  it('refuses an empty secret', () => {
    expect(() => createStaticKeyAuthenticator(['a', ''])).toThrow('An API key must not be empty.')
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
