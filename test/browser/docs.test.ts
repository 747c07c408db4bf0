/** The page of the API's documentation. */
import { expect, it } from 'vitest'
import { expectAccessible, openTab } from '../support/browser/console.ts'
import { shared } from '../support/shared.ts'

const tab = shared(openTab)

it('tries the example of a chat, with a key that is kept nowhere', async () => {
  const page = await tab().visit('/#/keys')
  await page.getByRole('button', { name: 'New key' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('for the docs')
  await page.getByRole('button', { name: 'Make the key' }).click()
  const secret = await page.getByRole('dialog').locator('.secret code').innerText()

  await page.goto(new URL('/docs', page.url()).href)
  await page.getByRole('button', { name: 'Authorize' }).first().click()
  await page.getByLabel('auth-bearer-value').first().fill(secret)
  await page.getByRole('button', { name: 'Apply credentials' }).first().click()
  await page.getByRole('button', { name: 'Close', exact: true }).first().click()
  const operation = page.locator('#operations-Generation-createChatCompletion')
  await operation.getByRole('button').first().click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  const answered = page.waitForResponse('**/v1/chat/completions')
  await operation.getByRole('button', { name: 'Execute' }).click()
  expect((await answered).status()).toBe(200)
  await operation.getByText('"chat.completion"').first().waitFor()
  // Of the operations that are closed, too: once, as the page is large.
  await expectAccessible(page)

  const stored = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  )
  expect(stored).not.toContain(secret)
})
