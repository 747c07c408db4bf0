/**
 * From prompts to tokens, for the step loop and the embedding loop, in their thread: requests with little text at once, others
 * through the tokenizing queue, and their long texts beside the steps. What is too long for the context by its length alone is
 * refused unread; tokens are taken as they are.
 * Invariant: of each task exactly one of `onDone`, `onDropped` and `onFailed` is called.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { InvariantError, ServiceError, toServiceError } from '../../core/errors.ts'
import type { TokenPrompt } from '../../protocol/engine.ts'
import type { LongPrompt, Runner, TokenizingJob } from '../../protocol/model-runner.ts'
import { isTokenPrompt, textBytes, unpackPrompt } from './packed-prompt.ts'
import { TokenizingQueue, type Tokenized, type TokenizingTask } from './tokenizing-queue.ts'

/**
 * A request with no more text is tokenized at once, in a millisecond or two, which is less than its way to another thread and
 * back takes while the cores compute. A turn of the event loop does so for a few of them, and for some of the texts of that
 * length in larger requests: through another thread each of those would take a turn, and so a step.
 */
const MAX_INLINE_BYTES = 8192
const MAX_INLINE_BYTES_PER_TURN = 2 * MAX_INLINE_BYTES

export interface PromptTokenizerOptions {
  readonly runner: Runner
  /** Called after each slice of a long prompt. */
  readonly onSlice: () => void
  /** No more slices can be computed. */
  readonly onBroken: (cause: unknown) => void
}

export interface PromptTask extends Omit<TokenizingTask, 'bytes' | 'prompts'> {
  readonly prompts: readonly (LongPrompt | TokenPrompt)[]
}

export class PromptTokenizer {
  readonly #runner: Runner
  readonly #queue: TokenizingQueue
  #inlineBytes = 0

  constructor({ runner, onSlice, onBroken }: PromptTokenizerOptions) {
    this.#runner = runner
    this.#queue = new TokenizingQueue({ begin: (prompt) => this.#begin(prompt), onSlice, onBroken })
  }

  /** Returns the function that drops the task; null where it is done already. @throws ServiceError `tokenizing_queue_full` */
  add(task: PromptTask): (() => void) | null {
    const { prompts } = task
    const texts = prompts.filter(isText)
    const bytes = texts.reduce((sum, prompt) => sum + textBytes(prompt), 0)
    if (this.#takesInline(bytes)) {
      task.onDone(
        withTokenPrompts(
          prompts,
          texts.map((prompt) => this.#tokenize(prompt)),
        ),
      )
      return null
    }
    return this.#queue.add({
      ...task,
      bytes,
      prompts: texts,
      onDone: (outcomes) => task.onDone(withTokenPrompts(prompts, outcomes)),
    })
  }

  /** Fails all tasks. */
  close(error: ServiceError): void {
    this.#queue.close(error)
  }

  #takesInline(bytes: number): boolean {
    if (bytes > MAX_INLINE_BYTES || this.#inlineBytes + bytes > MAX_INLINE_BYTES_PER_TURN) return false
    this.#countInline(bytes)
    return true
  }

  #countInline(bytes: number): void {
    if (this.#inlineBytes === 0) {
      setImmediate(() => {
        this.#inlineBytes = 0
      })
    }
    this.#inlineBytes += bytes
  }

  #tokenize(prompt: LongPrompt): Tokenized {
    try {
      return this.#refusalOf(prompt) ?? this.#runner.tokenize(unpackPrompt(prompt))
    } catch (error) {
      return toServiceError(error, '')
    }
  }

  /** Begins a text of a request with more than is tokenized at once. */
  #begin(prompt: LongPrompt): TokenizingJob {
    const bytes = textBytes(prompt)
    if (bytes <= MAX_INLINE_BYTES) {
      return { advance: () => this.#tokenizeInTurn(prompt, bytes), drop: () => {} }
    }
    const refusal = this.#refusalOf(prompt)
    if (refusal === null) return this.#runner.beginTokenizing(prompt)
    return { advance: () => Promise.resolve(refusal), drop: () => {} }
  }

  /** Leaves a part of each turn's bytes to the requests that are tokenized at once. */
  async #tokenizeInTurn(prompt: LongPrompt, bytes: number): Promise<Tokenized> {
    while (this.#inlineBytes + bytes > MAX_INLINE_BYTES) await nextTurn()
    this.#countInline(bytes)
    return this.#tokenize(prompt)
  }

  /** A text of n bytes is at least n / maxTokenBytes tokens: enough to refuse a huge one unread. */
  #refusalOf(prompt: LongPrompt): ServiceError | null {
    const { maxSeqLen } = this.#runner.info()
    const leastTokens = Math.ceil(textBytes(prompt) / this.#runner.maxTokenBytes)
    if (maxSeqLen === null || leastTokens <= maxSeqLen) return null
    return new ServiceError('context_length_exceeded', { given: `at least ${leastTokens}`, max: maxSeqLen })
  }
}

function isText(prompt: LongPrompt | TokenPrompt): prompt is LongPrompt {
  return !isTokenPrompt(prompt)
}

/** The outcomes of all prompts in their order, from those of the texts among them. */
function withTokenPrompts(
  prompts: PromptTask['prompts'],
  outcomes: readonly Tokenized[],
): readonly Tokenized[] {
  if (outcomes.length === prompts.length) return outcomes
  const texts = outcomes.values()
  return prompts.map((prompt) => {
    if (isTokenPrompt(prompt)) return Int32Array.from(prompt.tokenIds)
    const outcome = texts.next().value
    if (outcome === undefined) throw new InvariantError('Each text is tokenized.')
    return outcome
  })
}
