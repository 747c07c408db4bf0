import { describe, expect, it } from 'vitest'
import { emailKey, MAX_EMAIL_LENGTH } from './email.ts'

describe('emailKey', () => {
  it.each([
    ['Ada@Example.ORG', 'ada@example.org'],
    ['  ada@example.org\n', 'ada@example.org'],
    ['\u212angstrom@example.org', 'kngstrom@example.org'],
  ])('takes %j and %j for one', (one, other) => {
    expect(emailKey(one)).toBe(emailKey(other))
  })

  it.each([
    ['ada@example.org', 'ada@example.com'],
    ['ada@example.org', 'a da@example.org'],
    ['jose@example.org', 'jos\u00e9@example.org'],
  ])('tells %j from %j', (one, other) => {
    expect(emailKey(one)).not.toBe(emailKey(other))
  })
})

it('is quick about what is far too long to be an address, and nobody has', () => {
  const endless = `a${'\u0300'.repeat(2_000_000)}`

  expect(emailKey(endless).length).toBeGreaterThan(MAX_EMAIL_LENGTH)
  expect(emailKey(endless).length).toBeLessThan(2 * MAX_EMAIL_LENGTH)
})
