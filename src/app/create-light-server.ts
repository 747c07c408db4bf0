/**
 * The composition root of the light server. It loads Node's own modules and nothing else; what a key database or a
 * checkpoint needs is imported when one is given, so that an application without them pays for neither.
 */
import { systemClock } from '../core/clock.ts'
import type { LightServerOptions } from '../light/light-options.ts'
import { LightServer, type LightServerDeps } from '../light/light-server.ts'

/** Makes a server; `listen` starts it. @throws StartError for an option that is wrong. */
export function createLightServer(options: LightServerOptions = {}): LightServer {
  return new LightServer(options, lightServerDeps({ keyDbOption: 'keyDb' }))
}

const clock = systemClock

/** @param keyDbOption what the key database was given as, for messages about it */
export function lightServerDeps({ keyDbOption }: { readonly keyDbOption: string }): LightServerDeps {
  return {
    clock,
    openCheckpoint: async (options, context) => {
      const { openLightCheckpoint } = await import('./light-checkpoint.ts')
      return await openLightCheckpoint(options, { ...context, clock })
    },
    openKeys: async (location) => {
      const { openKeyFile } = await import('../accounts/keys/key-file.ts')
      return await openKeyFile({ location, option: keyDbOption }, clock)
    },
  }
}
