/**
 * What the API sees of an engine: requests in, events out. Types only; nothing of HTTP, of keys or of any runtime is in here.
 * What a request goes through is a stack of such engines:
 *
 *   lease                 a request's hold on a loaded model; a swap waits for it     models/loaded-model.ts
 *    └─ QueuedEngine      counts waiting sequences, over all models, and refuses (429)        models/queue/queued-engine.ts
 *        └─ cache touch   marks the model's file as in use until it is closed         checkpoints/cache/artifact-manifest.ts
 *            └─ ReplicatedEngine     the replica with the least to do                 engines/process/host/
 *                └─ EngineHost       one engine process, started again when it dies   engines/process/host/
 *                    └─ EngineClient      one connection: requests out, events in     engines/process/connection/
 *                        └─ RequestStream    one request's events, up to its end      engines/process/step-loop/
 *    ─ ─ socket ─ ─
 *   EngineServer ─ EngineConnection (one for each client) ─ StepLoop ─ scheduler, ModelRunner
 *
 * The passthrough model has an InProcessEngine below its lease and its queue, which runs the step loop in this process.
 *
 * A request that is refused as a whole (queue full, engine gone) makes the iterator throw a `ServiceError`;
 * one sequence that cannot run (its prompt is too long) ends with `finishReason: 'error'` and loses no other.
 */
import type { AdapterOptions, OpenedAdapter } from './adapter.ts'
import type { Chat } from './chat.ts'
import type { Constraint } from './constraint.ts'
import type { AnswerEvent } from './engine-events.ts'
import type { ModelInfo } from './model-info.ts'

/**
 * Text to continue. Pieces are tokenized one by one, special tokens recognised inside a piece but never across
 * a border, so a border inside `</s>` makes plain text of it.
 */
export interface TextPrompt {
  readonly pieces: readonly string[]
  /** Whether the tokenizer adds its own BOS (and EOS); false where a chat template has written them. */
  readonly addSpecial: boolean
}

/** Tokens to continue, at least one, each in the model's vocabulary; none is added to them. */
export interface TokenPrompt {
  readonly tokenIds: readonly number[] | Int32Array
}

export type Prompt = TextPrompt | TokenPrompt

/**
 * Sampling in the order Hugging Face applies it, after what a constraint forbids has been left out: logit_bias, repetition penalty, frequency and presence penalty (as vLLM),
 * temperature, top_k, top_p, min_p.
 */
export interface Sampling {
  /** 0 is greedy; otherwise above 0. */
  readonly temperature: number
  /** 0 is off. */
  readonly topK: number
  /** 0 to 1; 0 keeps the one likeliest token, 1 is off. */
  readonly topP: number
  /** Over prompt and output; 1 is off. */
  readonly repetitionPenalty: number
  /** 0 to 1: drops tokens less likely than this share of the likeliest one's probability. @default 0, which is off */
  readonly minP?: number
  /** Subtracted from the logit of each token of the output. @default 0 */
  readonly presencePenalty?: number
  /** Subtracted from the logit of a token as often as it stands in the output. @default 0 */
  readonly frequencyPenalty?: number
  /** Added to the logits of single tokens. @default none */
  readonly logitBias?: readonly (readonly [tokenId: number, bias: number])[]
  /** With a seed, the prompt is computed whole in fixed chunks and the text is repeatable on an idle server. */
  readonly seed: number | null
}

/** When a text may end before its length, beside its stop strings. */
export interface EndRules {
  /** Before so many tokens neither a token nor a stop string ends it. */
  readonly minTokens: number
  /** Whether the model's own end tokens are tokens as any other. */
  readonly ignoresEndTokens: boolean
  /** Further tokens that end it. */
  readonly stopTokenIds: readonly number[]
}

export interface SequenceOptions {
  readonly maxNewTokens: number
  readonly sampling: Sampling
  /** Up to 16; the match and what follows are not part of the text. */
  readonly stopStrings: readonly string[]
  /** Once one of these has come, no stop string ends the text: what begins tool calls, which would be cut. @default none */
  readonly unstoppableAfter?: readonly string[]
  /** @default the model's end tokens end it, from the first token on */
  readonly endRules?: EndRules
  /** @default none: any text */
  readonly constraint?: Constraint
  /** Control tokens that are part of the text, as what they are called; others stand for none. @default none */
  readonly shownSpecialTexts?: readonly string[]
  /**
   * 0 to 20: the log probability of each token of the text is given, and those of so many of the likeliest. They are those of
   * the distribution after bias, penalties and temperature, before any truncation. Not beside beams. @default none are given
   */
  readonly topLogprobs?: number
  /** Above 1 a beam search; its text comes in one piece, at its end. @default 1 */
  readonly numBeams?: number
}

/** Where a request stands in the waiting queue. */
export interface QueuePlace {
  /** Of the tier; a higher one gets more of the slots. */
  readonly priorityClass: number
  /** -100 to 100; among requests of one account a higher one runs first. */
  readonly priority: number
  /** The account whose share of slots and queue it takes. */
  readonly accountId: string
  /** Priority classes that have callers: slots are kept for the higher ones among them. @default none known */
  readonly servedClasses?: readonly number[]
}

export interface EngineRequest {
  /** For logs on both sides; unique per HTTP request. */
  readonly reqId: string
  /** W3C trace context, for the server that it is passed on to. @default none */
  readonly traceparent?: string
  /** One sequence each, or `choices`; more than one queue as a block with one arrival time, accepted or refused whole. */
  readonly prompts: readonly Prompt[]
  /** In the place of a prompt, and only where `info().takesChats` is set: then there are no prompts. @default none */
  readonly chat?: Chat
  /** Further fields of the body, for an upstream, where `info().takesChats` is set. @default none */
  readonly upstreamFields?: Readonly<Record<string, unknown>>
  /** Sequences of each prompt: those of the first have the first indices. With a seed, each further one adds 1 to it. @default 1 */
  readonly choices?: number
  readonly options: SequenceOptions
  readonly place: QueuePlace
  /** The adapter that its sequences are computed with; see `Engine.openAdapter`. @default none */
  readonly adapterId?: number
}

/** Texts of which an engine of embeddings computes one vector each. */
export interface EmbeddingRequest extends Pick<EngineRequest, 'reqId' | 'place' | 'traceparent'> {
  readonly prompts: readonly Prompt[]
  /** For an upstream, which cuts its vectors itself; those of other engines are cut by the caller. @default whole vectors */
  readonly dimensions?: number
  /**
   * For an upstream, which ranks the prompts by it: each vector is one number then, the prompt's relevance. Other engines are
   * given prompts that hold it. @default vectors of the prompts
   */
  readonly query?: string
}

/** Sequences of a request. */
export function countSequences({ prompts, chat, choices = 1 }: EngineRequest): number {
  return (chat === undefined ? prompts.length : 1) * choices
}

/** Whether a request sent now would run: at once, after a restart, or not at all. */
export type EngineStatus = (
  | { readonly state: 'ready' | 'restarting' }
  | { readonly state: 'failed'; readonly message: string }
) & {
  /** Absent where there is only ever one. */
  readonly replicas?: ReplicaCount
  /** Processes of this engine that have ended by themselves; absent where it has none of its own. */
  readonly deaths?: number
  /** What conversations without a slot hold in host memory; absent where that is nothing. */
  readonly prefixCacheBytes?: number
  /** How often a sequence has lost its slot to others since its process started; absent where none has. */
  readonly preemptions?: number
}

export interface ReplicaCount {
  readonly all: number
  /** Those that serve now. */
  readonly ready: number
}

/** Where an engine's process takes clients, and what each of them must know. Only data. */
export type EnginePlace = {
  /** Of this process alone. */
  readonly info: ModelInfo
  /** Silence, while it has work, after which it is hung. */
  readonly silenceMs: number
} & (
  | { readonly state: 'ready'; readonly pid: number; readonly socketPath: string }
  | { readonly state: 'restarting' }
  | { readonly state: 'failed'; readonly message: string; readonly retryAfterSeconds: number }
)

/** An engine process as its owner shares it with clients in other processes. */
export interface SharedEngine {
  place(): EnginePlace
  /** A client has work there and has heard nothing for too long; no effect when another process serves by now. */
  reportHung(pid: number): void
  /** Whether a client has work there. */
  reportBusy(client: object, isBusy: boolean): void
}

export interface TokenizeRequest {
  readonly prompt: TextPrompt
  /** In the place of the prompt, which then has no pieces, and only where `info().takesChats` is set. @default none */
  readonly chat?: Chat
  /** The account whose turn it takes among texts that wait to be tokenized. */
  readonly accountId: string
  /** Whether the vocabulary's own text of each token is given too. @default false */
  readonly wantsTexts?: boolean
}

export interface TokenizedText {
  readonly tokenIds: Int32Array
  /** As the vocabulary writes each of them, `▁the` or `Ġthe`; null where they were not asked for. */
  readonly texts: readonly string[] | null
}

export interface Engine {
  /**
   * Runs a request. Gives its events in their order, each time all that have come since the last: to wait for every token
   * by itself would cost more than a quick step. Aborting the signal, or ending the iteration early, stops its sequences
   * within one step. Takes an `EmbeddingRequest`, and nothing else, where `info().embedding` is set, and also where
   * `takesChats` is; its sequences are a start
   * and an end with a vector.
   * @throws ServiceError when the request as a whole is refused or the engine fails.
   */
  generate(
    request: EngineRequest | EmbeddingRequest,
    signal: AbortSignal,
  ): AsyncIterable<readonly AnswerEvent[]>
  /**
   * The tokens that `generate` would make of a prompt. A long text is tokenized beside the steps, in turn for each account;
   * aborting the signal drops it. Not where `info().embedding` is set.
   * @throws ServiceError `context_length_exceeded`, `tokenizing_queue_full`
   */
  tokenize(request: TokenizeRequest, signal: AbortSignal): Promise<TokenizedText>
  /**
   * The text of tokens of the vocabulary, control tokens written out; what is no whole character is U+FFFD. The caller bounds
   * their number: they are read in one go.
   */
  detokenize(tokenIds: TokenPrompt['tokenIds'], signal: AbortSignal): Promise<string>
  /**
   * The same weights with a LoRA adapter, as an engine of its own that shares this one's slots; closing it frees the adapter.
   * Absent where none are taken.
   * @throws ServiceError `model_not_loadable`, `engine_unavailable`
   */
  openAdapter?(adapter: AdapterOptions, signal: AbortSignal): Promise<Engine>
  /** Of an engine that `openAdapter` gave; absent of any other. */
  readonly adapter?: OpenedAdapter
  info(): ModelInfo
  status(): EngineStatus
  /** Engine processes that take clients from other processes; absent where there are none. */
  replicas?(): readonly SharedEngine[]
  /** Ends the engine; requests that are still open fail with `shutting_down`. */
  close(): Promise<void>
}
