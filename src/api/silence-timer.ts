/** A timer that runs out after a silence; a dependency, so that tests control it. */

export interface SilenceTimer {
  /** Starts it anew, also after it has run out. */
  refresh(): void
  stop(): void
}

export type StartSilenceTimer = (onSilence: () => void, silenceMs: number) => SilenceTimer

export const startSystemSilenceTimer: StartSilenceTimer = (onSilence, silenceMs) => {
  const timeout = setTimeout(onSilence, silenceMs).unref()
  return { refresh: () => void timeout.refresh(), stop: () => clearTimeout(timeout) }
}
