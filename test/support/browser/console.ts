/** Pages of the console in a real browser, and what holds for each of them. */
import { text } from 'node:stream/consumers'
import axe, { type AxeResults } from 'axe-core'
import { chromium, type Download, type Page } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import { whenUnused } from '../shared.ts'
import type { ADMIN, SignedIn } from './console-server.ts'

export const PHONE = { width: 360, height: 740 }
const DESKTOP = { width: 1280, height: 800 }

const PATIENCE_MS = 60_000

interface VisitOptions {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  /** Messages of the browser's console that the test brings about. */
  readonly expected?: RegExp
}

/** A tab of the browser of all tests, with cookies of its own. Test after test uses it: to open another takes a second of work. */
export class Tab {
  readonly page: Page
  readonly #address: string
  #problems: string[] = []
  /** What the server says of requests that it refuses, which the browser's console does not tell. */
  #refusals: string[] = []

  constructor(page: Page, address: string) {
    this.page = page
    this.#address = address
    page.on('pageerror', (error) => this.#problems.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') this.#problems.push(`${message.text()} ${message.location().url}`)
    })
    page.on('response', async (response) => {
      if (response.status() < 400) return
      const refusals = this.#refusals
      const said = await response.text().catch(() => 'nothing')
      refusals.push(`${response.status()} ${response.url()} ${response.request().postData()}: ${said}`)
    })
    page.on('request', (request) => {
      if (!/^(?:blob|data):/.test(request.url()) && !request.url().startsWith(address))
        this.#problems.push(request.url())
    })
  }

  /**
   * Loads the console at a path behind the address, such as `/#/keys`. The test fails where a page breaks its own security policy,
   * throws, or asks another server.
   */
  async visit(path = '/', options: VisitOptions = {}): Promise<Page> {
    const { viewport = DESKTOP, colorScheme = 'light', expected } = options
    const [problems, refusals]: [string[], string[]] = [[], []]
    onTestFinished(() => {
      const unexpected = problems.filter((one) => expected?.test(one) !== true)
      expect(unexpected, refusals.join('\n')).toEqual([])
    })
    await this.page.setViewportSize(viewport)
    await this.page.emulateMedia({ colorScheme })
    // What the page before still had under way may end badly.
    await this.page.evaluate('window.stop()')
    this.#problems = problems
    this.#refusals = refusals
    await this.#load(path)
    return this.page
  }

  /** The same page again: another address would be given to another process, which begins cold. */
  async #load(path: string): Promise<void> {
    if (!this.page.url().startsWith(this.#address)) return void (await this.page.goto(this.#address + path))
    await this.page.evaluate(`history.replaceState(null, '', ${JSON.stringify(path)})`)
    await this.page.reload()
  }
}

interface TabOptions {
  /** @default that of all tests */
  readonly address?: string
  /** @default the admin; null for a visitor */
  readonly as?: SignedIn | null
}

export async function openTab({ address, as }: TabOptions = {}): Promise<Tab> {
  const given = inject('console')
  const browser = await chromium.connect(given.browserUrl)
  whenUnused(() => browser.close())
  const storageState = as === undefined ? given.admin : as
  const context = await browser.newContext(storageState === null ? {} : { storageState })
  context.setDefaultTimeout(PATIENCE_MS)
  return new Tab(await context.newPage(), address ?? given.address)
}

export async function signIn(page: Page, { email, password }: typeof ADMIN): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Of a file that the page gives. */
export async function textOf(download: Download): Promise<string> {
  return text(await download.createReadStream())
}

/** None of the rules of WCAG 2.2 and of good practice that axe knows is broken. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source)
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
