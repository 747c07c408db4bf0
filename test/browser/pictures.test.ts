/**
 * The console as it looks, page by page: each picture is compared with the one that is kept in docs/console/. `PICTURES=keep` keeps
 * those of this run; look at them before they are committed.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { differenceOf } from '../support/browser/compare-pictures.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  openTab,
  PHONE,
  type Tab,
} from '../support/browser/console.ts'
import { playScene, showFont } from '../support/browser/play-scene.ts'
import { EMPTY, FULL, type Scene } from '../support/browser/scene.ts'
import { lengthOf } from '../support/length-of.ts'
import { shared } from '../support/shared.ts'

const KEPT = path.resolve(import.meta.dirname, '../../docs/console')
const MAX_DIFFERENCE = 0.005

const tab = shared(openTab)

type Look = NonNullable<Parameters<Tab['visit']>[1]>

const PAGES = ['playground', 'keys', 'usage', 'people', 'models', 'health']

const LOOKS: readonly [name: string, scene: Scene, look: Look][] = [
  ['desktop', FULL, {}],
  ['phone-dark', FULL, { colorScheme: 'dark', viewport: PHONE }],
  ['empty-dark', EMPTY, { colorScheme: 'dark' }],
  ['empty-phone', EMPTY, { viewport: PHONE }],
]

it.each(LOOKS.slice(0, lengthOf({ test: 2, soak: LOOKS.length })))(
  'each page is accessible, and looks as before: %s',
  async (lookName, scene, look) => {
    await playScene(tab().page, scene)
    const page = await tab().visit('/', look)
    await showFont(page)
    for (const name of PAGES) {
      await page.evaluate(`location.hash = '#/${name}'`)
      await page.getByRole('heading', { level: 1, name: new RegExp(name, 'i') }).waitFor()
      await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
      if (name === 'playground' && scene.answer.length > 0) await ask(page)
      await expectNoSidewaysScroll(page)
      await expectAccessible(page)
      await expectPicture(page, `${lookName}/${name}`)
    }
  },
)

async function ask(page: Page): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill('How should my client retry?')
  await page.keyboard.press('Enter')
  await page.getByText(/tokens\/s/).waitFor()
}

async function expectPicture(page: Page, name: string): Promise<void> {
  await page.evaluate('document.activeElement.blur()')
  const taken = await page.screenshot({ animations: 'disabled', caret: 'hide' })
  const file = path.join(KEPT, `${name}.png`)
  if (process.env['PICTURES'] === 'keep') writeFileSync(file, taken)
  const difference = existsSync(file) ? await differenceOf(page, [readFileSync(file), taken]) : 1
  if (difference <= MAX_DIFFERENCE) return
  const folder = path.join(tmpdir(), 'sluice-pictures')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, path.basename(file)), taken)
  expect.fail(`${name} differs from ${file} in ${(difference * 100).toFixed(1)} %: see ${folder}`)
}
