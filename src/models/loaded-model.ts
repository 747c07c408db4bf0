/**
 * A loaded model and the count of its leases. When it is retired its engine closes with the last lease.
 * Owned by the registry.
 */
import { InvariantError } from '../core/errors.ts'
import { type Resolvers, withResolvers } from '../core/concurrency/with-resolvers.ts'
import type { ToolFormat } from '../core/choices/tool-format.ts'
import { callableTools, type Chat } from '../protocol/chat.ts'
import type { Engine, TextPrompt } from '../protocol/engine.ts'
import type { ModelInfo } from '../protocol/model-info.ts'
import { type AnswerPlan, type AnswerRequest, planAnswer } from './chat/answer-plan.ts'
import { ChatTemplate, type TemplateModel } from './chat/chat-template.ts'
import { writesTools } from './chat/formats/choose-format.ts'
import { isLongChat, type RenderThread } from './chat/render-thread.ts'
import type { EngineQueue } from './queue/engine-queue.ts'
import { PromptBound } from './prompt-bound.ts'
import { QueuedEngine } from './queue/queued-engine.ts'
import type { SequenceCounts } from './sequence-counts.ts'

/** A request's hold on a loaded model. The holder disposes it; a swap waits until every lease is gone. */
export interface ModelLease extends Disposable {
  readonly modelId: string
  /** Accepts requests while the waiting queue has capacity. */
  readonly engine: Pick<QueuedEngine, 'generate' | 'embed' | 'tokenize' | 'detokenize'>
  readonly info: ModelInfo
  /** What a prompt is refused by before it is worked on. */
  readonly promptBound: PromptBound
  /**
   * A long chat waits in its account's line.
   * @throws ServiceError `chat_template_failed` when the model's template refuses the messages; the signal's reason
   */
  renderChat(chat: Chat, accountId: string, signal: AbortSignal): Promise<TextPrompt>
  /** How the answer to a chat that was rendered is constrained and read. */
  planAnswer(request: AnswerRequest): AnswerPlan
}

/** What all models share. */
export interface LoadedModelDeps {
  readonly createQueue: (engine: Engine) => EngineQueue
  readonly renderThread: RenderThread
  readonly sequences: SequenceCounts
}

export interface LoadedModelOptions {
  readonly modelId: string
  readonly engine: Engine
  /** How the model writes tool calls. */
  readonly toolFormat: ToolFormat
  /** The model in whose engine an adapter runs: it stays open as long, and shares its queue. @default none */
  readonly base?: LoadedModel | null
  /** Called when its first lease is taken, and when its last one is gone. @default tells nobody */
  readonly onUse?: (isInUse: boolean) => void
}

export class LoadedModel {
  readonly modelId: string
  readonly engine: Engine
  /** Its part of the waiting queue. */
  readonly queue: EngineQueue
  readonly #queued: QueuedEngine
  readonly #promptBound: PromptBound
  readonly #renderThread: RenderThread
  readonly #sequences: SequenceCounts
  readonly toolFormat: ToolFormat
  /** Null for a model of its own. */
  readonly base: LoadedModel | null
  readonly #baseHold: Disposable | null
  /** By their source. */
  readonly #chatTemplates = new Map<string | null, ChatTemplate>()
  readonly #onUse: (isInUse: boolean) => void
  #leases = 0
  /** What keeps it open and is no request. */
  #holds = 0
  /** Adapters that run in its engine. */
  #adapters = 0
  #retired: Resolvers<void> | null = null

  constructor(
    { modelId, engine, toolFormat, base = null, onUse = () => {} }: LoadedModelOptions,
    { createQueue, renderThread, sequences }: LoadedModelDeps,
  ) {
    this.modelId = modelId
    this.toolFormat = toolFormat
    this.engine = engine
    this.base = base
    this.#baseHold = base === null ? null : base.#holdAsBase()
    this.#onUse = onUse
    this.#renderThread = renderThread
    this.#sequences = sequences
    this.queue = base?.queue ?? createQueue(engine)
    this.#queued = new QueuedEngine(engine, this.queue, sequences.of(modelId, engine.info()))
    this.#promptBound = new PromptBound(engine.info())
  }

  /** Whether adapters run in its engine. */
  get hasAdapters(): boolean {
    return this.#adapters > 0
  }

  /** Whether another has taken its place, or none. */
  get isRetired(): boolean {
    return this.#retired !== null
  }

  /** Whether there is a request for it. */
  get isInUse(): boolean {
    return this.#leases > 0
  }

  acquire(): ModelLease {
    if (this.#retired !== null) throw new InvariantError(`model ${this.modelId} is retired`)
    const use = this.use()
    return {
      modelId: this.modelId,
      engine: this.#queued,
      info: this.engine.info(),
      promptBound: this.#promptBound,
      renderChat: (chat, accountId, signal) => this.#renderChat(chat, accountId, signal),
      planAnswer: (request) => planAnswer(this.#templateModel(request.chat), request),
      [Symbol.dispose]: () => use[Symbol.dispose](),
    }
  }

  /** Counts requests for it that are served by another process. */
  use(): Disposable {
    if (this.#leases++ === 0) this.#onUse(true)
    return disposeOnce(() => {
      if (--this.#leases === 0) this.#onUse(false)
      this.#settle()
    })
  }

  /** Keeps its engine open, for a process that may send requests to it. */
  hold(): Disposable {
    this.#holds++
    return disposeOnce(() => {
      this.#holds--
      this.#settle()
    })
  }

  /** Resolves when the last lease is gone and the engine has closed. No lease can be taken any more. @throws what the engine throws */
  async retire(): Promise<void> {
    const isFirst = this.#retired === null
    this.#retired ??= withResolvers()
    this.#settle()
    await this.#retired.promise
    try {
      await this.engine.close()
    } finally {
      this.#baseHold?.[Symbol.dispose]()
      if (isFirst) this.#sequences.forget(this.modelId)
    }
  }

  async #renderChat(chat: Chat, accountId: string, signal: AbortSignal): Promise<TextPrompt> {
    const model = this.#templateModel(chat)
    if (isLongChat(chat)) return await this.#renderThread.render({ model, chat, accountId }, signal)
    return this.#chatTemplateOf(model).render(chat)
  }

  /** Parsed on first use: a model whose template is broken can still generate. */
  #chatTemplateOf(model: TemplateModel): ChatTemplate {
    const parsed = this.#chatTemplates.get(model.chatTemplate) ?? new ChatTemplate(model)
    this.#chatTemplates.set(model.chatTemplate, parsed)
    return parsed
  }

  #templateModel(chat: Chat): TemplateModel {
    const { bosText, chatTemplate, toolTemplate, eosText, maxSeqLen, specialTexts } = this.engine.info()
    const model = {
      bosText,
      eosText,
      maxSeqLen,
      specialTexts,
      modelId: this.modelId,
      toolFormat: this.toolFormat,
    }
    if (toolTemplate === undefined || callableTools(chat).length === 0) return { ...model, chatTemplate }
    const ofTools = { ...model, chatTemplate: toolTemplate }
    // One in a format that is not known is given no tools, and may fail without.
    return writesTools(ofTools) ? ofTools : { ...model, chatTemplate }
  }

  /** For an adapter, until its own engine has closed. */
  #holdAsBase(): Disposable {
    if (this.#retired !== null) throw new InvariantError(`model ${this.modelId} is retired`)
    this.#adapters++
    return disposeOnce(() => {
      this.#adapters--
      this.#settle()
    })
  }

  #settle(): void {
    if (this.#leases + this.#holds + this.#adapters === 0) this.#retired?.resolve()
  }
}

function disposeOnce(dispose: () => void): Disposable {
  let isHeld = true
  return {
    [Symbol.dispose]: () => {
      if (isHeld) dispose()
      isHeld = false
    },
  }
}
