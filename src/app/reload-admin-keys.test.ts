import { describe, expect, it } from 'vitest'
import { AdminKeys } from '../accounts/admin-secret.ts'
import { completeConfig } from '../config/resolve.ts'
import type { ServerConfig } from '../config/server-config.ts'
import { VirtualClock } from '../core/clock.ts'
import { InvariantError, StartError } from '../core/errors.ts'
import { AttemptThrottle } from '../limits/attempt-throttle.ts'
import { MemoryAttemptLimits } from '../limits/memory/attempt-limits.ts'
import { createLog } from '../telemetry/log.ts'
import { createAdminKeyReload } from './reload-admin-keys.ts'

const OLD = 'the-old-admin-key'
const NEW = 'the-new-admin-key'
const API_KEY = 'a-key-of-the-operator'

function createScene(adminKey: ServerConfig['adminKey']) {
  const lines: Record<string, unknown>[] = []
  const log = createLog({
    level: 'info',
    destination: { write: (line: string) => void lines.push(JSON.parse(line) as never) },
  })
  const config = completeConfig({ adminKey, apiKeys: [API_KEY] })
  const throttle = new AttemptThrottle(new MemoryAttemptLimits(new VirtualClock()))
  const keys = new AdminKeys(typeof adminKey === 'string' ? [adminKey] : (adminKey ?? []), throttle)
  const watched: (readonly string[])[] = []
  const guards = { watchForAdminKeys: (given: readonly string[]) => void watched.push(given) }
  return {
    reload: createAdminKeyReload(config, { adminKeys: keys, guards, log }),
    isAdmin: async (secret: string) => await keys.check?.(secret, '192.0.2.1'),
    said: () =>
      lines.map(({ level, msg, problem }) => [level, msg, ...(problem === undefined ? [] : [problem])]),
    watched,
  }
}

const KEPT = 'the admin keys cannot be read; those from before stay valid'

describe('createAdminKeyReload', () => {
  it('adds a key, then takes the old one away', async () => {
    const { reload, isAdmin, said, watched } = createScene(OLD)
    reload(() => [OLD, NEW])
    expect([await isAdmin(OLD), await isAdmin(NEW)]).toEqual([true, true])
    reload(() => NEW)
    expect([await isAdmin(OLD), await isAdmin(NEW)]).toEqual([false, true])
    const replaced = ['info', 'the admin keys were replaced']
    expect(said()).toEqual([replaced, replaced])
    expect(watched).toEqual([[OLD, NEW], [NEW]])
  })

  it('says nothing where nothing changed', () => {
    const { reload, said } = createScene([OLD, NEW])
    reload(() => [NEW, OLD])
    expect(said()).toEqual([])
  })

  it('takes a key away whose place a second copy of another has taken', async () => {
    const { reload, isAdmin } = createScene([OLD, NEW])
    reload(() => [NEW, NEW])
    expect([await isAdmin(OLD), await isAdmin(NEW)]).toEqual([false, true])
  })

  it('keeps the keys where the new ones cannot be used, and does not show them', async () => {
    const { reload, isAdmin, said, watched } = createScene(OLD)
    reload(() => {
      throw new StartError('--admin-key names a file after @, but it does not exist.', 2)
    })
    reload(() => [NEW, API_KEY])
    reload(() => null)
    expect(said()).toEqual([
      ['warn', KEPT, '--admin-key names a file after @, but it does not exist.'],
      ['warn', KEPT, '--admin-key must not be one of --api-keys.'],
      ['warn', KEPT, 'The admin API is switched off by a restart, not while the server runs.'],
    ])
    expect([await isAdmin(OLD), await isAdmin(NEW), await isAdmin(API_KEY)]).toEqual([true, false, false])
    expect(watched).toEqual([])
  })

  it('lets nobody in where there was no admin', async () => {
    const { reload, isAdmin, said } = createScene(null)
    reload(() => NEW)
    expect(await isAdmin(NEW)).toBeUndefined()
    expect(said()).toEqual([
      ['warn', KEPT, 'The admin API is switched on by a restart, not while the server runs.'],
    ])
  })

  it('hides no other error', () => {
    const { reload } = createScene(OLD)
    const broken = () => {
      throw new InvariantError('broken')
    }
    expect(() => reload(broken)).toThrow('broken')
  })
})
