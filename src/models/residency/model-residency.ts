/**
 * When models are loaded for requests and unloaded without one. A request for an unloaded model has it loaded; it is unloaded when an
 * admin says so, when it was not used for `idleUnloadMs`, and for a load that needs its room (`model-room.ts`). An engine is closed
 * when its last request has ended, and never before.
 */
import type { SleepingClock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { loadingFailed, type ModelEntry, sourceOf } from '../model-entry.ts'
import type { ModelLoader } from '../model-loader.ts'
import { isUnloadable, isUsed, LoadNotWantedError } from './model-room.ts'

/** After a load for a request has failed, the next request tries again: a broken file is not read by each of them. */
export const WAKE_PAUSE_MS = 10_000

export interface ModelResidencyDeps {
  readonly loader: Pick<ModelLoader, 'load' | 'unload'>
  readonly clock: SleepingClock
  readonly entries: () => Iterable<ModelEntry>
  /** Null where no model is unloaded because nobody uses it. */
  readonly idleUnloadMs: number | null
  /** Called when an entry has changed. */
  readonly onChange: () => void
}

export class ModelResidency {
  readonly #deps: ModelResidencyDeps
  readonly #closing = new AbortController()

  constructor(deps: ModelResidencyDeps) {
    this.#deps = deps
    if (deps.idleUnloadMs !== null) this.#unloadIdle(deps.idleUnloadMs).catch(() => {})
  }

  /**
   * Starts to load one that is unloaded, once.
   * @throws ServiceError `model_loading_failed` for a while after it could not be, `shutting_down`
   */
  wake(entry: ModelEntry): void {
    if (this.#closing.signal.aborted) throw new ServiceError('shutting_down')
    if (!entry.isUnloaded || entry.isWaking || entry.isDraining) return
    const { loader, clock, onChange } = this.#deps
    const failedFor = entry.wakeFailedMs === null ? null : clock.nowMs() - entry.wakeFailedMs
    if (failedFor !== null && failedFor < WAKE_PAUSE_MS) throw loadingFailed(entry)
    entry.isWaking = true
    void entry.loads.run(async () => {
      try {
        // Registered anew meanwhile.
        if (!entry.isUnloaded) return
        const loading = loader.load(entry, { source: sourceOf(entry) })
        onChange()
        await loading
      } catch (error) {
        // Its failure says why.
        const isGivenUp = error instanceof LoadNotWantedError || this.#closing.signal.aborted
        if (!isGivenUp) entry.wakeFailedMs = clock.nowMs()
      } finally {
        entry.isWaking = false
        onChange()
      }
    })
  }

  /** @throws ServiceError `model_in_use`, `unsupported_value` for what has no engine of this server */
  async unload(entry: ModelEntry): Promise<void> {
    if (entry.isUnloaded && entry.loads.isIdle) return
    if (entry.source !== null && entry.source.kind !== 'local') {
      const message = `Model '${entry.id}' is served by an upstream: there is nothing to unload here.`
      throw new ServiceError('unsupported_value', { message })
    }
    if (isUsed(entry) || !isUnloadable(entry)) {
      const message = whyInUse(entry)
      throw new ServiceError('model_in_use', { model: entry.id, message })
    }
    await this.#deps.loader.unload(entry)
  }

  close(): void {
    this.#closing.abort()
  }

  async #unloadIdle(idleMs: number): Promise<void> {
    const { clock, entries, loader } = this.#deps
    for (;;) {
      const nowMs = clock.nowMs()
      let nextMs = nowMs + idleMs
      for (const entry of entries()) {
        if (entry.isPinned || isUsed(entry) || !isUnloadable(entry)) continue
        const dueMs = entry.lastUsedMs + idleMs
        if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs)
        else void loader.unload(entry)
      }
      await clock.sleep(nextMs - nowMs, this.#closing.signal)
    }
  }
}

function whyInUse(entry: ModelEntry): string {
  if (isUsed(entry)) return 'requests for it are running'
  return entry.current?.hasAdapters === true
    ? 'its adapters run in its engine'
    : 'it is being loaded or unloaded'
}
