/**
 * One generation request on its way to an engine: finds the model, applies the caller's tier, and holds the lease and
 * the client's presence until it is disposed. The routes only shape what comes back.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvariantError, ServiceError } from '../core/errors.ts'
import { TIER_LIMITS } from '../core/tiers.ts'
import type { ModelLease } from '../models/registry.ts'
import type { EngineEvent, EngineRequest, Prompt, SequenceError } from '../protocol/engine.ts'
import type { RequestTimeline } from '../telemetry/request-timeline.ts'
import { watchClient } from '../http/client-presence.ts'
import type { AppDeps } from './deps.ts'
import { foldSequences, type FoldedSequence } from './fold.ts'
import type { GenerationRequest } from './generation-request.ts'
import { RequestUsage } from './request-usage.ts'

export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

export class Generation implements Disposable {
  readonly lease: ModelLease
  readonly requestId: string
  readonly createdUnixSeconds: number
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
  readonly #timeline: RequestTimeline
  readonly #template: Omit<EngineRequest, 'prompts'>
  /** Called when the request goes to the engine. */
  readonly #begin: () => void

  private constructor(
    lease: ModelLease,
    fields: { exchange: Exchange; signal: AbortSignal; deps: AppDeps; generation: GenerationRequest },
  ) {
    const { exchange, signal, deps, generation } = fields
    this.lease = lease
    this.signal = signal
    this.createdUnixSeconds = Math.floor(deps.clock.unixSeconds())
    this.requestId = exchange.request.id
    this.#timeline = exchange.request.timeline
    this.#template = toEngineRequest(exchange, generation)
    this.#timeline.recordModel(lease.modelId)
    this.#begin = () => {
      exchange.request.usage ??= RequestUsage.begin(deps, exchange.request, exchange.reply)
    }
  }

  /** @throws ServiceError when there is no such model, or when it cannot do what is asked for. */
  static async open(deps: AppDeps, exchange: Exchange, generation: GenerationRequest): Promise<Generation> {
    const signal = watchClient(exchange.request.raw, exchange.reply.raw)
    const lease = await deps.registry.acquire(generation.modelId, signal)
    try {
      refuseBeams(generation, lease)
      return new Generation(lease, { exchange, signal, deps, generation })
    } catch (error) {
      lease[Symbol.dispose]()
      throw error
    }
  }

  /** Runs prompts as one block; the caller passes each event it reads to `record`. */
  events(prompts: readonly Prompt[]): AsyncIterable<EngineEvent> {
    this.#begin()
    return this.lease.engine.generate({ ...this.#template, prompts }, this.signal)
  }

  readonly record = (event: EngineEvent): void => this.#timeline.record(event)

  /** Runs prompts as one block to their ends. */
  run(prompts: readonly Prompt[]): Promise<readonly FoldedSequence[]> {
    return foldSequences(this.events(prompts), { count: prompts.length, onEvent: this.record })
  }

  /** Runs one prompt to its end. @throws ServiceError when it fails. */
  async runOne(prompt: Prompt): Promise<FoldedSequence> {
    const [sequence] = await this.run([prompt])
    if (sequence === undefined) throw new InvariantError('One prompt gave no sequence.')
    if (sequence.error !== null) throw toSequenceError(sequence.error, this.requestId)
    return sequence
  }

  [Symbol.dispose](): void {
    this.lease[Symbol.dispose]()
  }
}

/** The error of one sequence as an error of the request. */
export function toSequenceError({ code, params }: SequenceError, requestId: string): ServiceError {
  return new ServiceError(code, { requestId, ...params })
}

/** A prompt as the caller wrote it: it may hold special tokens, and the tokenizer adds its own. */
export function toPrompt(text: string): Prompt {
  return { pieces: [text], addSpecial: true }
}

function toEngineRequest(
  { request, reply }: Exchange,
  generation: GenerationRequest,
): Omit<EngineRequest, 'prompts'> {
  const { accountId, tier } = request.credential
  const limits = TIER_LIMITS[tier]
  const maxNewTokens = Math.min(generation.maxNewTokens.value, limits.maxTokensPerRequest)
  if (maxNewTokens < generation.maxNewTokens.value) reply.header('x-max-tokens-applied', String(maxNewTokens))
  return {
    reqId: request.id,
    options: {
      maxNewTokens,
      sampling: generation.sampling,
      stopStrings: generation.stopStrings,
      ...(generation.numBeams > 1 && { numBeams: generation.numBeams }),
    },
    place: { priorityClass: limits.priorityClass, priority: generation.priority, accountId },
  }
}

function refuseBeams({ numBeams }: GenerationRequest, { modelId, info }: ModelLease): void {
  // Beams change nothing of what the passthrough model says (spec: decisions, Models).
  if (info.engine === 'passthrough') return
  const { maxBeams = 1 } = info
  if (numBeams <= maxBeams) return
  const why = maxBeams === 1 ? 'has no beam search' : 'searches with no more'
  const most = maxBeams === 1 ? '1' : `at most ${maxBeams}`
  throw new ServiceError(
    'unsupported_value',
    { message: `num_beams must be ${most}, but was ${numBeams}: model '${modelId}' ${why}.` },
    { param: 'num_beams' },
  )
}
