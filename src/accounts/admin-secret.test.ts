import { describe, expect, it } from 'vitest'
import { createAdminCheck } from './admin-secret.ts'

describe('createAdminCheck', () => {
  it('knows the admin key', () => {
    expect(createAdminCheck('ädmin key')?.('ädmin key')).toBe(true)
  })

  it.each([null, '', 'admin', 'admin-key ', 'Admin-key', 'admin-key-and-more'])('refuses %j', (secret) => {
    expect(createAdminCheck('admin-key')?.(secret)).toBe(false)
  })

  it('has no admin without a key', () => {
    expect(createAdminCheck(null)).toBeNull()
  })

  it('refuses an empty key', () => {
    expect(() => createAdminCheck('')).toThrow('The admin key must not be empty.')
  })
})
