/**
 * The times and token counts of one request, recorded from the engine's events as they are read; read at the end for the
 * log line, the metrics and usage. All durations start when the request was received, on one monotonic clock. Tokens that
 * were generated before a client left are counted too.
 */
import type { Clock } from '../core/clock.ts'
import type { AnswerEvent, DraftCounts } from '../protocol/engine-events.ts'

/** The numbers of a generation, as the log line shows them. */
export interface GenerationSummary {
  readonly model: string
  readonly promptTokens: number
  readonly completionTokens: number
  /** Longest wait of its sequences; null while none has started. */
  readonly queueMs: number | null
  readonly ttftMs: number | null
  readonly e2eMs: number | null
  /** Reasons of all sequences, each once, joined by commas. */
  readonly finishReason: string | null
}

/** When a generation came to what, in milliseconds since the request was received. */
export interface RequestPhases {
  readonly queuedMs: number
  /** Its first sequence got a slot. */
  readonly startedMs: number
  readonly firstTokenMs: number | null
  /** Null while a sequence has not ended, or where none has begun. */
  readonly lastEndMs: number | null
}

export class RequestTimeline {
  readonly #clock: Clock
  readonly #receivedMs: number
  #endedMs: number | null = null
  #model: string | null = null
  #promptTokens = 0
  #completionTokens = 0
  #drafts: DraftCounts = { draftedTokens: 0, acceptedTokens: 0 }
  #queueMs: number | null = null
  #startedMs: number | null = null
  #startedQueueMs = 0
  #firstTokenMs: number | null = null
  #lastEndMs: number | null = null
  readonly #finishReasons = new Set<string>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#receivedMs = clock.nowMs()
  }

  /** The request got a lease on this model. */
  recordModel(modelId: string): void {
    this.#model = modelId
  }

  record(event: AnswerEvent): void {
    switch (event.type) {
      case 'sequence-start':
        this.#promptTokens += event.promptTokens
        if (this.#startedMs === null) {
          this.#startedMs = this.#clock.nowMs()
          this.#startedQueueMs = event.queueMs
        }
        this.#queueMs = Math.max(this.#queueMs ?? 0, event.queueMs)
        break
      case 'text-delta':
        this.#completionTokens += event.tokenIds.length
        this.#firstTokenMs ??= this.#clock.nowMs()
        break
      case 'reasoning-delta':
      case 'tool-call-start':
      case 'tool-call-delta':
        this.#firstTokenMs ??= this.#clock.nowMs()
        break
      case 'sequence-end':
        this.#lastEndMs = this.#clock.nowMs()
        this.#finishReasons.add(event.finishReason)
        this.#promptTokens += event.promptTokensCorrection ?? 0
        if (event.drafts !== undefined) this.#addDrafts(event.drafts)
        break
    }
  }

  /** Whether the engine has begun on any of its sequences. */
  get hasStarted(): boolean {
    return this.#queueMs !== null
  }

  /** Null before it got a lease. */
  get modelId(): string | null {
    return this.#model
  }

  get promptTokens(): number {
    return this.#promptTokens
  }

  get completionTokens(): number {
    return this.#completionTokens
  }

  /** Of its sequences that have ended. */
  get drafts(): DraftCounts {
    return this.#drafts
  }

  /** Until now, or until its end. */
  elapsedMs(): number {
    return (this.#endedMs ?? this.#clock.nowMs()) - this.#receivedMs
  }

  /** Its answer has been written, or its client has left; what was counted of it may still come. */
  end(): void {
    this.#endedMs ??= this.#clock.nowMs()
  }

  /** Null for a request that never reached a model. */
  summary(): GenerationSummary | null {
    if (this.#model === null) return null
    return {
      model: this.#model,
      promptTokens: this.#promptTokens,
      completionTokens: this.#completionTokens,
      queueMs: round(this.#queueMs),
      ttftMs: this.#since(this.#firstTokenMs),
      e2eMs: this.#since(this.#lastEndMs),
      finishReason: this.#finishReasons.size === 0 ? null : [...this.#finishReasons].join(','),
    }
  }

  /** Null where no sequence has started. */
  phases(): RequestPhases | null {
    if (this.#startedMs === null) return null
    const startedMs = this.#startedMs - this.#receivedMs
    const since = (momentMs: number | null) => (momentMs === null ? null : momentMs - this.#receivedMs)
    return {
      queuedMs: Math.max(0, startedMs - this.#startedQueueMs),
      startedMs,
      firstTokenMs: since(this.#firstTokenMs),
      lastEndMs: since(this.#lastEndMs),
    }
  }

  #addDrafts({ draftedTokens, acceptedTokens }: DraftCounts): void {
    this.#drafts = {
      draftedTokens: this.#drafts.draftedTokens + draftedTokens,
      acceptedTokens: this.#drafts.acceptedTokens + acceptedTokens,
    }
  }

  #since(momentMs: number | null): number | null {
    return momentMs === null ? null : round(momentMs - this.#receivedMs)
  }
}

/** Milliseconds with one decimal are as exact as a log line needs. */
function round(ms: number): number
function round(ms: number | null): number | null
function round(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10
}
