import { describe, expect, it } from 'vitest'
import { emailKey, trimEmail } from './email.ts'

describe('emailKey', () => {
  it.each([
    ['Ada@Example.ORG', 'ada@example.org'],
    ['  ada@example.org\n', 'ada@example.org'],
    ['JOSE\u0301@example.org', 'jos\u00e9@example.org'],
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

describe('trimEmail', () => {
  it('leaves the case as it was written', () => {
    expect(trimEmail(' Ada@Example.org ')).toBe('Ada@Example.org')
  })
})
