/** An app with its databases, new ones: accounts, keys, limits and usage as in a running server, on a virtual clock. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inject } from 'vitest'
import { PasswordHasher } from '../../../src/accounts/password-hasher.ts'
import { completeConfig } from '../../../src/config/resolve.ts'
import type { ServerConfig } from '../../../src/config/server-config.ts'
import { VirtualClock } from '../../../src/core/clock.ts'
import { openState, type ServerState } from '../../../src/app/state.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { isPostgres, newDatabaseLocation } from '../databases/injected-database.ts'
import { distantState } from './distant-state.ts'
import { CHEAP_ARGON2, PASSWORD } from './account-services.ts'
import {
  ADMIN_KEY,
  createRegistry,
  createTestApp,
  KEY,
  type TestApp,
  type TestAppOptions,
} from './test-app.ts'
import { openWorkerState, takeTurns } from './supervised-apps.ts'
import { openTestedState, type TestedState } from './tested-state.ts'
import { whenUnused } from '../shared.ts'

type Answer = Awaited<ReturnType<TestApp['call']>>

export interface AccountsApp extends TestApp {
  readonly state: ServerState
  readonly shared: TestedState
  /** Calls with the admin key. */
  readonly admin: (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
  ) => Promise<Answer>
  /** Calls with this secret. */
  readonly as: (
    secret: string,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
  ) => Promise<Answer>
  /** Registers a user; gives its id and the secret of its first key. */
  readonly register: (email?: string) => Promise<{ userId: string; key: string }>
  /** Begins a session of a registered user; gives its secret. */
  readonly login: (email: string) => Promise<string>
}

export { PASSWORD }

export interface AccountsAppOptions extends TestAppOptions {
  readonly config?: Partial<ServerConfig>
  /** Whether another process keeps the limits. */
  readonly isDistant?: boolean
}

async function createApps(count: number, create: () => Promise<TestApp>): Promise<[TestApp, ...TestApp[]]> {
  const apps: [TestApp, ...TestApp[]] = [await create()]
  while (apps.length < count) apps.push(await create())
  return apps
}

/** For usage that waits. */
function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-accounts-'))
  whenUnused(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function createAccountsApp(options: AccountsAppOptions = {}): Promise<AccountsApp> {
  const { config, isDistant = false, ...appOptions } = options
  const clock = new VirtualClock()
  const shared = await openTestedState(clock)
  const workers = inject('workers')
  const location = await newDatabaseLocation()
  const folder = isPostgres() || workers > 1 ? newFolder() : null
  const whole = completeConfig({
    // One database of PostgreSQL holds both, as those of several instances do; workers share a file.
    apiDb: location === ':memory:' && folder !== null ? path.join(folder, 'api.db') : location,
    usageDb: location,
    ...(folder !== null && { dataDir: folder }),
    apiKeys: [KEY],
    adminKey: ADMIN_KEY,
    ...config,
  })
  const deps = { clock, log: createLog({ level: 'silent' }), passwords: new PasswordHasher(CHEAP_ARGON2) }
  const state = await openState(whole, { ...deps, shared: isDistant ? distantState(shared) : shared })
  whenUnused(() => state.close())
  const logLines: Record<string, unknown>[] = []
  const registry = appOptions.registry ?? createRegistry(appOptions)
  const createApp = (parts: ServerState) =>
    createTestApp({ ...parts, clock, logLines, ...appOptions, registry })
  const testApp =
    workers === 1
      ? createApp(state)
      : takeTurns(
          await createApps(workers, async () =>
            createApp(await openWorkerState(whole, { ...deps, state, shared })),
          ),
        )
  let registered = 0
  return {
    ...testApp,
    state,
    shared,
    admin: (method, url, payload) =>
      testApp.call({
        method,
        url,
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
        ...(payload && { payload }),
      }),
    as: (secret, method, url, payload) =>
      testApp.call({
        method,
        url,
        headers: { authorization: `Bearer ${secret}` },
        ...(payload && { payload }),
      }),
    register: async (email = `user-${++registered}@example.org`) => {
      const answer = await testApp.app.inject({
        method: 'POST',
        url: '/v1/auth/register',
        payload: { email, password: PASSWORD },
      })
      const { user_id: userId, api_key: key } = answer.json<{ user_id: string; api_key: string }>()
      return { userId, key }
    },
    login: async (email) => {
      const answer = await testApp.app.inject({
        method: 'POST',
        url: '/v1/auth/login',
        payload: { email, password: PASSWORD },
      })
      return answer.json<{ token: string }>().token
    },
  }
}
