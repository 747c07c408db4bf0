import { describe, expect, it } from 'vitest'
import { hashSecret, isKeySecret, newKeySecret, shownPrefix } from './key-secret.ts'

describe('newKeySecret', () => {
  it('is the prefix and 64 hex characters, never the same twice', () => {
    const secrets = Array.from({ length: 100 }, newKeySecret)

    expect(secrets.every((secret) => /^sk-svc-[0-9a-f]{64}$/.test(secret))).toBe(true)
    expect(new Set(secrets).size).toBe(100)
    expect(secrets.every(isKeySecret)).toBe(true)
  })
})

describe('isKeySecret', () => {
  const hex = 'a1'.repeat(32)

  it.each([
    '',
    hex,
    `sk-svc-${hex.slice(1)}`,
    `sk-svc-${hex}0`,
    `sk-svc-${hex.toUpperCase()}`,
    `SK-SVC-${hex}`,
    `sk-svc-${hex}\n`,
  ])('is false for %j', (secret) => {
    expect(isKeySecret(secret)).toBe(false)
  })
})

describe('shownPrefix', () => {
  it('is 15 characters of which 8 are hex', () => {
    expect(shownPrefix(`sk-svc-${'0123456789abcdef'.repeat(4)}`)).toBe('sk-svc-01234567')
  })
})

describe('hashSecret', () => {
  it('is SHA-256 in hex', () => {
    expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})
