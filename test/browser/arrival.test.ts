/** Ways into the console: the link of a start, the first admin, sign-in and sign-out, and a server that is away. */
import { expect, it } from 'vitest'
import { ADMIN, startConsoleServer } from '../support/browser/console-server.ts'
import { expectAccessible, openTab, signIn } from '../support/browser/console.ts'

it('opens the playground by the link of the start, makes the admin of the guest, who signs out and in', async () => {
  // A data folder of its own, and the passthrough model, which is there at once.
  const { address, link } = await startConsoleServer()
  const path = link.slice(address.length)
  const tab = await openTab({ address, as: null })
  const page = await tab.visit(path)
  await page.getByRole('heading', { name: /Make the admin account/ }).waitFor()
  expect(page.url()).not.toContain('token')
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Try the playground first' }).click()
  await page.getByLabel('Message', { exact: true }).fill('Hello!')
  await page.keyboard.press('Enter')
  await page.getByText(/to the first token/).waitFor()

  await page.reload()
  await page.getByRole('button', { name: 'Make the admin account' }).click()
  await page.getByLabel('E-mail').fill(ADMIN.email)
  await page.getByLabel('Password').fill(ADMIN.password)
  await page.getByRole('button', { name: 'Make the account' }).click()
  await page.getByText('enterprise, admin').waitFor()
  const stored = await page.evaluate('({ ...localStorage, ...sessionStorage })')
  expect(stored).toEqual({ 'sluice-theme': 'system' })
  expect(await page.evaluate('document.cookie')).toBe('')

  await page.getByRole('button', { name: 'Account and display' }).click()
  await page.getByRole('button', { name: 'Dark' }).click()
  expect(await page.evaluate('getComputedStyle(document.body).colorScheme')).toBe('dark')
  await page.getByLabel('Present password').fill(ADMIN.password)
  await page.getByLabel('New password').fill('another-password')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Change' }).click()
  await page.getByText('The password is changed').first().waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Account and display')
  await page.getByRole('button', { name: 'Account and display' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()

  // Of a visitor, too, the browser's console has nothing to say.
  await tab.visit()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await tab.visit(path, { expected: /401/ })
  await page.getByText('This link is wrong').waitFor()
  await expectAccessible(page)
  await signIn(page, ADMIN)
  await page.getByText('The e-mail address or the password is wrong.').waitFor()
  await signIn(page, { ...ADMIN, password: 'another-password' })
  await page.getByText('enterprise, admin').waitFor()
})

it('shows nothing of a session to the one who signs in next', async () => {
  const tab = await openTab({ as: null })
  const page = await tab.visit()
  await signIn(page, ADMIN)
  await page.getByLabel('System prompt').fill('Answer as a pirate.')
  await page.getByLabel('Max tokens').fill('5')
  await page.getByLabel('Message', { exact: true }).fill('My secret')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Regenerate' }).waitFor()
  await page.getByLabel('Message', { exact: true }).fill('Not sent')

  await page.getByRole('button', { name: 'Account and display' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.content()).not.toContain('My secret')
  await signIn(page, ADMIN)
  await page.getByText(/^Ask .* something$/).waitFor()
  const fields = ['Message', 'System prompt', 'Max tokens'].map((label) =>
    page.getByLabel(label, { exact: true }).inputValue(),
  )
  expect(await Promise.all(fields)).toEqual(['', '', ''])
})

it('says that a page could not be loaded, and loads it anew', async () => {
  const tab = await openTab()
  const page = await tab.visit('/', { expected: /ERR_/ })
  await page.route('**/assets/keys-*.js', (route) => route.abort())
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.getByText('This page could not be loaded').waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.unroute('**/assets/keys-*.js')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
})

it('asks to sign in again when the session ends, and says that the server cannot be reached until it can', async () => {
  const tab = await openTab()
  const page = await tab.visit('/', { expected: /401|ERR_/ })
  await page.getByLabel('Message', { exact: true }).waitFor()
  await page.context().clearCookies()
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.getByText('Your session has ended.').waitFor()
  await signIn(page, ADMIN)
  await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()

  await page.route('**/v1/**', (route) => route.abort())
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByText('What you see may be out of date.').waitFor()
  await expectAccessible(page)
  await page.unroute('**/v1/**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('What you see may be out of date.').waitFor({ state: 'hidden' })
})
