/**
 * One generation request on its way to an engine: finds the model, applies the caller's tier, and holds the lease and
 * the client's presence until it is disposed. The routes only shape what comes back.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvariantError, ServiceError } from '../core/errors.ts'
import { TIER_LIMITS } from '../core/tiers.ts'
import type { OutputFilter } from '../guards/output/output-filter.ts'
import type { ModelLease } from '../models/registry.ts'
import type { EngineEvent, EngineRequest, Prompt, SequenceError } from '../protocol/engine.ts'
import type { RequestTimeline } from '../telemetry/request-timeline.ts'
import { watchClient } from '../net/client-presence.ts'
import type { AppDeps } from './deps.ts'
import { SequenceFold, type FoldedSequence } from './fold.ts'
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
  /** Null where answers are not checked. */
  readonly #openFilter: (count: number) => OutputFilter | null
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
    this.#openFilter = (count) => openFilter(deps, exchange, { count, generation })
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

  /**
   * Runs prompts as one block to their ends; each event that may leave goes to `onEvent`, which is waited for where it
   * gives a promise. What the engine made is on record also where it may not leave.
   */
  async play(
    prompts: readonly Prompt[],
    onEvent: (event: EngineEvent) => Promise<void> | void,
  ): Promise<void> {
    this.#begin()
    const filter = this.#openFilter(prompts.length)
    for await (const events of this.lease.engine.generate({ ...this.#template, prompts }, this.signal)) {
      for (const event of events) {
        this.#timeline.record(event)
        for (const passed of filter?.pass(event) ?? [event]) {
          const waiting = onEvent(passed)
          if (waiting === undefined) continue
          await waiting
          this.signal.throwIfAborted()
        }
        // Ending the iteration ends what still runs.
        if (filter?.isOver === true) return
      }
    }
  }

  /** Runs prompts as one block to their ends. */
  async run(prompts: readonly Prompt[]): Promise<readonly FoldedSequence[]> {
    const fold = new SequenceFold(prompts.length)
    await this.play(prompts, (event) => fold.add(event))
    return fold.finish()
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

function openFilter(
  { outputGuard, metrics, log }: AppDeps,
  { request }: Exchange,
  { count, generation }: { count: number; generation: GenerationRequest },
): OutputFilter | null {
  if (outputGuard === null) return null
  const { systemMessages } = generation
  const onHit = (rule: string, hits: number) => {
    metrics.countGuardHit({ guard: 'output', rule }, hits)
    log.info({ requestId: request.id, rule, hits }, 'the output guard took something out of an answer')
  }
  return outputGuard.open(count, { systemMessages, onHit })
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
