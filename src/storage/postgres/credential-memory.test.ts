import { describe, expect, it } from 'vitest'
import { CredentialMemory, type KnownCredential } from './credential-memory.ts'

const FRESH_MS = 500
const KNOWN_MS = 15 * 60 * 1000

const key = (id: string, userId: string | null = null): KnownCredential => ({
  kind: 'key',
  found: {
    id,
    userId,
    accountId: userId ?? id,
    tier: 'free',
    customRateLimitRpm: null,
    teamId: null,
    budgets: [],
  },
  expiresAtUnixSeconds: null,
})

const session = (id: string, userId: string): KnownCredential => ({
  kind: 'session',
  found: {
    ...{ id, userId, email: 'ada@example.org', role: 'user', expiresAtUnixSeconds: 1 },
    ...{ teamId: null, budgets: [], tiers: ['free'] },
  },
  expiresAtUnixSeconds: 1,
})

function remembering(credentials: Readonly<Record<string, KnownCredential>>, nowMs = 0): CredentialMemory {
  const memory = new CredentialMemory()
  for (const [hash, credential] of Object.entries(credentials)) {
    using reading = memory.beginReading()
    memory.remember(hash, credential, { reading, nowMs })
  }
  return memory
}

/** Of a reading that nothing has overtaken. */
function remember(memory: CredentialMemory, hash: string, credential: KnownCredential): void {
  using reading = memory.beginReading()
  memory.remember(hash, credential, { reading, nowMs: 0 })
}

describe('CredentialMemory', () => {
  it('has a credential fresh for half a second and known for fifteen minutes', () => {
    const one = key('one')
    const memory = remembering({ a: one }, 1000)

    expect(memory.findFresh('a', 1000 + FRESH_MS - 1)).toBe(one)
    expect(memory.findFresh('a', 1000 + FRESH_MS)).toBeNull()
    expect(memory.findKnown('a', 1000 + KNOWN_MS - 1)).toBe(one)
    expect(memory.findKnown('a', 1000 + KNOWN_MS)).toBeNull()
    expect([memory.findFresh('b', 1000), memory.findKnown('b', 1000)]).toEqual([null, null])
  })

  it('has nothing fresh after a change, and all of it known', () => {
    const one = key('one')
    const memory = remembering({ a: one })
    memory.markStale()

    expect([memory.findFresh('a', 0), memory.findKnown('a', 0)]).toEqual([null, one])
    remember(memory, 'a', one)
    expect(memory.findFresh('a', 0)).toBe(one)
  })

  it.each([
    ['a notice of it', (memory: CredentialMemory) => memory.forgetNamed({ table: 'api_keys', id: 'one' })],
    ['a notice of its user', (memory: CredentialMemory) => memory.forgetNamed({ table: 'users', id: 'ann' })],
    ['a change of this process', (memory: CredentialMemory) => memory.forgetAny(['x', 'one'])],
  ])('keeps nothing of a reading that %s has overtaken', (_, change) => {
    const memory = new CredentialMemory()
    using reading = memory.beginReading()
    change(memory)
    memory.remember('a', key('one', 'ann'), { reading, nowMs: 0 })

    expect(memory.findKnown('a', 0)).toBeNull()
    expect(memory.hashes).toEqual([])
  })

  it.each([
    [
      'a notice of another',
      (memory: CredentialMemory) => memory.forgetNamed({ table: 'api_keys', id: 'two' }),
    ],
    ['a change of this process', (memory: CredentialMemory) => memory.forgetAny(['two'])],
    ['notices that may be missing', (memory: CredentialMemory) => memory.markStale()],
  ])('knows what was read while %s came, and asks for it again', (_, change) => {
    const memory = new CredentialMemory()
    using reading = memory.beginReading()
    change(memory)
    const one = key('one', 'ann')
    memory.remember('a', one, { reading, nowMs: 0 })

    expect([memory.findFresh('a', 0), memory.findKnown('a', 0)]).toEqual([null, one])
  })

  it('lets no reading that a change has overtaken take the place of a later one', () => {
    const memory = new CredentialMemory()
    using early = memory.beginReading()
    memory.markStale()
    const [before, after] = [key('one'), key('one')]
    remember(memory, 'a', after)
    memory.remember('a', before, { reading: early, nowMs: 0 })

    expect(memory.findFresh('a', 0)).toBe(after)
  })

  it.each([
    ['a key by its id', { table: 'api_keys', id: 'one' }, ['b', 'c', 'd']],
    ['a session by its id', { table: 'sessions', id: 'one' }, ['a', 'b', 'd']],
    ['all of a user', { table: 'users', id: 'ann' }, ['a', 'd']],
  ] as const)('forgets %s', (_, notice, left) => {
    const memory = remembering({
      a: key('one'),
      b: key('two', 'ann'),
      c: session('one', 'ann'),
      d: session('three', 'bob'),
    })
    memory.forgetNamed(notice)

    expect(memory.hashes).toEqual(left)
    // What is left may have changed as well.
    expect(left.map((hash) => memory.findFresh(hash, 0))).toEqual(left.map(() => null))
  })

  it('holds 50,000 credentials, those that were confirmed last', () => {
    const memory = new CredentialMemory()
    for (const hash of ['first', 'second']) remember(memory, hash, key(hash))
    for (let count = 0; count < 49_998; count++) remember(memory, String(count), key(String(count)))
    for (const hash of ['first', 'one more']) remember(memory, hash, key(hash))

    expect(memory.hashes).toHaveLength(50_000)
    expect([memory.findKnown('first', 0)?.found.id, memory.findKnown('second', 0)]).toEqual(['first', null])
    memory.forget('first')
    expect(memory.findKnown('first', 0)).toBeNull()
  })
})
