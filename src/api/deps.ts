/** What the API is built from; `server.ts` and tests put it together. */
import type { Authenticator } from '../accounts/authenticator.ts'
import type { Clock } from '../core/clock.ts'
import type { ModelRegistry } from '../models/registry.ts'
import type { Log } from '../telemetry/log.ts'

/** A timer that runs out after a silence: `refresh` starts it anew, also after it has run out. */
export interface SilenceTimer {
  refresh(): void
  stop(): void
}

export type StartSilenceTimer = (onSilence: () => void, silenceMs: number) => SilenceTimer

export interface AppDeps {
  readonly registry: ModelRegistry
  readonly authenticator: Authenticator
  readonly clock: Clock
  readonly log: Log
  /** Whether the default model can take work. */
  readonly isReady: () => boolean
  /** True from SIGTERM on: no new generation request is let in. */
  readonly isDraining: () => boolean
  /** @default Node's own timers */
  readonly startSilenceTimer?: StartSilenceTimer
}

export const startSystemSilenceTimer: StartSilenceTimer = (onSilence, silenceMs) => {
  const timeout = setTimeout(onSilence, silenceMs).unref()
  return { refresh: () => void timeout.refresh(), stop: () => clearTimeout(timeout) }
}
