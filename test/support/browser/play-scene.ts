/** A page on which a `Scene` is played: its time, its answers and one typeface, so that two pictures of it are the same. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Page, Route } from 'playwright-core'
import { type Scene, SCENE_TIME } from './scene.ts'

const FONT = readFileSync(path.resolve(import.meta.dirname, '../../fixtures/fonts/inter-latin.woff2'))

/** Each look at the clock is a moment after the one before: what a page says of times is the same each time. */
const STEADY_CLOCK = '{ let now = 0; performance.now = () => (now += 31) }'

/** In the place of a scene before it. Call before the page's address is opened; `showFont` after it. */
export async function playScene(page: Page, scene: Scene): Promise<void> {
  await page.unrouteAll()
  await page.clock.setFixedTime(SCENE_TIME)
  await page.addInitScript(STEADY_CLOCK)
  const usage = (route: Route) =>
    json(route, { data: route.request().url().includes('group_by') ? scene.usageByAccount : scene.usage })
  const answers: Readonly<Record<string, (route: Route) => Promise<void>>> = {
    'v1/keys': (route) => json(route, { keys: scene.keys }),
    'v1/usage?*': usage,
    'v1/admin/usage?*': usage,
    'v1/admin/users?*': (route) => json(route, { users: scene.users, count: scene.users.length }),
    'v1/admin/invitations*': (route) => json(route, { invitations: scene.invitations }),
    'v1/admin/audit?*': (route) => json(route, { records: scene.audit }),
    'v1/admin/bans': (route) => json(route, { bans: scene.bans }),
    'v1/admin/status/stream': (route) => events(route, [scene.status]),
    'v1/models': (route) => json(route, { data: scene.models }),
    'v1/chat/completions': (route) => events(route, chunksOf(scene.answer)),
    'test-font.woff2': (route) => route.fulfill({ body: FONT, contentType: 'font/woff2' }),
  }
  for (const [pattern, answer] of Object.entries(answers)) await page.route(`**/${pattern}`, answer)
}

/** The one typeface that every machine has alike: the one that comes with the tests. */
export async function showFont(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const font = new FontFace('Inter', 'url(test-font.woff2)', { weight: '100 900' })
    document.fonts.add(await font.load())
    document.documentElement.style.setProperty('--sans', 'Inter')
    document.documentElement.style.setProperty('--mono', '"DejaVu Sans Mono", monospace')
  })()`)
}

const RATE_LIMIT = { 'x-ratelimit-limit-requests': '600', 'x-ratelimit-remaining-requests': '571' }

const json = (route: Route, body: unknown) =>
  route.fulfill({ body: JSON.stringify(body), contentType: 'application/json', headers: RATE_LIMIT })

const events = (route: Route, data: readonly unknown[]) =>
  route.fulfill({
    body: data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''),
    contentType: 'text/event-stream',
  })

function chunksOf(tokens: readonly string[]): readonly unknown[] {
  const chunk = (delta: object, finish: string | null = null) => ({
    choices: [{ delta, finish_reason: finish }],
  })
  const usage = { prompt_tokens: 412, completion_tokens: 118, prompt_tokens_details: { cached_tokens: 384 } }
  return [...tokens.map((content) => chunk({ content })), chunk({}, 'stop'), { choices: [], usage }]
}
