/**
 * From prompts to tokens, for the step loop, in its thread: short texts at once, long ones beside the steps through the
 * tokenizing queue. What is too long for the context by its length alone is refused unread; tokens are taken as they are.
 * Invariant: of each task exactly one of `onDone` and `onDropped` is called, unless the tokenizer was closed.
 */
import { InvariantError, ServiceError, toServiceError } from '../../core/errors.ts'
import type { TokenPrompt } from '../../protocol/engine.ts'
import type { LongPrompt, ModelRunner, TokenizingJob } from '../../protocol/model-runner.ts'
import { isTokenPrompt, textBytes, unpackPrompt } from './packed-prompt.ts'
import { TokenizingQueue, type Tokenized, type TokenizingTask } from './tokenizing-queue.ts'

/**
 * A request with no more text is tokenized at once, in a millisecond or two, which is less than its way to another thread and
 * back takes while the cores compute. A turn of the event loop does so for a few of them.
 */
export const MAX_INLINE_BYTES = 8192
const MAX_INLINE_BYTES_PER_TURN = 2 * MAX_INLINE_BYTES

export interface PromptTokenizerOptions {
  readonly runner: ModelRunner
  /** Called after each slice of a long prompt. */
  readonly onSlice: () => void
  /** No more slices can be computed. */
  readonly onBroken: (cause: unknown) => void
}

export interface PromptTask extends Pick<TokenizingTask, 'accountId' | 'onDone' | 'onDropped'> {
  readonly prompts: readonly (LongPrompt | TokenPrompt)[]
}

export class PromptTokenizer {
  readonly #runner: ModelRunner
  readonly #queue: TokenizingQueue
  #inlineBytes = 0

  constructor({ runner, onSlice, onBroken }: PromptTokenizerOptions) {
    this.#runner = runner
    this.#queue = new TokenizingQueue({ begin: (prompt) => this.#begin(prompt), onSlice, onBroken })
  }

  /** Gives the function that drops the task; null where it is done already. @throws ServiceError `tokenizing_queue_full` */
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
      accountId: task.accountId,
      bytes,
      prompts: texts,
      onDone: (outcomes) => task.onDone(withTokenPrompts(prompts, outcomes)),
      onDropped: task.onDropped,
    })
  }

  /** Forgets all tasks. */
  close(): void {
    this.#queue.close()
  }

  #takesInline(bytes: number): boolean {
    if (bytes > MAX_INLINE_BYTES || this.#inlineBytes + bytes > MAX_INLINE_BYTES_PER_TURN) return false
    if (this.#inlineBytes === 0) {
      setImmediate(() => {
        this.#inlineBytes = 0
      })
    }
    this.#inlineBytes += bytes
    return true
  }

  #tokenize(prompt: LongPrompt): Tokenized {
    try {
      return this.#refusalOf(prompt) ?? this.#runner.tokenize(unpackPrompt(prompt))
    } catch (error) {
      return toServiceError(error, '')
    }
  }

  #begin(prompt: LongPrompt): TokenizingJob {
    const refusal = this.#refusalOf(prompt)
    if (refusal === null) return this.#runner.beginTokenizing(prompt)
    return { advance: () => Promise.resolve(refusal), drop: () => {} }
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
