/**
 * A model's engine behind the bound on waiting that all models share. The engines themselves take whatever comes: what was
 * counted here once may be moved to another replica or run again without being refused.
 */
import type { Engine, EngineEvent, EngineRequest } from '../protocol/engine.ts'
import type { WaitingLine, WaitingRoom } from './waiting-room.ts'

export class QueuedEngine {
  readonly #engine: Engine
  readonly #slots: WaitingLine
  /** Null where beams change nothing. */
  readonly #beams: WaitingLine | null

  constructor(engine: Engine, room: WaitingRoom) {
    const { maxBatchSize, maxBeams } = engine.info()
    const { replicas } = engine.status()
    this.#engine = engine
    this.#slots = room.createLine(maxBatchSize)
    this.#beams = maxBeams === undefined ? null : room.createLine(maxBeams * (replicas?.all ?? 1))
  }

  /** As `Engine.generate`. @throws ServiceError `queue_full` before anything comes of the request. */
  async *generate(
    request: EngineRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly EngineEvent[], void, void> {
    signal.throwIfAborted()
    const { numBeams = 1 } = request.options
    const [line, places] = numBeams === 1 || this.#beams === null ? [this.#slots, 1] : [this.#beams, numBeams]
    let waiting = request.prompts.length
    const running = new Set<number>()
    line.enter(waiting, places)
    try {
      for await (const events of this.#engine.generate(request, signal)) {
        for (const event of events) {
          if (event.type === 'sequence-start') {
            line.begin(places)
            waiting--
            running.add(event.index)
          } else if (event.type === 'sequence-end') {
            if (running.delete(event.index)) line.end(1, places)
            else {
              line.leave(1, places)
              waiting--
            }
          }
        }
        yield events
      }
    } finally {
      line.leave(waiting, places)
      line.end(running.size, places)
    }
  }
}
