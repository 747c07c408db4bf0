/**
 * What one worker holds of the supervisor's models: a hold on each version that it may serve, its part of the waiting queue, and
 * which engines have its work. All of it returns when the worker ends, however it ends.
 */
import type { ChannelHandler } from '../../core/channel/channel.ts'
import type { LoadedModel } from '../../models/loaded-model.ts'
import type { QueuedRequest } from '../../models/queue/queue-line.ts'
import type { SharedEngine } from '../../protocol/engine.ts'
import { CountedLine } from './counted-line.ts'

/** Which line of a version. */
export type LineName = 'slots' | 'beams'

interface HeldVersion {
  readonly model: LoadedModel
  readonly hold: Disposable
  /** While the worker has requests for it. */
  use: Disposable | null
  readonly replicas: readonly SharedEngine[]
  readonly lines: Readonly<Record<LineName, CountedLine | null>>
}

export class WorkerHolds {
  readonly #versions = new Map<number, HeldVersion>()

  /** Call before the worker is told of the versions. */
  hold(models: ReadonlyMap<number, LoadedModel>): void {
    for (const [version, model] of models) {
      if (this.#versions.has(version)) continue
      const { slots, beams } = model.queue
      this.#versions.set(version, {
        model,
        hold: model.hold(),
        use: null,
        replicas: model.engine.replicas?.() ?? [],
        lines: { slots: new CountedLine(slots), beams: beams === null ? null : new CountedLine(beams) },
      })
    }
  }

  /** The engines of what is held, also of versions that serve their last requests. */
  get replicas(): ReadonlyMap<number, readonly SharedEngine[]> {
    return new Map(Array.from(this.#versions, ([version, { replicas }]) => [version, replicas]))
  }

  releaseAll(): void {
    for (const version of [...this.#versions.keys()]) this.#release(version)
  }

  /** Of the worker's calls and casts. */
  handlers(): Readonly<Record<string, ChannelHandler>> {
    const line = (args: readonly unknown[]) => this.#versions.get(Number(args[0]))?.lines[args[1] as LineName]
    // A version is a client of its own: those of adapters share the engines of their base model.
    const client = (args: readonly unknown[]) => this.#versions.get(Number(args[0])) ?? this
    const replica = (args: readonly unknown[]) =>
      this.#versions.get(Number(args[0]))?.replicas[Number(args[1])]
    return {
      'queue.enter': (args) => line(args)?.enter(Number(args[2]), args[3] as QueuedRequest),
      'queue.begin': (args) => line(args)?.begin(args[2] as QueuedRequest),
      'queue.leave': (args) => line(args)?.leave(Number(args[2]), args[3] as QueuedRequest),
      'queue.end': (args) => line(args)?.end(Number(args[2]), args[3] as QueuedRequest),
      'engine.busy': (args) => replica(args)?.reportBusy(client(args), args[2] === true),
      'engine.hung': (args) => replica(args)?.reportHung(Number(args[2])),
      'models.used': ([version, isInUse]) => this.#use(Number(version), isInUse === true),
      'models.released': ([version]) => this.#release(Number(version)),
    }
  }

  #release(version: number): void {
    const held = this.#versions.get(version)
    if (held === undefined) return
    this.#versions.delete(version)
    held.lines.slots?.clear()
    held.lines.beams?.clear()
    for (const replica of held.replicas) replica.reportBusy(held, false)
    held.use?.[Symbol.dispose]()
    held.hold[Symbol.dispose]()
  }

  #use(version: number, isInUse: boolean): void {
    const held = this.#versions.get(version)
    if (held === undefined) return
    held.use?.[Symbol.dispose]()
    held.use = isInUse ? held.model.use() : null
  }
}
