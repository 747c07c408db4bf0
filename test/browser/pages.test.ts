/** The pages beside the playground, each through what one does there. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { expect, inject, it, onTestFinished } from 'vitest'
import { withResolvers } from '../../src/core/concurrency/with-resolvers.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  openTab,
  PHONE,
  textOf,
} from '../support/browser/console.ts'
import { writePeftAdapter } from '../support/checkpoints/peft-adapter.ts'
import { SMALL_LLAMA } from '../support/servers/server-process.ts'
import { shared } from '../support/shared.ts'
import { until } from '../support/until.ts'

const tab = shared(openTab)

const { address } = inject('console')

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()

/** Requests of a path wait until what this returns is called. */
async function holdAnswers(page: Page, method: string, glob: string): Promise<() => void> {
  const { promise, resolve } = withResolvers<void>()
  await page.route(glob, async (route) => {
    if (route.request().method() === method) await promise
    await route.fallback()
  })
  onTestFinished(() => page.unroute(glob))
  return resolve
}

it('keys: makes, shows once, renames and revokes', async () => {
  const page = await tab().visit('/#/keys')
  await page.getByRole('button', { name: 'New key' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('build server')
  await page.getByLabel('Expires').selectOption('30')
  await page.getByLabel('Tokens a day').fill('1000')
  await expectAccessible(page)
  const answered = await holdAnswers(page, 'POST', '**/v1/keys')
  await page.getByRole('button', { name: 'Make the key' }).click()
  await page.keyboard.press('Escape')
  answered()
  const dialog = page.getByRole('dialog')
  const secret = await dialog.locator('.secret code').innerText()
  await dialog.getByRole('button', { name: 'Copy' }).click()
  await dialog.getByRole('status').getByText('Copied').waitFor()
  const request = { model: 'small-llama', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  expect(response.status).toBe(200)
  await page.getByRole('button', { name: 'Done' }).click()
  expect(await page.content()).not.toContain(secret)
  const key = page.getByRole('article', { name: 'Key build server' })
  await key.getByText('Tokens today').waitFor()

  await key.getByRole('button', { name: 'Rename' }).click()
  await page.getByLabel('Name', { exact: true }).fill('deploy')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  const renamed = page.getByRole('article', { name: 'Key deploy' })
  await renamed.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await renamed.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('Revoked and expired (1)').waitFor()
})

it('usage: over each time, by each group, pointed at and as CSV', async () => {
  const page = await tab().visit('/#/usage')
  await page.evaluate(async () => {
    const { csrf_token: csrf } = (await (await fetch('v1/auth/session')).json()) as { csrf_token: string }
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 })
    const headers = { 'content-type': 'application/json', 'x-csrf-token': csrf }
    await fetch('v1/chat/completions', { method: 'POST', headers, body })
  })
  await page.reload()
  await page.getByRole('heading', { name: 'By account' }).waitFor()
  for (const time of ['1 h', '7 d', '30 d', '24 h']) {
    await page.getByRole('button', { name: time, exact: true }).click()
    await page.getByRole('slider').first().waitFor()
  }
  await page.getByRole('button', { name: 'Endpoint' }).click()
  await page.getByRole('rowheader', { name: '/v1/chat/completions' }).waitFor()
  const requests = page.getByRole('slider', { name: /^Requests over time/ })
  await requests.focus()
  await page.keyboard.press('ArrowLeft')
  expect(await requests.getAttribute('aria-valuetext')).toMatch(/\d requests$/)
  await expectAccessible(page)
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  expect(await textOf(await downloading)).toContain('/v1/chat/completions')
})

/** Gives the rows of a path in two answers. */
async function routePages(page: Page, glob: string, [first, last]: readonly [object, object]): Promise<void> {
  await page.route(glob, (route) =>
    route.fulfill({ json: new URL(route.request().url()).searchParams.has('cursor') ? last : first }),
  )
  onTestFinished(() => page.unroute(glob))
}

it('usage: says what is still shown where the next does not come', async () => {
  const page = await tab().visit('/#/usage', { expected: /500/ })
  await page.getByText(/^Shown: all accounts since .*:00$/).waitFor()
  const glob = '**/v1/admin/usage?*bucket=day*'
  await page.route(glob, (route) => route.fulfill({ status: 500, json: {} }))
  onTestFinished(() => page.unroute(glob))
  await page.getByRole('button', { name: '30 d', exact: true }).click()
  await page.getByText(/^Still shown: all accounts since .*:00$/).waitFor()
  await page.getByText('The server answered 500.').waitFor()
  await expectAccessible(page)
  await page.unroute(glob)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText(/^Shown: all accounts since \S+ \S+ \d+$/).waitFor()
})

it('usage: puts the parts of a long CSV together', async () => {
  const page = await tab().visit('/#/usage')
  const glob = '**/v1/admin/usage?*format=csv*'
  await page.route(glob, (route) =>
    route.request().url().includes('cursor=next')
      ? route.fulfill({ body: 'user,requests\r\nb,2\r\n', contentType: 'text/csv' })
      : route.fulfill({
          body: 'user,requests\r\na,1\r\n',
          contentType: 'text/csv',
          headers: { 'x-next-cursor': 'next' },
        }),
  )
  onTestFinished(() => page.unroute(glob))
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  expect(await textOf(await downloading)).toBe('user,requests\r\na,1\r\nb,2\r\n')
})

it('people: finds who is on a later page of the list, and shows more of many invitations', async () => {
  const page = await tab().visit('/#/usage')
  const facts = { tier: 'free', role: 'user', created_at: 0, team_id: null, disabled: false }
  const users = ['eve', 'zoe'].map((name) => ({ ...facts, user_id: name, email: `${name}@example.org` }))
  await routePages(page, '**/v1/admin/users?*', [
    { users: users.slice(0, 1), count: 2, next_cursor: 'next' },
    { users: users.slice(1), count: 2, next_cursor: null },
  ])
  const invitations = Array.from({ length: 201 }, (_, index) => ({
    ...{ id: `${index}`, email: `guest${index}@example.org`, tier: 'free', role: 'user', state: 'expired' },
    ...{ created_at: 0, expires_at: 0 },
  }))
  await routePages(page, '**/v1/admin/invitations?*', [
    { invitations: invitations.slice(0, 100), next_cursor: 'next' },
    { invitations: invitations.slice(100), next_cursor: null },
  ])
  await page.getByRole('link', { name: 'People' }).click()
  await page.getByLabel('Find by e-mail').pressSequentially('zoe')
  await page.getByRole('rowheader', { name: 'zoe@example.org' }).waitFor()
  await page.getByText('1 of 2 users').waitFor()

  await page.getByRole('button', { name: 'Invitations' }).click()
  await page.getByRole('rowheader', { name: 'guest200@example.org' }).waitFor()
  const first = page.getByRole('rowheader', { name: 'guest0@example.org' })
  expect(await first.count()).toBe(0)
  await page.getByRole('button', { name: 'More invitations' }).click()
  await first.waitFor()
  await expectAccessible(page)
})

it('people: invites, accepts, changes, disables, deletes, and sees it in the audit trail', async () => {
  const page = await tab().visit('/#/people')
  await page.getByRole('button', { name: 'Invite people' }).click()
  await page.getByLabel('E-mail addresses').fill('Bob <bob@example.org>, ada@example.org\ncyd@example.org')
  await page.getByText('3 addresses').waitFor()
  await page.getByLabel('Tier', { exact: true }).selectOption('pro')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Make the links' }).click()
  await page.getByText(/ada@example.org.*registered already/).waitFor()
  const link = await page.getByRole('dialog').locator('.secret code').first().innerText()
  await page.getByRole('button', { name: 'Done' }).click()

  const visitor = await openTab({ as: null })
  const guest = await visitor.visit(link.slice(address.length))
  await guest.getByRole('heading', { name: 'You are invited' }).waitFor()
  expect(guest.url()).not.toContain('invite')
  await expectAccessible(guest)
  await guest.getByLabel('Password').fill('password-of-bob')
  await guest.getByRole('button', { name: 'Join' }).click()
  await guest.getByText('bob@example.org').waitFor()
  expect(await guest.getByRole('link', { name: 'People' }).count()).toBe(0)

  await page.getByRole('button', { name: 'Invitations' }).click()
  await page
    .getByRole('row', { name: /cyd@example.org/ })
    .getByRole('button', { name: /Revoke/ })
    .click()
  await page.getByRole('row', { name: /cyd@example.org.*revoked/ }).waitFor()
  await page.getByRole('row', { name: /bob@example.org.*accepted/ }).waitFor()

  await page.getByRole('button', { name: 'Users' }).click()
  await page.getByLabel('Tier of bob@example.org').selectOption('free')
  await page.getByText('bob@example.org is free.').first().waitFor()
  await page.getByRole('button', { name: 'Disable bob@example.org' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('button', { name: 'Enable bob@example.org' }).click()
  await page.getByRole('button', { name: 'Delete bob@example.org' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => page.getByRole('rowheader', { name: /bob@example.org/ }).count()).toBe(0)

  await page.getByRole('button', { name: 'Audit trail' }).click()
  await page.getByRole('rowheader', { name: /user.delete/ }).waitFor()
  await expectAccessible(page)
})

it('refuses to demote the last admin, and says so', async () => {
  const page = await tab().visit('/#/people', { expected: /409/ })
  await page.getByLabel('Role of ada@example.org').selectOption('user')
  await page.getByText(/This is the last admin/).waitFor()
})

it('models: loads one by its path, shows two side by side, quantizes one, unloads it, loads it again and removes it', async () => {
  const page = await tab().visit('/#/models')
  await page.getByRole('article', { name: 'Model small-llama' }).waitFor()
  await page.getByRole('button', { name: 'Load a model' }).click()
  await page.getByLabel('Checkpoint').fill(path.join(SMALL_LLAMA, 'model.safetensors'))
  await page.getByLabel('Served as').fill('small-llama')
  const warning = page.getByText(/in the place of small-llama/)
  await warning.waitFor()
  await page.getByLabel('Served as').fill('second')
  await warning.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('It fits.').waitFor()
  await page.getByText('8.4 MB', { exact: true }).waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Load', exact: true }).click()
  const card = page.getByRole('article', { name: 'Model second' })
  await card.getByText('ready', { exact: true }).waitFor()
  await expectAccessible(page)

  await page.getByRole('link', { name: 'Playground' }).click()
  await page.getByLabel('Max tokens').fill('10')
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByLabel('Message', { exact: true }).fill('Hello!')
  await page.keyboard.press('Enter')
  for (const name of ['First answers, of small-llama', 'Second answers, of second'])
    await expect.poll(() => page.getByRole('region', { name }).innerText()).toMatch(/\d out$/m)
  await expectAccessible(page)

  await page.getByRole('link', { name: 'Models' }).click()
  await card.getByRole('button', { name: 'Quantize' }).click()
  await page.getByRole('radio', { name: /int8/ }).check()
  await expectAccessible(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Quantize' }).click()
  await page.getByText(/^Done: .* as int8/).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await card.getByRole('button', { name: 'Unload' }).click()
  await card.getByText('unloaded', { exact: true }).waitFor()
  await expectAccessible(page)
  await card.getByRole('button', { name: /^Load/ }).click()
  await card.getByText('ready', { exact: true }).waitFor()
  await card.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await expect.poll(() => card.count()).toBe(0)
})

it('models: says what a replacement does not keep, and keeps whether the model is pinned', async () => {
  const page = await tab().visit('/#/usage')
  await page.route('**/v1/models', async (route) => {
    const response = await route.fetch()
    const { data } = (await response.json()) as { data: readonly { meta: object }[] }
    await route.fulfill({
      response,
      json: { data: data.map((model) => ({ ...model, meta: { ...model.meta, pinned: true } })) },
    })
  })
  await page.route('**/v1/admin/models?wait=false', (route) => route.fulfill({ json: {} }))
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }))
  await page.getByRole('link', { name: 'Models' }).click()
  await page.getByRole('button', { name: 'Replace small-llama' }).click()
  await page.getByText(/Everyone may use the new model/).waitFor()
  await page.getByLabel('Checkpoint').fill(path.join(SMALL_LLAMA, 'model.safetensors'))
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('It fits.').waitFor()
  await expectAccessible(page)
  const sent = page.waitForRequest('**/v1/admin/models?wait=false')
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
  expect((await sent).postDataJSON()).toMatchObject({ id: 'small-llama', pinned: true })
})

it('models: goes on without the dialog, and says how that ended in the next one', async () => {
  const page = await tab().visit('/#/models', { expected: /400/ })
  const glob = '**/v1/models/quantize?*'
  await page.route(glob, (route) =>
    route.fulfill({ status: 400, json: { error: { message: 'It has no source.' } } }),
  )
  const refused = await holdAnswers(page, 'POST', glob)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Quantize small-llama' }).click()
  await dialog.getByRole('button', { name: 'Quantize' }).click()
  await dialog.getByRole('button', { name: 'Go on in the background' }).click()
  await page.getByRole('button', { name: 'Load a model' }).click()
  refused()
  await dialog.getByRole('status').getByText('Quantize small-llama: It has no source.').waitFor()
  await dialog.getByRole('heading', { name: 'Load a model' }).waitFor()
})

it('models: adds a LoRA adapter to one, says what is wrong with another, and removes it', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-adapter-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const adapter = path.join(folder, 'tales')
  await writePeftAdapter(adapter, { base: SMALL_LLAMA, seed: 1 })
  const page = await tab().visit('/#/models', { expected: /400/ })
  const base = page.getByRole('article', { name: 'Model small-llama' })
  await base.getByRole('button', { name: 'Add adapter' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Served as').fill('tales')
  await dialog.getByLabel('Adapter').fill(SMALL_LLAMA)
  await dialog.getByRole('button', { name: 'Add' }).click()
  await dialog.getByText(/holds a model, not an adapter/).waitFor()
  await expectAccessible(page)
  await dialog.getByLabel('Adapter').fill(adapter)
  await dialog.getByLabel('Scale').fill('0.5')
  await dialog.getByRole('button', { name: 'Add' }).click()
  const card = page.getByRole('article', { name: 'Model tales' })
  await card.getByText('Adapter of small-llama').waitFor()
  expect(await card.getByRole('button', { name: 'Quantize' }).count()).toBe(0)
  await card.getByRole('button', { name: 'Replace' }).click()
  await dialog.getByRole('heading', { name: 'Replace tales' }).waitFor()
  await dialog.getByText(/Everyone may use the new adapter/).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expectAccessible(page)
  await card.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await expect.poll(() => card.count()).toBe(0)
})

it('health: says what was refused and why, and lets a banned address in again', async () => {
  const ask = (path: string, client: string) =>
    fetch(address + path, { headers: { 'x-forwarded-for': client } })
  const refused = await ask('/v1/models', '198.51.100.7')
  expect(refused.status).toBe(401)
  await until('the address is banned', async () => {
    const answer = await ask('/.env', '203.0.113.9')
    return answer.headers.get('x-error-code') === 'address_banned'
  })

  const page = await tab().visit('/#/health')
  const errors = page.getByRole('region', { name: 'Last errors' })
  const row = errors.getByRole('row', { name: refused.headers.get('x-request-id') ?? '' })
  expect(await row.innerText()).toMatch(/unauthorized\s+401\s+GET \/v1\/models/)
  await page.getByRole('region', { name: 'Refusals by code' }).getByText('firewall_rejected').waitFor()
  await page
    .getByRole('region', { name: 'Guards since the start' })
    .getByText('firewall: scanner-path')
    .waitFor()
  await page.getByRole('row', { name: /^small-llama.*ready/ }).waitFor()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Let in 203.0.113.9' }).click()
  await page.getByText('203.0.113.9 is let in again.').first().waitFor()
  await expect.poll(() => page.getByRole('button', { name: /^Let in/ }).count()).toBe(0)
  expect((await ask('/v1/health', '203.0.113.9')).status).toBe(200)
})

it('has the pages of an admin, on a phone, behind a button', async () => {
  const page = await tab().visit('/', { viewport: PHONE })
  await page.getByRole('button', { name: 'More' }).click()
  await expectAccessible(page)
  await page.getByRole('dialog').getByRole('link', { name: 'Health' }).click()
  await heading(page, 'Health')
  await expectNoSidewaysScroll(page)
})
