/** Ways into the console: the link of a start, the first admin, sign-in and sign-out, and a server that is away. */
import { describe, expect, it } from 'vitest'
import {
  ADMIN,
  createAdmin,
  expectAccessible,
  openPage,
  startBrowser,
  startConsoleServer,
} from '../support/browser/console.ts'
import { shared } from '../support/shared.ts'

const browser = shared(startBrowser)

describe('on a new data folder', () => {
  it('opens the playground by the link of the start, and makes the admin of the guest', async () => {
    const server = await startConsoleServer()
    const path = server.link.slice(server.address.length)
    const page = await openPage(browser(), { server, path })
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

    const late = await openPage(browser(), { server, path, expected: /401/ })
    await late.getByText('This link is wrong').waitFor()
    await expectAccessible(late)
  })
})

describe('with an admin', () => {
  const server = shared(startConsoleServer)
  const state = shared(() => createAdmin(browser(), server()))

  it('signs in and out, and tells why not', async () => {
    expect(state().cookies).toHaveLength(1)
    const page = await openPage(browser(), { server: server(), path: '/#/keys', expected: /401/ })
    await page.getByLabel('E-mail').fill(ADMIN.email)
    await page.getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The e-mail address or the password is wrong.').waitFor()
    await page.getByLabel('Password').fill(ADMIN.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()

    await page.getByRole('button', { name: 'Account and display' }).click()
    await page.getByRole('button', { name: 'Dark' }).click()
    expect(await page.evaluate('getComputedStyle(document.body).colorScheme')).toBe('dark')
    await page.getByLabel('Present password').fill(ADMIN.password)
    await page.getByLabel('New password').fill(ADMIN.password)
    await page.getByRole('button', { name: 'Change' }).click()
    await page.getByText('The password is changed').first().waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Account and display')
    await page.getByRole('button', { name: 'Account and display' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('asks to sign in again when the session ends', async () => {
    const page = await openPage(browser(), { server: server(), expected: /401/ })
    await page.getByLabel('E-mail').fill(ADMIN.email)
    await page.getByLabel('Password').fill(ADMIN.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Message', { exact: true }).waitFor()
    await page.context().clearCookies()
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByText('Your session has ended.').waitFor()
  })

  it('says that the server cannot be reached, and goes on when it can', async () => {
    const page = await openPage(browser(), { server: server(), expected: /ERR_|401/ })
    await page.getByLabel('E-mail').fill(ADMIN.email)
    await page.getByLabel('Password').fill(ADMIN.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Message', { exact: true }).waitFor()
    await page.route('**/v1/**', (route) => route.abort())
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByText('What you see may be out of date.').waitFor()
    await expectAccessible(page)
    await page.unroute('**/v1/**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('No keys yet').or(page.getByRole('article').first()).first().waitFor()
  })
})
