/**
 * Something that loaded models share and that ends: memory, or how many they may be. A load takes its part of it; where none is
 * left, models that nobody uses are unloaded for it, the one least recently used first. Where all are used, the one that was loaded
 * first takes no new request once it has had its turn, and is unloaded when those that it has have ended.
 *
 * Invariants: loads take their parts in the order in which they came; no load waits for one that waits in this line.
 */
import { withAbort } from '../../core/concurrency/abort.ts'
import type { SleepingClock } from '../../core/clock.ts'
import { Mutex } from '../../core/concurrency/semaphore.ts'
import { StartError } from '../../core/errors.ts'
import type { LoadedModel } from '../loaded-model.ts'
import type { ModelEntry } from '../model-entry.ts'
import type { Changes } from './model-changes.ts'

/** How long a model that is used serves before another may have its room. */
export const TURN_MS = 10_000

export interface RoomDemand {
  /** @throws StartError, to be shown, where there is no room now */
  readonly take: () => Disposable
  /** Whether there would be without these models; `ignoresLoads` where those that load now had given back theirs. */
  readonly fitsWithout: (others: readonly LoadedModel[], ignoresLoads: boolean) => boolean
}

export interface RoomOptions {
  /** Whether others are unloaded for it, and waited for. */
  readonly mayUnload: boolean
  readonly signal: AbortSignal
}

export interface RoomDeps {
  readonly clock: SleepingClock
  readonly entries: () => Iterable<ModelEntry>
  readonly unload: (entry: ModelEntry) => Promise<void>
  /** Tell of every model that is no longer used or has been loaded, and of each that nobody waits for. */
  readonly changes: Changes
}

/** Nobody waits any more for a load that has no room. */
export class LoadNotWantedError extends Error {}

/** There is no room now, and there would be if others were unloaded. */
export class NoRoomNowError extends StartError {}

export class ModelRoom {
  readonly #deps: RoomDeps
  readonly #line = new Mutex()
  /** Those that have taken their part and are not loaded yet. */
  readonly #loading = new Set<ModelEntry>()

  constructor(deps: RoomDeps) {
    this.#deps = deps
  }

  /** @throws StartError of the demand where it can never be met, NoRoomNowError, LoadNotWantedError; the signal's reason */
  async take(entry: ModelEntry, demand: RoomDemand, { mayUnload, signal }: RoomOptions): Promise<Disposable> {
    if (!mayUnload) {
      const taken = tryTake(demand)
      if (!(taken instanceof StartError)) return this.#keep(entry, taken)
      this.#requirePossible(entry, demand, taken)
      throw new NoRoomNowError(taken.message, taken.exitCode)
    }
    // Also where there is room now: it may have been made for the one that is first.
    return await this.#line.run(() => this.#waitFor(entry, demand, signal), signal)
  }

  /** Its load is over. */
  loadEnded(entry: ModelEntry): void {
    this.#loading.delete(entry)
  }

  #keep(entry: ModelEntry, taken: Disposable): Disposable {
    this.#loading.add(entry)
    return taken
  }

  async #waitFor(entry: ModelEntry, demand: RoomDemand, signal: AbortSignal): Promise<Disposable> {
    for (;;) {
      signal.throwIfAborted()
      if (entry.isWaking && entry.waiting === 0) throw new LoadNotWantedError()
      const taken = tryTake(demand)
      if (!(taken instanceof StartError)) return this.#keep(entry, taken)
      this.#requirePossible(entry, demand, taken)
      const next = this.#nextToUnload(entry)
      await withAbort(next === null ? this.#change(entry, signal) : this.#deps.unload(next), signal)
    }
  }

  /** @throws the refusal when even the room of all others would not do */
  #requirePossible(entry: ModelEntry, demand: RoomDemand, refusal: StartError): void {
    const others = this.#unloadable(entry).flatMap(({ current }) => current ?? [])
    const isOtherLoading = [...this.#loading].some((other) => other !== entry && !other.isPinned)
    if (!demand.fitsWithout(others, isOtherLoading)) throw refusal
  }

  /** Null where each of them is used, and has not had its turn. */
  #nextToUnload(entry: ModelEntry): ModelEntry | null {
    const others = this.#unloadable(entry)
    const unused = others.filter((other) => !isUsed(other)).sort((a, b) => a.lastUsedMs - b.lastUsedMs)
    const nowMs = this.#deps.clock.nowMs()
    const served = others
      .filter(({ loadedMs }) => nowMs - loadedMs >= TURN_MS)
      .sort((a, b) => a.loadedMs - b.loadedMs)
    return unused[0] ?? served[0] ?? null
  }

  #unloadable(entry: ModelEntry): readonly ModelEntry[] {
    return [...this.#deps.entries()].filter(
      (other) => other !== entry && !other.isPinned && isUnloadable(other),
    )
  }

  /** Until something has changed, or the first turn is over. */
  async #change(entry: ModelEntry, signal: AbortSignal): Promise<void> {
    const { clock, changes } = this.#deps
    const ends = this.#unloadable(entry).map(({ loadedMs }) => loadedMs + TURN_MS)
    const timeUp = new AbortController()
    const turnEnd = clock
      .sleep(Math.max(0, Math.min(...ends, clock.nowMs() + TURN_MS) - clock.nowMs()), timeUp.signal)
      .catch(() => {})
    await withAbort(Promise.race([changes.next(), turnEnd]), signal).finally(() => timeUp.abort())
  }
}

/** Whether requests have it, or wait for it. */
export function isUsed({ current, waiting }: ModelEntry): boolean {
  return waiting > 0 || current?.isInUse === true
}

/** Whether there is an engine of this server that could be closed now; that of a model with adapters is theirs too. */
export function isUnloadable({ current, source, loads, isDraining }: ModelEntry): boolean {
  return current?.hasAdapters === false && source?.kind === 'local' && loads.isIdle && !isDraining
}

function tryTake({ take }: RoomDemand): Disposable | StartError {
  try {
    return take()
  } catch (error) {
    if (error instanceof StartError) return error
    throw error
  }
}
