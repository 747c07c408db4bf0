import { describe, expect, it } from 'vitest'
import { CHEAP_ARGON2, codeOf } from '../../test/support/servers/account-services.ts'
import { PasswordHasher } from './password-hasher.ts'

describe('PasswordHasher', () => {
  it('hashes with argon2id, 19 MiB, 2 passes and 1 lane', async () => {
    const passwords = new PasswordHasher()

    const passwordHash = await passwords.hash('correct horse')

    expect(passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(await passwords.verify('correct horse', passwordHash)).toBe(true)
  })

  it('takes the password as it is, with its spaces and its case', async () => {
    const passwords = new PasswordHasher(CHEAP_ARGON2)
    const passwordHash = await passwords.hash(' Pässwörd ')

    expect(await passwords.verify(' Pässwörd ', passwordHash)).toBe(true)
    expect(await passwords.verify('Pässwörd', passwordHash)).toBe(false)
    expect(await passwords.verify(' pässwörd ', passwordHash)).toBe(false)
  })

  it('never gives two users one hash', async () => {
    const passwords = new PasswordHasher(CHEAP_ARGON2)

    expect(await passwords.hash('correct horse')).not.toBe(await passwords.hash('correct horse'))
  })

  it.each([
    [128, true],
    [129, false],
  ])('counts code points: a password of %i matches %s', async (length, canMatch) => {
    const passwords = new PasswordHasher(CHEAP_ARGON2)
    const password = '🔑'.repeat(length)

    expect(await passwords.verify(password, await passwords.hash(password))).toBe(canMatch)
  })

  it.each(['', 'correct horse'])('knows no password of a user that there is not: %j', async (password) => {
    expect(await new PasswordHasher(CHEAP_ARGON2).verify(password, null)).toBe(false)
  })

  it('turns away what would wait too long, for a second', async () => {
    const passwords = new PasswordHasher(CHEAP_ARGON2)
    const hashed = Array.from({ length: 129 }, () => passwords.hash('correct horse'))

    const refused = passwords.hash('correct horse')

    await expect(refused).rejects.toMatchObject({ code: 'password_queue_full', retryAfterSeconds: 1 })
    expect(await Promise.all(hashed)).toHaveLength(129)
  })

  it('checks a password while a crowd waits for new ones, and the other way round', async () => {
    const passwords = new PasswordHasher(CHEAP_ARGON2)
    const passwordHash = await passwords.hash('correct horse')
    const crowd = Array.from({ length: 129 }, () => passwords.hash('correct horse'))

    expect(await passwords.verify('correct horse', passwordHash)).toBe(true)
    await Promise.all(crowd)
    const checks = Array.from({ length: 129 }, () => passwords.verify('correct horse', passwordHash))
    expect(await codeOf(passwords.verify('correct horse', null))).toBe('password_queue_full')
    expect(await passwords.hash('correct horse')).toMatch(/^\$argon2id/)
    await Promise.all(checks)
  })
})
