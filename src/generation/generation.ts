/**
 * One generation, from its valid request to its billed end: model lease, tier ceiling, prompt guard, chat template, engine,
 * output guard, usage row. Gives events to a stream, or their fold to a plain answer; knows neither HTTP nor a dialect.
 * The routes open one for each request, run it once and dispose it.
 *
 *   open: lease → beams, constraint → tier's ceiling → length → prompt guard → chat template        nothing of it is billed
 *   run, fold: engine → counted → output guard → reasoning and tool calls read → events → billed
 *
 * Invariant: what went to an engine leaves at most one usage row, committed before `run` or `fold` settles, however the
 * generation ends. Only what the engine refused before any sequence started leaves none.
 */
import type { Clock } from '../core/clock.ts'
import { InvariantError, ServiceError, toServiceError } from '../core/errors.ts'
import { type OutputFilter, removeControls } from '../guards/output/output-filter.ts'
import type { OutputGuard } from '../guards/output/output-guard.ts'
import type { AnswerPlan } from '../models/chat/answer-plan.ts'
import type { ModelLease } from '../models/registry.ts'
import { countSequences, type EngineRequest, type Prompt } from '../protocol/engine.ts'
import type { AnswerEvent, EngineEvent, SequenceEndEvent } from '../protocol/engine-events.ts'
import { type Log, logCause } from '../telemetry/log.ts'
import { AnswerEvents } from './events/answer-events.ts'
import { BareCalls } from './events/bare-calls.ts'
import { bill, type BilledContext, type BillingDeps } from './billing.ts'
import { checkMinTokens, checkRequest } from './check-request.ts'
import { generateRelaxed, withConstraintField } from './constraint-refusals.ts'
import { type CapContext, EventCounter, reportCap } from './events/event-counter.ts'
import { type Requester, toEngineOptions, withAnswerPlan } from './engine-request.ts'
import { chatFieldName, type GenerationRequest, withChatFieldName } from './generation-request.ts'
import { JoinedAnswers } from './events/joined-answers.ts'
import {
  fallbacksOf,
  isUnreachable,
  leaseModel,
  type LeasingRegistry,
  takesRequests,
} from '../models/lease-model.ts'
import {
  type OversizedPrompt,
  type PreparedPrompt,
  preparePrompts,
  type PromptDeps,
  throwIfAllFailed,
} from './prepare-prompts.ts'
import { type InputPrompt, textsOf, withPromptName } from './prompt-inputs.ts'
import { EventOutlet, type OnEvents } from './events/event-outlet.ts'
import {
  failedSequence,
  type FoldedSequence,
  type SequenceEvent,
  SequenceFold,
} from './events/sequence-fold.ts'

export interface GenerationDeps extends PromptDeps, BillingDeps {
  readonly registry: LeasingRegistry
  /** Null where answers are not checked. */
  readonly outputGuard: OutputGuard | null
  readonly clock: Clock
  readonly log: Pick<Log, 'error' | 'info' | 'warn'>
}

/** The request that a generation answers. */
export interface GenerationContext extends BilledContext, CapContext {
  readonly caller: Caller
  /** Called before a model is asked in the place of one that cannot be reached. */
  readonly onFallback: (modelId: string) => void
}

export type Caller = Requester & BilledContext['caller']

/** An event that may leave; a failure is the error that the request or its prompt is answered with. */
export type GenerationEvent = SequenceEvent<ServiceError>

/** Takes all that may leave since the last call, at least one; is not called again before what it returns has settled. */
type OnGenerationEvents = OnEvents<GenerationEvent>

export type GeneratedSequence = FoldedSequence<ServiceError>

/** Of a prompt of a batch; the failure is what kept the engine from ending it. */
interface BatchOutcome {
  readonly sequence: GeneratedSequence
  readonly failure: ServiceError | null
}

interface OpenedGeneration {
  readonly deps: GenerationDeps
  readonly context: GenerationContext
  readonly lease: ModelLease
  readonly input: GenerationRequest['input']
  /** Before the caller's tier lowered it. */
  readonly askedTokens: number
  /** In the order of the input. */
  readonly prompts: readonly PreparedPrompt[]
  readonly engineOptions: Omit<EngineRequest, 'prompts'>
  /** Null where the text of an answer is the answer. */
  readonly createReader: AnswerPlan['createReader']
  readonly relaxConstraint: AnswerPlan['relaxConstraint']
  readonly constraintField: string | undefined
}

export class Generation implements Disposable {
  readonly modelId: string
  readonly createdUnixSeconds: number
  readonly #opened: OpenedGeneration
  readonly #counter: EventCounter
  /** Set where the engine's first events were waited for already. */
  #begun: BegunAnswer | null = null

  private constructor(opened: OpenedGeneration) {
    this.modelId = opened.lease.modelId
    this.createdUnixSeconds = Math.floor(opened.deps.clock.unixSeconds())
    this.#opened = opened
    const { input, askedTokens, context } = opened
    const { maxNewTokens } = opened.engineOptions.options
    // An upstream says what it does with more than its context holds; the length of a prompt is a guess until it does.
    const maxSeqLen = opened.lease.info.takesChats === true ? null : opened.lease.info.maxSeqLen
    this.#counter = new EventCounter({ input, askedTokens, maxNewTokens, maxSeqLen, context })
  }

  /**
   * Waits for the model where it is being loaded, and of one that has a fallback for the first events, so that another model can
   * answer. The caller disposes the generation.
   * @throws ServiceError when there is no such model, when it cannot do what is asked for, when the guard refuses the input
   */
  static async open(
    deps: GenerationDeps,
    request: GenerationRequest,
    context: GenerationContext,
  ): Promise<Generation> {
    checkMinTokens(request)
    const { caller, requestId, signal } = context
    let modelId = request.modelId
    for (const next of fallbacksOf(deps.registry, modelId, caller)) {
      try {
        return await Generation.#openWithFallback(deps, { ...request, modelId }, context)
      } catch (error) {
        if (signal.aborted || !isUnreachable(error)) throw error
        deps.log.warn(
          { requestId, model: modelId, fallback: next },
          'a model cannot be reached: its fallback answers',
        )
        context.onFallback(next)
        modelId = next
      }
    }
    return await Generation.#open(deps, { ...request, modelId }, context)
  }

  /**
   * @throws also when nothing of the model can be reached; of a batch, whose prompts fail one by one, that is known by its state once
   *   a load under way has ended
   */
  static async #openWithFallback(
    deps: GenerationDeps,
    request: GenerationRequest,
    context: GenerationContext,
  ): Promise<Generation> {
    const { input, modelId } = request
    const isBatch = input.kind === 'prompts' && input.batch !== null
    if (isBatch && !takesRequests(deps.registry, modelId))
      throw new ServiceError('engine_unavailable', { message: 'it is not ready.' })
    const generation = await Generation.#open(deps, request, context)
    if (isBatch) return generation
    try {
      await generation.#begin()
      return generation
    } catch (error) {
      generation[Symbol.dispose]()
      if (context.signal.aborted || !isUnreachable(error)) await bill(deps, context, Promise.reject(error))
      throw error
    }
  }

  static async #open(
    deps: GenerationDeps,
    request: GenerationRequest,
    context: GenerationContext,
  ): Promise<Generation> {
    const { input, modelId, priority } = request
    const { signal, timeline, caller } = context
    const engineOptions = { ...traceOf(context), ...toEngineOptions(request, context.caller) }
    const lease = await leaseModel(deps.registry, { modelId, caller, signal, priority })
    try {
      checkRequest(request, lease)
      reportCap(request.maxNewTokens, engineOptions.options.maxNewTokens, context)
      timeline.recordModel(lease.modelId)
      const prompts = await preparePrompts(deps, { input, lease, accountId: caller.accountId, signal })
      const { maxNewTokens: askedTokens } = request
      const ofUpstream = lease.info.takesChats === true ? forUpstream(request) : {}
      const plan = planChat(request, lease, prompts)
      const constraintField = request.constraintField ?? (plan?.constraint ? 'tools' : undefined)
      const options = plan === null ? engineOptions.options : withAnswerPlan(engineOptions.options, plan)
      return new Generation({
        ...{ deps, context, lease, input, askedTokens, prompts, constraintField },
        engineOptions: { ...engineOptions, ...ofUpstream, options },
        createReader: plan?.createReader ?? null,
        relaxConstraint: plan?.relaxConstraint ?? null,
      })
    } catch (error) {
      lease[Symbol.dispose]()
      throw withChatFieldName(error, input)
    }
  }

  /** What each prompt says; none of a chat. @throws ServiceError; the signal's reason */
  async promptTexts(): Promise<readonly string[]> {
    const { input, lease, context } = this.#opened
    return input.kind === 'chat' ? [] : await textsOf(input.prompts, lease, context.signal)
  }

  /** Runs to the end, gives the events that may leave as they come, and bills. Call once. @throws ServiceError; the signal's reason */
  run(onEvents: OnGenerationEvents): Promise<void> {
    const { deps, context, prompts } = this.#opened
    return bill(deps, context, this.#generate(prompts.filter(isAccepted), onEvents))
  }

  /** Instead of `run`: returns one result for each sequence, those of the first prompt first. @throws as `run` does */
  fold(): Promise<readonly GeneratedSequence[]> {
    const { deps, context } = this.#opened
    return bill(deps, context, this.#foldAll())
  }

  [Symbol.dispose](): void {
    // Left before it was run; of one that has run, nothing is left.
    this.#begun?.events.return?.().catch(() => {})
    this.#opened.lease[Symbol.dispose]()
  }

  /** Runs prompts as one block to their ends. What the engine made is counted also where it may not leave. */
  async #generate(prompts: readonly Prompt[], onEvents: OnGenerationEvents): Promise<void> {
    const { engineOptions, context, lease } = this.#opened
    const request = { ...engineOptions, prompts }
    const count = countSequences(request)
    const filter = this.#openFilter(count)
    const toAnswer = this.#openReader(filter, count)
    const engineEvents = this.#begun === null ? this.#engineEvents(request) : resume(this.#begun)
    const outlet = new EventOutlet(onEvents, context.signal)
    // An engine of this server goes on although nobody reads: what it makes is counted as it comes.
    const isPulled = lease.info.takesChats === true
    try {
      for await (const events of engineEvents) {
        for (const event of events) {
          this.#counter.record(event)
          for (const read of toAnswer(event))
            outlet.add(read.type === 'sequence-end' ? this.#toGenerationEnd(read) : read)
          if (filter?.isOver === true) break
        }
        outlet.give()
        if (isPulled || outlet.hasFailed) await outlet.whenEmpty()
        // Ending the iteration ends what still runs.
        if (filter?.isOver === true) return
      }
    } finally {
      // What came before a failure leaves before it.
      outlet.give()
      await outlet.whenEmpty()
    }
  }

  /** From an event of the engine to those that may leave: judged, and read where the engine gives text only. */
  #openReader(filter: OutputFilter | null, count: number): (event: AnswerEvent) => readonly SequenceEvent[] {
    const { createReader, lease } = this.#opened
    if (lease.info.takesChats === true) {
      const calls = new BareCalls(count)
      if (filter === null) return (event) => calls.complete([event])
      const joined = new JoinedAnswers(count, (text) => removeControls(text).length)
      const judge = (event: EngineEvent): readonly EngineEvent[] => filter.pass(event)
      return (event) => calls.complete(joined.pass(event, judge))
    }
    const reading = createReader === null ? null : new AnswerEvents(createReader, count)
    return (event) => {
      if (!isTextEvent(event)) throw new InvariantError(`An engine that takes prompts gave a ${event.type}.`)
      const passed = filter?.pass(event) ?? [event]
      return reading === null ? passed : passed.flatMap((one) => reading.read(one))
    }
  }

  async #begin(): Promise<void> {
    const { engineOptions, prompts } = this.#opened
    const request = { ...engineOptions, prompts: prompts.filter(isAccepted) }
    const events = this.#engineEvents(request)[Symbol.asyncIterator]()
    this.#begun = { events, first: await events.next() }
  }

  #engineEvents(request: EngineRequest): AsyncIterable<readonly AnswerEvent[]> {
    const { lease, context, relaxConstraint: relax, constraintField } = this.#opened
    const { signal } = context
    const events =
      relax === null
        ? lease.engine.generate(request, signal)
        : generateRelaxed(lease.engine, request, { relax, signal })
    return constraintField === undefined ? events : withConstraintField(events, constraintField)
  }

  /** @throws ServiceError for a failure, except in a batch, where it is the result of its prompt */
  #toGenerationEnd({ error: failure, ...event }: SequenceEndEvent): GenerationEvent {
    if (failure === null) return { ...event, error: null }
    const { input, context } = this.#opened
    const params = { requestId: context.requestId, ...failure.params }
    // The engine knows no field names.
    const param = failure.code === 'context_length_exceeded' ? fieldOf(input) : undefined
    const error = new ServiceError(failure.code, params, param === undefined ? {} : { param })
    if (input.kind === 'chat' || input.batch === null) throw error
    return { ...event, error }
  }

  async #foldAll(): Promise<readonly GeneratedSequence[]> {
    const { input, prompts, context, deps } = this.#opened
    const accepted = prompts.filter(isAccepted)
    if (input.kind === 'chat' || input.batch === null) return await this.#foldBlock(accepted)
    const isSeparate = input.batch === 'separate'
    const results = await (isSeparate ? this.#foldSeparately(accepted) : this.#foldBatch(accepted))
    const next = results.values()
    const outcomes = prompts.map((prompt, index): BatchOutcome => {
      if (isAccepted(prompt)) return next.next().value ?? missing()
      return prompt instanceof ServiceError
        ? { sequence: failedSequence(prompt), failure: prompt }
        : { sequence: this.#endOversized(prompt, index), failure: null }
    })
    throwIfAllFailed(outcomes.map(({ failure }) => failure))
    return outcomes.map(({ sequence, failure }, index) => {
      if (failure === null) return withFieldName(sequence, input.prompts[index])
      logCause(failure, context.requestId, deps.log)
      return sequence
    })
  }

  async #foldBlock(prompts: readonly Prompt[]): Promise<readonly GeneratedSequence[]> {
    const sequences = countSequences({ ...this.#opened.engineOptions, prompts })
    if (sequences === 0) return []
    const folds = Array.from({ length: sequences }, () => new SequenceFold<ServiceError>())
    await this.#runInto(folds, prompts)
    return folds.map((fold) => fold.finish())
  }

  /** Runs prompts as one block, of which each sequence has a fold. */
  async #runInto(folds: readonly SequenceFold<ServiceError>[], prompts: readonly Prompt[]): Promise<void> {
    await this.#generate(prompts, (events) => {
      for (const event of events) (folds[event.index] ?? missing()).add(event)
    })
  }

  /** A block of which nothing is lost where its engine dies: what has ended stays, and what had not begun is run again. */
  async #foldBatch(prompts: readonly Prompt[]): Promise<readonly BatchOutcome[]> {
    const { requestId, signal } = this.#opened.context
    const results: BatchOutcome[] = []
    let left = prompts.map((prompt, index) => ({ prompt, index }))
    while (left.length > 0) {
      const folds = left.map(() => new SequenceFold<ServiceError>())
      let failure: ServiceError | null = null
      try {
        const block = left.map(({ prompt }) => prompt)
        await this.#runInto(folds, block)
      } catch (thrown) {
        const hasBegun = results.length > 0 || folds.some((fold) => fold.hasBegun)
        if (!hasBegun || signal.aborted) throw thrown
        failure = toServiceError(thrown, requestId)
      }
      const isAgain = (fold: SequenceFold<ServiceError>): boolean =>
        !fold.hasBegun && failure?.code === 'engine_failed' && folds.some(({ hasBegun }) => hasBegun)
      for (const [at, fold] of folds.entries()) {
        const { index } = left[at] ?? missing()
        if (fold.hasEnded) results[index] = { sequence: fold.finish(), failure: null }
        else if (!isAgain(fold)) results[index] = brokenOff(fold, failure ?? missing())
      }
      left = left.filter((_, at) => isAgain(folds[at] ?? missing()))
    }
    return results
  }

  /** Each prompt as a block of its own, so that a failure of one concerns no other. */
  async #foldSeparately(prompts: readonly Prompt[]): Promise<readonly BatchOutcome[]> {
    const { requestId, signal } = this.#opened.context
    const foldOne = async (prompt: Prompt): Promise<BatchOutcome> => {
      const fold = new SequenceFold<ServiceError>()
      try {
        await this.#runInto([fold], [prompt])
        return { sequence: fold.finish(), failure: null }
      } catch (thrown) {
        return brokenOff(fold, toServiceError(thrown, requestId))
      }
    }
    const results = await Promise.all(prompts.map(foldOne))
    signal.throwIfAborted()
    return results
  }

  /** As if the engine had refused it. */
  #endOversized({ tooLong }: OversizedPrompt, index: number): GeneratedSequence {
    const error = { code: tooLong.code, params: tooLong.params }
    this.#opened.context.timeline.record({ type: 'sequence-end', index, finishReason: 'error', error })
    return failedSequence(tooLong)
  }

  #openFilter(count: number): OutputFilter | null {
    const { deps, context, input } = this.#opened
    if (deps.outputGuard === null) return null
    const onHit = (rule: string, hits: number): void => {
      deps.metrics.countGuardHit({ guard: 'output', rule }, hits)
      const { requestId } = context
      deps.log.info({ requestId, rule, hits }, 'the output guard took something out of an answer')
    }
    return deps.outputGuard.open(count, { systemMessages: systemMessages(input), onHit })
  }
}

/** By what the request is found in logs and traces. */
function traceOf({
  requestId,
  traceparent,
}: GenerationContext): Pick<EngineRequest, 'reqId' | 'traceparent'> {
  return { reqId: requestId, ...(traceparent !== undefined && { traceparent }) }
}

interface BegunAnswer {
  readonly events: AsyncIterator<readonly AnswerEvent[]>
  readonly first: IteratorResult<readonly AnswerEvent[]>
}

async function* resume({ events, first }: BegunAnswer): AsyncGenerator<readonly AnswerEvent[], void, void> {
  try {
    for (let next = first; next.done !== true; next = await events.next()) yield next.value
  } finally {
    await events.return?.()
  }
}

/** How the answer to a chat is constrained and read; null for prompts, whose text is continued as it is. */
/** A chat is sent to an upstream as it is, with what only the upstream reads. */
function forUpstream({
  input,
  upstreamFields,
}: GenerationRequest): Pick<EngineRequest, 'chat' | 'upstreamFields'> {
  return {
    ...(input.kind === 'chat' && { chat: input }),
    ...(upstreamFields !== undefined && { upstreamFields: upstreamFields.fields }),
  }
}

function planChat(
  { input, constraint }: GenerationRequest,
  lease: ModelLease,
  [prompt]: readonly PreparedPrompt[],
): AnswerPlan | null {
  if (input.kind === 'prompts' || prompt === undefined || !('pieces' in prompt)) return null
  const plan = lease.planAnswer({ chat: input, prompt, constraint: constraint ?? null })
  return lease.info.canConstrain === true ? plan : { ...plan, constraint: null, relaxConstraint: null }
}

/** The body's name for what is too long; undefined where one of several is. */
function fieldOf(input: GenerationRequest['input']): string | undefined {
  if (input.kind === 'chat') return chatFieldName(input)
  return input.batch === null ? 'prompt' : undefined
}

/** What is wrong with one of several prompts names it. */
function withFieldName(sequence: GeneratedSequence, prompt: InputPrompt | undefined): GeneratedSequence {
  const { error } = sequence
  const isAboutPrompt = error?.code === 'context_length_exceeded' || error?.code === 'prompt_empty'
  return isAboutPrompt && prompt ? { ...sequence, error: withPromptName(error, prompt.name) } : sequence
}

/** One that its engine did not end. */
function brokenOff(fold: SequenceFold<ServiceError>, failure: ServiceError): BatchOutcome {
  return { sequence: fold.fail(failure), failure }
}

function isTextEvent(event: AnswerEvent): event is EngineEvent {
  return event.type === 'text-delta' || event.type === 'sequence-start' || event.type === 'sequence-end'
}

function isAccepted(prompt: PreparedPrompt): prompt is Prompt {
  return 'pieces' in prompt || 'tokenIds' in prompt
}

function missing(): never {
  throw new InvariantError('A prompt and its sequence must come together.')
}

/** The operator's instructions, which the output guard keeps the model from repeating at length. */
function systemMessages(input: GenerationRequest['input']): readonly string[] {
  if (input.kind === 'prompts') return []
  return input.messages.filter(({ role }) => role === 'system').map(({ content }) => content)
}
