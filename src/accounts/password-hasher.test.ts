import { describe, expect, it } from 'vitest'
import { CHEAP_ARGON2, codeOf } from '../../test/support/servers/account-services.ts'
import { PasswordHasher } from './password-hasher.ts'

const LINE = '192.0.2.1'

describe('PasswordHasher', () => {
  it('hashes with argon2id, 19 MiB, 2 passes and 1 lane', async () => {
    const passwords = new PasswordHasher()

    const passwordHash = await passwords.hash('correct horse', LINE)

    expect(passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(await passwords.verify('correct horse', passwordHash, LINE)).toBe(true)
  })

  it('takes the password as it is, with its spaces and its case', async () => {
    const passwords = new PasswordHasher(CHEAP_ARGON2)
    const passwordHash = await passwords.hash(' Pässwörd ', LINE)

    expect(await passwords.verify(' Pässwörd ', passwordHash, LINE)).toBe(true)
    expect(await passwords.verify('Pässwörd', passwordHash, LINE)).toBe(false)
    expect(await passwords.verify(' pässwörd ', passwordHash, LINE)).toBe(false)
  })

  it('never gives two users one hash', async () => {
    const passwords = new PasswordHasher(CHEAP_ARGON2)

    expect(await passwords.hash('correct horse', LINE)).not.toBe(await passwords.hash('correct horse', LINE))
  })

  it.each([
    [128, true],
    [129, false],
  ])('counts code points: a password of %i matches %s', async (length, canMatch) => {
    const passwords = new PasswordHasher(CHEAP_ARGON2)
    const password = '🔑'.repeat(length)

    expect(await passwords.verify(password, await passwords.hash(password, LINE), LINE)).toBe(canMatch)
  })

  it.each(['', 'correct horse'])('knows no password of a user that there is not: %j', async (password) => {
    expect(await new PasswordHasher(CHEAP_ARGON2).verify(password, null, LINE)).toBe(false)
  })

  it('turns away what would wait too long, for a second', async () => {
    const passwords = new PasswordHasher(CHEAP_ARGON2)
    const hashed = Array.from({ length: 513 }, () => passwords.hash('correct horse', LINE))

    const refused = passwords.hash('correct horse', LINE)

    await expect(refused).rejects.toMatchObject({ code: 'password_queue_full', retryAfterSeconds: 1 })
    expect(await Promise.all(hashed)).toHaveLength(513)
  })

  it('takes the lines of addresses in turn, so that three that ask for ever keep no fourth waiting', async () => {
    let isVictimChecked = false
    let othersBefore = 0
    const passwords = new PasswordHasher(CHEAP_ARGON2, async () => {
      if (!isVictimChecked) othersBefore++
      return true
    })
    const passwordHash = await passwords.hash('correct horse', LINE)
    const check = (line: string) => passwords.verify('correct horse', passwordHash, line).catch(() => false)
    const crowd = Array.from({ length: 600 }, (_, turn) => check(`192.0.2.${10 + (turn % 3)}`))

    const victim = passwords.verify('correct horse', passwordHash, LINE).then((isRight) => {
      isVictimChecked = true
      return isRight
    })

    expect(await victim).toBe(true)
    // The one under way when the victim came, one of each line, and its own.
    expect(othersBefore).toBeLessThanOrEqual(6)
    const answers = await Promise.all(crowd)
    expect(answers.filter((isRight) => isRight).length).toBeGreaterThanOrEqual(512)
  })

  it('checks a password while a crowd waits for new ones, and the other way round', async () => {
    const passwords = new PasswordHasher(CHEAP_ARGON2)
    const passwordHash = await passwords.hash('correct horse', LINE)
    const crowd = Array.from({ length: 513 }, () => passwords.hash('correct horse', LINE))

    expect(await passwords.verify('correct horse', passwordHash, LINE)).toBe(true)
    await Promise.all(crowd)
    const checks = Array.from({ length: 513 }, () => passwords.verify('correct horse', passwordHash, LINE))
    expect(await codeOf(passwords.verify('correct horse', null, LINE))).toBe('password_queue_full')
    expect(await passwords.hash('correct horse', LINE)).toMatch(/^\$argon2id/)
    await Promise.all(checks)
  })
})
