/**
 * A model's engine behind the bound on waiting that all models share. The engines refuse nothing for lack of capacity:
 * a request counted here may move to another replica, or run again, without a refusal. Says on each request which tiers have
 * callers, so that the engine's scheduler keeps slots for them.
 */
import {
  countSequences,
  type EmbeddingRequest,
  type Engine,
  type EngineRequest,
  type TokenizedText,
  type TokenizeRequest,
  type TokenPrompt,
} from '../../protocol/engine.ts'
import type { AnswerEvent } from '../../protocol/engine-events.ts'
import type { EngineQueue } from './engine-queue.ts'
import { checkIds, refuseUnknownTokens } from './known-tokens.ts'
import { CountedSequences, type ModelSequences } from '../sequence-counts.ts'

export class QueuedEngine {
  readonly #engine: Engine
  readonly #queue: EngineQueue
  readonly #sequences: ModelSequences

  constructor(engine: Engine, queue: EngineQueue, sequences: ModelSequences) {
    this.#engine = engine
    this.#queue = queue
    this.#sequences = sequences
  }

  /** As `generate`, of an engine of embeddings: however many its texts, a request waits as one sequence until the first starts. */
  async *embed(
    request: EmbeddingRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly AnswerEvent[], void, void> {
    signal.throwIfAborted()
    refuseUnknownTokens(request, this.#engine.info().vocabSize)
    const queued = { place: request.place }
    let hasBegun = false
    const { slots } = this.#queue
    const entering = slots.enter(1, queued)
    if (entering instanceof Promise) await entering
    this.#sequences.waiting++
    try {
      for await (const events of this.#engine.generate(request, signal)) {
        if (!hasBegun && events.some(({ type }) => type === 'sequence-start')) {
          slots.begin(queued)
          this.#sequences.waiting--
          this.#sequences.running++
          hasBegun = true
        }
        yield events
      }
    } finally {
      if (hasBegun) {
        this.#sequences.running--
        slots.end(1, queued)
      } else {
        this.#sequences.waiting--
        slots.leave(1, queued)
      }
    }
  }

  /** As `Engine.generate`. @throws ServiceError `queue_full`, `queue_share_full`, `invalid_request` before the request runs. */
  async *generate(
    request: EngineRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly AnswerEvent[], void, void> {
    signal.throwIfAborted()
    refuseUnknownTokens(request, this.#engine.info().vocabSize)
    const { numBeams = 1 } = request.options
    const { slots, beams, servedClasses } = this.#queue
    const [line, size] = numBeams === 1 || beams === null ? [slots, 1] : [beams, numBeams]
    const queued = { place: request.place, size }
    const place = servedClasses.length === 0 ? request.place : { ...request.place, servedClasses }
    const waiting = countSequences(request)
    const entering = line.enter(waiting, queued)
    if (entering instanceof Promise) await entering
    const counted = new CountedSequences(this.#sequences, { waiting, holdsTokens: numBeams === 1 })
    try {
      for await (const events of this.#engine.generate({ ...request, place }, signal)) {
        for (const event of events) {
          switch (counted.record(event)) {
            case 'began':
              line.begin(queued)
              break
            case 'ended':
              line.end(1, queued)
              break
            case 'left':
              line.leave(1, queued)
              break
            case null:
              break
          }
        }
        yield events
      }
    } finally {
      line.leave(counted.waiting, queued)
      line.end(counted.running, queued)
      counted.end()
    }
  }

  /** Takes no slot, so it waits in no line; the engine has a bound of its own. */
  tokenize(request: TokenizeRequest, signal: AbortSignal): Promise<TokenizedText> {
    return this.#engine.tokenize(request, signal)
  }

  async detokenize(tokenIds: TokenPrompt['tokenIds'], signal: AbortSignal): Promise<string> {
    checkIds('tokenIds', tokenIds, this.#engine.info().vocabSize)
    return await this.#engine.detokenize(tokenIds, signal)
  }
}
