/** A real browser before the built server: pages of the console, and what holds for each of them. */
import axe, { type AxeResults } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { CHROMIUM } from '../../../tools/optional-programs.mjs'
import {
  DEMO_MODEL,
  listening,
  logged,
  type RunningServerProcess,
  spawnServer,
} from '../servers/server-process.ts'
import { whenUnused } from '../shared.ts'

export const ADMIN = { email: 'ada@example.org', password: 'password-of-ada' }

export const PHONE = { width: 360, height: 740 }
const DESKTOP = { width: 1280, height: 800 }

const PATIENCE_MS = 20_000

export interface ConsoleServer extends RunningServerProcess {
  /** What the start printed for the first visitor. */
  readonly link: string
}

/** With the bundled model, and without keys of its own. */
export async function startConsoleServer(words: readonly string[] = []): Promise<ConsoleServer> {
  const server = await listening(spawnServer(['--checkpoint', DEMO_MODEL, '--threads', '1', ...words]))
  await logged(server, 'serving')
  const link = /open (\S+#token=\S+)/.exec(server.stdout.join('\n'))?.[1]
  if (link === undefined) throw new Error('the start printed no link')
  return { ...server, link }
}

export async function startBrowser(): Promise<Browser> {
  const isRoot = process.getuid?.() === 0
  const browser = await chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: ['--disable-dev-shm-usage', ...(isRoot ? ['--no-sandbox'] : [])],
  })
  whenUnused(() => browser.close())
  return browser
}

/** Cookies of the admin, who is made by the link where there is none yet. */
export async function createAdmin(browser: Browser, { link, address }: ConsoleServer) {
  const context = await browser.newContext()
  const token = link.split('#token=')[1] ?? ''
  const guest = await context.request.post(`${address}/v1/auth/sign-in`, { data: { token } })
  const { csrf_token: csrf } = (await guest.json()) as { csrf_token: string }
  const headers = { 'x-csrf-token': csrf }
  const made = await context.request.post(`${address}/v1/auth/first-admin`, { data: ADMIN, headers })
  expect(made.status()).toBe(200)
  const state = await context.storageState()
  await context.close()
  return state
}

interface PageOptions {
  readonly server: ConsoleServer
  /** Behind the address, such as `/#/keys`. */
  readonly path?: string
  readonly state?: Awaited<ReturnType<BrowserContext['storageState']>>
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  /** Messages of the browser's console that the test brings about. */
  readonly expected?: RegExp
  /** Called before the address is opened. */
  readonly prepare?: (page: Page) => Promise<void>
}

/** A page of a new context. The test fails where it breaks its own security policy, throws, or asks another server. */
export async function openPage(browser: Browser, options: PageOptions): Promise<Page> {
  const { server, path = '/', state, viewport = DESKTOP, colorScheme = 'light', expected, prepare } = options
  const context = await browser.newContext({
    viewport,
    colorScheme,
    acceptDownloads: true,
    ...(state !== undefined && { storageState: state }),
  })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    const text = `${message.text()} ${message.location().url}`
    if (message.type() === 'error' && expected?.test(text) !== true) problems.push(text)
  })
  page.on('request', (request) => {
    if (!/^(?:blob|data):/.test(request.url()) && !request.url().startsWith(server.address))
      problems.push(request.url())
  })
  whenUnused(async () => {
    await context.close()
    expect(problems).toEqual([])
  })
  await prepare?.(page)
  await page.goto(server.address + path)
  return page
}

/** None of the rules of WCAG 2.2 and of good practice that axe knows is broken. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>(
    "axe.run(document, { resultTypes: ['violations'], elementRef: false })",
  )
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
  expect(found).toEqual([])
}

/** Nothing is wider than the screen. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const widths = ['document.scrollingElement', "document.querySelector('main')"].map((element) =>
    page.evaluate<number>(`${element}.scrollWidth - ${element}.clientWidth`),
  )
  expect(await Promise.all(widths)).toEqual([0, 0])
}
