/**
 * One server and one browser for all tests of the console: to start them takes as long as most of these tests together. A test makes
 * what only it may change, such as a user of its own, and takes nothing away that another may look at.
 */
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { CHROMIUM } from '../../../tools/optional-programs.mjs'
import { makeUndoable, whenUnused } from '../shared.ts'
import { createAdmin, type SignedIn, startDemoConsole } from './console-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    readonly console: {
      readonly address: string
      readonly admin: SignedIn
      readonly browserUrl: string
    }
  }
}

const SERVER_WORDS = ['--registration', 'closed', '--enable-firewall', '--trusted-proxies', '127.0.0.1']

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { thing, undo } = await makeUndoable(async () => {
    const [server, browserUrl] = await Promise.all([startDemoConsole(SERVER_WORDS), launchBrowser()])
    return { address: server.address, admin: await createAdmin(server), browserUrl }
  })
  project.provide('console', thing)
  return undo
}

async function launchBrowser(): Promise<string> {
  const isRoot = process.getuid?.() === 0
  const browser = await chromium.launchServer({
    executablePath: CHROMIUM ?? '',
    args: ['--disable-dev-shm-usage', ...(isRoot ? ['--no-sandbox'] : [])],
  })
  whenUnused(() => browser.close())
  return browser.wsEndpoint()
}
