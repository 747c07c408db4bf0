/**
 * The two rooms that a load needs of this server: a seat among `--max-loaded-models`, then memory for its weights and cache. A seat
 * comes first, so no load holds memory while it waits.
 */
import { StartError } from '../../core/errors.ts'
import type { LoadedModel } from '../loaded-model.ts'
import { Changes } from './model-changes.ts'
import type { ModelEntry } from '../model-entry.ts'
import { ModelRoom, type RoomDeps, type RoomOptions } from './model-room.ts'

export interface MemoryDemand {
  /** @throws StartError with the numbers where there is no room now */
  readonly reserve: () => Disposable
  /** Whether there would be if other models gave back so much; `ignoresLoads` where those that load now had given back theirs. */
  readonly fits: (freedBytes: number, ignoresLoads: boolean) => boolean
}

export interface LoadRoomsDeps extends Omit<RoomDeps, 'changes'> {
  /** Null where memory alone is the bound. */
  readonly maxLoaded: number | null
}

export class LoadRooms {
  /** Told whatever a load may wait for. */
  readonly changes = new Changes()
  readonly #deps: LoadRoomsDeps
  readonly #seats: ModelRoom
  readonly #memory: ModelRoom
  /** Those that have a seat and are not loaded yet. */
  readonly #seated = new Set<ModelEntry>()

  constructor(deps: LoadRoomsDeps) {
    this.#deps = deps
    const roomDeps = { ...deps, changes: this.changes }
    this.#seats = new ModelRoom(roomDeps)
    this.#memory = new ModelRoom(roomDeps)
  }

  /** Until its load is over. One that takes another's place needs none. @throws as `ModelRoom.take` */
  async takeSeat(entry: ModelEntry, options: RoomOptions): Promise<Disposable | null> {
    const { maxLoaded } = this.#deps
    if (maxLoaded === null || entry.current !== null) return null
    const taken = () => this.#countSeats(entry)
    return await this.#seats.take(
      entry,
      {
        take: () => this.#seat(entry, maxLoaded),
        fitsWithout: (others, ignoresLoads) =>
          taken() - others.length - (ignoresLoads ? this.#seated.size : 0) < maxLoaded,
      },
      options,
    )
  }

  /** @throws as `ModelRoom.take` */
  async takeMemory(entry: ModelEntry, demand: MemoryDemand, options: RoomOptions): Promise<Disposable> {
    return await this.#memory.take(
      entry,
      {
        take: demand.reserve,
        fitsWithout: (others, ignoresLoads) =>
          demand.fits(
            others.reduce((sum, model) => sum + memoryOf(model), 0),
            ignoresLoads,
          ),
      },
      options,
    )
  }

  loadEnded(entry: ModelEntry): void {
    this.#seats.loadEnded(entry)
    this.#memory.loadEnded(entry)
    this.changes.notify()
  }

  #seat(entry: ModelEntry, maxLoaded: number): Disposable {
    if (this.#countSeats(entry) >= maxLoaded) {
      const loaded = maxLoaded === 1 ? 'another model is' : `${maxLoaded} other models are`
      throw new StartError(
        `'${entry.id}' has no room: ${loaded} loaded, and max_loaded_models is ${maxLoaded}.`,
      )
    }
    this.#seated.add(entry)
    return { [Symbol.dispose]: () => void this.#seated.delete(entry) }
  }

  /** Of other models of this server. */
  #countSeats(entry: ModelEntry): number {
    const loaded = [...this.#deps.entries()].filter(
      (other) =>
        other !== entry &&
        !this.#seated.has(other) &&
        other.current !== null &&
        other.source?.kind === 'local',
    )
    return loaded.length + this.#seated.size
  }
}

/** What the system has back when its engines are closed: the weights, which are shared by its replicas, and each one's cache. */
function memoryOf({ engine }: LoadedModel): number {
  const { memoryBytes, sizeBytes, draft } = engine.info()
  const weightBytes = sizeBytes + (draft?.sizeBytes ?? 0)
  const replicas = engine.status().replicas?.all ?? 1
  return memoryBytes === null ? weightBytes : memoryBytes - weightBytes * (replicas - 1)
}
