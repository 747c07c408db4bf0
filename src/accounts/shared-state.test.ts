import { expect, it } from 'vitest'
import {
  ADDRESS,
  type AccountServices,
  codeOf,
  createAccountServices,
  PASSWORD,
} from '../../test/support/servers/account-services.ts'
import { distantState } from '../../test/support/servers/distant-state.ts'

const KEY = { name: '', expiresInDays: null }

it('no service waits for the shared state in a transaction, which others would have to wait for', async () => {
  let questions = 0
  // Deadlocks when the one who asks holds the database.
  const useDatabase = async (): Promise<void> => {
    questions++
    await services.database
      .transaction()
      .execute((transaction) => transaction.selectFrom('users').select('id').execute())
  }
  const services: AccountServices = await createAccountServices({
    wrapShared: (shared) => distantState(shared, useDatabase),
  })
  const { accounts, keys, credentialOf, registered } = services

  const { userId, email, keySecret } = await registered()
  const login = await accounts.login({ email, password: PASSWORD }, ADDRESS)
  expect(await codeOf(accounts.login({ email, password: 'wrong' }, ADDRESS))).toBe('invalid_login')
  const session = await credentialOf(login.keySecret)
  await accounts.changePassword(
    session,
    { currentPassword: PASSWORD, newPassword: `new ${PASSWORD}` },
    ADDRESS,
  )
  const owner = await credentialOf(keySecret)
  const { record } = await keys.create(owner, KEY)
  await keys.revoke(owner, record.id)
  const granted = await keys.createFor({ ...KEY, tier: 'pro', userId })
  await keys.change(granted.record.id, { tier: 'free' })
  await keys.revokeAny(granted.record.id)
  await accounts.changeUser(userId, { disabled: true })
  await accounts.deleteUser(userId)

  // Three checks of a password, of which each begins and ends; one window opened and two revoked.
  expect(questions).toBe(9)
})
