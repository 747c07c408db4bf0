/**
 * A model that other servers serve over OpenAI's API. Takes a chat as it is, and prompts over completions, or as a message of the
 * user where an upstream has none. Each prompt is a request of its own, so that those of a batch spread over the endpoints.
 *
 * Invariant: once an event of an answer has left, its request is not sent again.
 */
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SecretText } from '../../core/text/secret-text.ts'
import type { Chat } from '../../protocol/chat.ts'
import type {
  EmbeddingRequest,
  Engine,
  EngineRequest,
  EngineStatus,
  Prompt,
  TokenizedText,
  TokenizeRequest,
  TokenPrompt,
} from '../../protocol/engine.ts'
import type { AnswerEvent } from '../../protocol/engine-events.ts'
import type { ModelInfo } from '../../protocol/model-info.ts'
import { AnswerReader, startsOf } from './answers/answer-reader.ts'
import { type EndpointAnswer, REMOTE_TIMEOUTS, type RemoteTimeouts } from './endpoint.ts'
import { estimatedStarts, readVectors, toEmbeddingRequest } from './embeddings.ts'
import { EndpointSet, type EndpointSetOptions } from './endpoint-set.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { mergeEvents } from '../../core/concurrency/merge-events.ts'
import { readJson } from './answers/json-answer.ts'
import { toChatRequest, toCompletionRequest, type UpstreamRequest } from './request-body.ts'
import { sendRequest } from './send-request.ts'
import { SseReader } from './answers/sse-events.ts'
import { refusesLength, refusesMaxTokens, refusesModel, toRefusal, unavailable } from './upstream-errors.ts'
import { type AskUpstream, detokenizeUpstream, tokenizeUpstream } from './upstream-tokens.ts'
import { readUpstreamModel, toModelInfo, UNKNOWN_MODEL, type UpstreamModel } from './upstream-model.ts'

/** Reason for work that is still open when its answer is over. One object: making one for each request takes a stack trace. */
const ENDED = new Error('the answer is over')

/** Statuses of a server that has no such route. */
const NO_ROUTE: ReadonlySet<number> = new Set([404, 405, 501])

export interface RemoteEngineOptions extends Pick<EndpointSetOptions, 'resolve' | 'onHealth' | 'observer'> {
  /** For messages. */
  readonly modelId: string
  readonly endpoints: readonly string[]
  readonly apiKey: SecretText | null
  /** Its id at the upstream; null takes the first that it lists. */
  readonly model: string | null
  readonly clock: Clock
  /** @default REMOTE_TIMEOUTS */
  readonly timeouts?: RemoteTimeouts
}

/** What was sent of a run at last, and what came of it. */
interface Sent {
  readonly path: UpstreamRequest['path']
  readonly answer: EndpointAnswer
  /** Where its sequences must be ended here; Infinity where the upstream was told. */
  readonly maxTokens: number
}

interface Run {
  readonly request: EngineRequest
  /** Null for the chat of the request. */
  readonly prompt: Prompt | null
  /** Index of its first sequence. */
  readonly firstIndex: number
  /** Whether an upstream has begun to be sent it. */
  isSent: boolean
}

/** Of one prompt of a batch. */
interface BatchRefusal {
  readonly error: ServiceError
  readonly ends: readonly AnswerEvent[]
}

export class RemoteEngine implements Engine {
  readonly #options: RemoteEngineOptions
  readonly #endpoints: EndpointSet
  #model: UpstreamModel = UNKNOWN_MODEL
  /** Of the model; asked for several times in each request. */
  #info = toModelInfo(UNKNOWN_MODEL)
  #hasCompletions = true
  /** The model whose chats have their limit under its newer name alone; null where none is known. */
  #newlyLimitedModel: string | null = null

  private constructor(options: RemoteEngineOptions) {
    this.#options = options
    const { onHealth } = options
    this.#endpoints = new EndpointSet({
      timeouts: REMOTE_TIMEOUTS,
      ...options,
      onHealth: (url, isHealthy) => {
        onHealth?.(url, isHealthy)
        // It may be another model's server now.
        if (isHealthy) void this.#readModel()
      },
    })
  }

  /** Resolves also where no endpoint answers: it may come later. */
  static async open(options: RemoteEngineOptions): Promise<RemoteEngine> {
    const engine = new RemoteEngine(options)
    await engine.#endpoints.open()
    await engine.#readModel()
    return engine
  }

  generate(
    request: EngineRequest | EmbeddingRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly AnswerEvent[], void, void> {
    signal.throwIfAborted()
    if (!('options' in request)) return this.#embed(request, signal)
    const [run, ...others] = toRuns(request)
    if (run !== undefined && others.length === 0) return this.#answer(run, signal)
    return this.#answerBatch(run === undefined ? [] : [run, ...others], signal)
  }

  async tokenize(request: TokenizeRequest, signal: AbortSignal): Promise<TokenizedText> {
    const tokens = await tokenizeUpstream(this.#asking(signal), await this.#modelName(), request)
    if (tokens === null) throw this.#unsupported('its upstream has no route that tells its tokens')
    return tokens
  }

  async detokenize(tokenIds: TokenPrompt['tokenIds'], signal: AbortSignal): Promise<string> {
    const text = await detokenizeUpstream(this.#asking(signal), await this.#modelName(), tokenIds)
    if (text === null) throw this.#unsupported('its upstream has no route that tells the text of tokens')
    return text
  }

  info(): ModelInfo {
    return this.#info
  }

  status(): EngineStatus {
    const { all, ready } = this.#endpoints
    const replicas = { all: all.length, ready: ready.length }
    return { state: ready.length > 0 ? 'ready' : 'restarting', replicas }
  }

  async close(): Promise<void> {
    await this.#endpoints.close()
  }

  async *#embed(
    request: EmbeddingRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly AnswerEvent[], void, void> {
    const upstream = toEmbeddingRequest(await this.#modelName(), request)
    let isSent = false
    const onSent = (): void => {
      isSent = true
    }
    let isAnswered = false
    let vectors: readonly AnswerEvent[]
    try {
      const answer = await this.#post({ ...upstream, onSent }, signal)
      if (answer.kind === 'refused') throw toRefusal(this.#options.modelId, answer.refusal)
      isAnswered = true
      vectors = await readVectors(answer.body, request)
    } catch (thrown) {
      // An upstream that has begun to answer has read the texts; it is not asked again.
      if (isAnswered || (signal.aborted && isSent)) yield estimatedStarts(request)
      throw thrown
    }
    yield vectors
  }

  #asking(signal: AbortSignal): AskUpstream {
    return async (request) => {
      const answer = await this.#post(request, signal)
      if (answer.kind === 'answered') return await readJson(answer.body)
      if (NO_ROUTE.has(answer.refusal.status)) return null
      throw toRefusal(this.#options.modelId, answer.refusal)
    }
  }

  /** Ends what still runs of a batch that is left. */
  async *#answerBatch(
    runs: readonly Run[],
    signal: AbortSignal,
  ): AsyncGenerator<readonly AnswerEvent[], void, void> {
    const work = new AbortController()
    const onAbort = (): void => work.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const refusals: BatchRefusal[] = []
    const takeEnds = (): readonly AnswerEvent[] => refusals.splice(0).flatMap(({ ends }) => ends)
    let hasBegun = false
    try {
      for await (const events of mergeEvents(
        runs.map((run) => this.#answerOfBatch(run, work.signal, refusals)),
      )) {
        hasBegun ||= hasAnswer(events)
        yield hasBegun ? [...takeEnds(), ...events] : events
      }
      signal.throwIfAborted()
      const [first] = refusals
      if (!hasBegun && first !== undefined) throw first.error
      if (first !== undefined) yield takeEnds()
    } finally {
      signal.removeEventListener('abort', onAbort)
      work.abort(ENDED)
    }
  }

  /**
   * What fails one prompt of a batch is the end of its sequences, and of no others. Of a batch that is left each says what it sent.
   * @param refusals gets what failed before anything of its answer came: a batch of which nothing has begun fails as a whole
   */
  async *#answerOfBatch(
    run: Run,
    signal: AbortSignal,
    refusals: BatchRefusal[],
  ): AsyncGenerator<readonly AnswerEvent[], void, void> {
    let hasBegun = false
    try {
      for await (const events of this.#answer(run, signal)) {
        hasBegun ||= hasAnswer(events)
        yield events
      }
    } catch (thrown) {
      if (signal.aborted) return
      if (!(thrown instanceof ServiceError) || thrown.code === 'shutting_down') throw thrown
      const { choices = 1 } = run.request
      const error = { code: thrown.code, params: thrown.params }
      const ends = Array.from({ length: choices }, (_, at) => ({
        ...{
          type: 'sequence-end' as const,
          index: run.firstIndex + at,
          finishReason: 'error' as const,
          error,
        },
      }))
      if (hasBegun) yield ends
      else refusals.push({ error: thrown, ends })
    }
  }

  async *#answer(run: Run, signal: AbortSignal): AsyncGenerator<readonly AnswerEvent[], void, void> {
    const sending = this.#send(run, signal)
    // Made while the upstream begins.
    const events = new SseReader()
    const { choices = 1, options } = run.request
    const shape = {
      choices,
      firstIndex: run.firstIndex,
      estimatedPromptTokens: estimateTokens(run.prompt, run.request.chat),
    }
    let sent: Sent
    try {
      sent = await sending
    } catch (thrown) {
      // Who leaves before the first byte has had the upstream read the prompt: that is counted.
      if (signal.aborted && run.isSent) yield startsOf(shape)
      throw thrown
    }
    const { path, answer, maxTokens } = sent
    if (answer.kind === 'refused') throw toRefusal(this.#options.modelId, answer.refusal)
    const reader = new AnswerReader({
      ...shape,
      kind: path === '/v1/completions' ? 'completion' : 'chat',
      stopStrings: options.stopStrings,
      topLogprobs: options.topLogprobs ?? 0,
      maxTokens,
    })
    // What came before a failure, or before the client left, leaves before it, and is counted.
    let read: AnswerEvent[] = []
    try {
      for await (const bytes of answer.body) {
        const isDone = readEvents(events.read(bytes), reader, read)
        // An answer that is over leaves whole, with its end.
        if (isDone) {
          answer.body.finish()
          break
        }
        // Leaving ends the request at the upstream.
        if (reader.isCut) break
        if (read.length === 0) continue
        const ready = read
        read = []
        yield ready
      }
      reader.end(read)
    } catch (thrown) {
      // The upstream has read the prompt, also where nothing came of it.
      reader.begin(read)
      reader.uncounted(read)
      if (read.length > 0) yield read
      signal.throwIfAborted()
      throw thrown
    }
    yield read
  }

  async #send(run: Run, signal: AbortSignal): Promise<Sent> {
    const { request, prompt } = run
    const { chat } = request
    const onSent = (): void => {
      run.isSent = true
    }
    const post = (upstream: UpstreamRequest): Promise<EndpointAnswer> =>
      this.#post({ ...upstream, onSent }, signal)
    if (chat !== undefined) return await this.#sendChat(chat, request, post)
    if (prompt === null) throw unavailable('it was asked for nothing.')
    if (this.#hasCompletions) {
      const upstream = toCompletionRequest(await this.#modelName(), prompt, request)
      const answer = await post(upstream)
      if (answer.kind === 'answered' || !NO_ROUTE.has(answer.refusal.status))
        return { path: upstream.path, answer, maxTokens: Infinity }
    }
    if (!('pieces' in prompt)) throw this.#unsupported('its upstream takes no tokens')
    const messages = [{ role: 'user' as const, content: prompt.pieces.join('') }]
    const sent = await this.#sendChat({ messages }, request, post)
    // Where the chat is missing too, it is the model that is not there.
    if (sent.answer.kind === 'answered') this.#hasCompletions = false
    return sent
  }

  /** With its limit as the upstream reads it; without where that is more than there is room for, so that it takes what is left. */
  async #sendChat(
    chat: Chat,
    request: EngineRequest,
    post: (upstream: UpstreamRequest) => Promise<EndpointAnswer>,
  ): Promise<Sent> {
    const path = '/v1/chat/completions'
    const { options } = request
    const ask = async (asked: EngineRequest): Promise<EndpointAnswer> => {
      const model = await this.#modelName()
      const limitName = model === this.#newlyLimitedModel ? 'max_completion_tokens' : 'max_tokens'
      return await post(toChatRequest({ model, limitName }, chat, asked))
    }
    const { maxNewTokens: maxTokens } = options
    let answer = await ask(request)
    if (answer.kind === 'refused' && refusesMaxTokens(answer.refusal)) {
      this.#newlyLimitedModel = await this.#modelName()
      answer = await ask(request)
    }
    if (answer.kind === 'answered' || maxTokens === Infinity || !refusesLength(answer.refusal))
      return { path, answer, maxTokens: Infinity }
    // What is left may be more than was asked for, at another endpoint or where the limit broke another rule.
    const unlimited = { ...request, options: { ...options, maxNewTokens: Infinity } }
    return { path, answer: await ask(unlimited), maxTokens }
  }

  /** Once more where the upstream does not know the model by the id that it listed, and lists another now. */
  async #post(request: UpstreamRequest, signal: AbortSignal): Promise<EndpointAnswer> {
    const answer = await sendRequest(this.#endpoints, request, signal)
    if (answer.kind === 'answered' || this.#options.model !== null) return answer
    const asked = String(request.body['model'])
    if (!refusesModel(answer.refusal, asked)) return answer
    // Another request may have read it since.
    if (this.#model.id === asked) await this.#readModel()
    const model = await this.#modelName()
    if (model === asked) return answer
    return await sendRequest(this.#endpoints, { ...request, body: { ...request.body, model } }, signal)
  }

  get #knownModelName(): string | null {
    return this.#options.model ?? this.#model.id
  }

  async #modelName(): Promise<string> {
    const known = this.#knownModelName
    if (known !== null) return known
    await this.#readModel()
    if (this.#model.id === null)
      throw unavailable(
        this.status().state === 'ready' ? 'its upstream lists no model.' : 'none of its endpoints is up.',
      )
    return this.#model.id
  }

  async #readModel(): Promise<void> {
    for (const endpoint of this.#endpoints.available) {
      try {
        const model = readUpstreamModel(await endpoint.read('/v1/models'), this.#options.model)
        if (model === null) continue
        this.#model = model
        this.#info = toModelInfo(model)
        return
      } catch {
        // Another endpoint may say it; this one's probes show that it is away.
      }
    }
  }

  #unsupported(why: string): ServiceError {
    const message = `model '${this.#options.modelId}' cannot do this: ${why}.`
    return new ServiceError('unsupported_value', { message }, { param: 'model' })
  }
}

function toRuns(request: EngineRequest): readonly Run[] {
  if (request.chat !== undefined) return [{ request, prompt: null, firstIndex: 0, isSent: false }]
  const { prompts, choices = 1 } = request
  return prompts.map((prompt, at) => ({ request, prompt, firstIndex: at * choices, isSent: false }))
}

/** Starts alone bill a prompt of which nothing may come. */
function hasAnswer(events: readonly AnswerEvent[]): boolean {
  return events.some(({ type }) => type !== 'sequence-start')
}

/** Whether the last of them was the end of the answer. */
function readEvents(datas: readonly string[], reader: AnswerReader, read: AnswerEvent[]): boolean {
  for (const data of datas) {
    if (data === '[DONE]') return true
    reader.read(data, read)
  }
  return false
}
