/**
 * A model's engine behind the bound on waiting that all models share. The engines refuse nothing for lack of capacity:
 * a request counted here may move to another replica, or run again, without a refusal.
 */
import type { Engine, EngineEvent, EngineRequest } from '../protocol/engine.ts'
import type { QueueLimit, QueueLine } from './queue-limit.ts'

export class QueuedEngine {
  readonly #engine: Engine
  readonly #slots: QueueLine
  /** Null where beams change nothing. */
  readonly #beams: QueueLine | null

  constructor(engine: Engine, limit: QueueLimit) {
    const { maxBatchSize, maxBeams } = engine.info()
    const { replicas } = engine.status()
    this.#engine = engine
    this.#slots = limit.createLine(maxBatchSize)
    this.#beams = maxBeams === undefined ? null : limit.createLine(maxBeams * (replicas?.all ?? 1))
  }

  /** As `Engine.generate`. @throws ServiceError `queue_full` before the request runs. */
  async *generate(
    request: EngineRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly EngineEvent[], void, void> {
    signal.throwIfAborted()
    const { numBeams = 1 } = request.options
    const [line, size] = numBeams === 1 || this.#beams === null ? [this.#slots, 1] : [this.#beams, numBeams]
    let waiting = request.prompts.length
    const running = new Set<number>()
    line.enter(waiting, size)
    try {
      for await (const events of this.#engine.generate(request, signal)) {
        for (const event of events) {
          if (event.type === 'sequence-start') {
            line.begin(size)
            waiting--
            running.add(event.index)
          } else if (event.type === 'sequence-end') {
            if (running.delete(event.index)) line.end(1, size)
            else {
              line.leave(1, size)
              waiting--
            }
          }
        }
        yield events
      }
    } finally {
      line.leave(waiting, size)
      line.end(running.size, size)
    }
  }
}
