/**
 * The model that serves while no other is registered: tokens are UTF-8 bytes, and a prompt is continued with the
 * prompt itself, once (decisions, section 3). No weights and nothing native, so it runs inside the HTTP process and
 * every scheduler test runs the real scheduler on it. Sampling changes nothing: the one token that can come has the probability 1.
 */
import type { TextPrompt } from '../../protocol/engine.ts'
import type { ModelInfo } from '../../protocol/model-info.ts'
import type {
  LongPrompt,
  ModelRunner,
  SampledLogprob,
  SlotStart,
  StepOutput,
  StepPlan,
  TokenizingJob,
} from '../../protocol/model-runner.ts'
import { packPrompt } from '../tokenizing/packed-prompt.ts'
import { createSliceJob, type TokenSlices } from '../tokenizing/slice-job.ts'

/** With every slot taken that is less than a millisecond, and most requests end within it. */
const STEPS_PER_TURN = 64

/** Bounds how long one turn of the event loop lasts while a huge prompt is read: 65,536 bytes in all its steps. */
const MAX_STEP_TOKENS = 1024

/** Tokenized in one turn of the event loop, in less than a millisecond. */
const SLICE_BYTES = 256 * 1024

const BYTES = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))

export interface PassthroughOptions {
  readonly maxBatchSize: number
  /** Null: no limit. */
  readonly maxSeqLen: number | null
}

export class PassthroughRunner implements ModelRunner {
  readonly maxStepTokens = MAX_STEP_TOKENS
  readonly stepsPerTurn = STEPS_PER_TURN
  readonly canReusePrefixes = false
  readonly canCopySlots = false
  readonly maxTokenBytes = 1
  readonly #info: ModelInfo
  /** What each slot continues; null before its first sequence. */
  readonly #prompts: (Int32Array | null)[]
  /** By slot; of sequences that ask for log probabilities. */
  readonly #topLogprobs = new Map<number, number>()

  constructor(options: PassthroughOptions) {
    this.#prompts = Array.from({ length: options.maxBatchSize }, () => null)
    this.#info = {
      architecture: 'passthrough',
      parameters: 0,
      sizeBytes: 0,
      quantization: 'none',
      maxSeqLen: options.maxSeqLen,
      vocabSize: BYTES.length,
      engine: 'passthrough',
      maxBatchSize: options.maxBatchSize,
      chatTemplate: "{{ messages[-1]['content'] }}",
      bosText: '',
      eosText: '',
      specialTexts: [],
      threads: null,
      memoryBytes: null,
    }
  }

  info(): ModelInfo {
    return this.#info
  }

  tokenize(prompt: TextPrompt): Int32Array {
    return new Int32Array(Buffer.from(prompt.pieces.join(''), 'utf8'))
  }

  beginTokenizing(prompt: LongPrompt): TokenizingJob {
    return createSliceJob(toTokenSlices(prompt))
  }

  tokenBytes(tokenId: number): Uint8Array {
    const bytes = BYTES[tokenId]
    if (bytes === undefined) throw new RangeError(`token id ${tokenId} is not a byte`)
    return bytes
  }

  tokenText(tokenId: number): string {
    return Buffer.from(this.tokenBytes(tokenId)).toString('utf8')
  }

  detokenize(tokenIds: ArrayLike<number>): string {
    return Buffer.from(Uint8Array.from(tokenIds)).toString('utf8')
  }

  isEndOfGeneration(): boolean {
    return false
  }

  execute(plan: StepPlan): StepOutput {
    for (const start of plan.starts) this.#start(start)
    const tokenIds: (number | null)[] = []
    const logprobs: (readonly SampledLogprob[])[] = []
    for (const { slotId, position, tokenIds: computed, wantsToken } of plan.runs) {
      const prompt = this.#prompts[slotId] ?? null
      if (prompt === null) throw new RangeError(`slot ${slotId} was not started`)
      const newTokens = position + computed.length - prompt.length
      if (!wantsToken) continue
      const tokenId = prompt[newTokens] ?? null
      tokenIds.push(tokenId)
      if (this.#topLogprobs.size > 0) logprobs.push(this.#logprobsOf(slotId, tokenId))
    }
    return this.#topLogprobs.size === 0 ? { tokenIds } : { tokenIds, logprobs }
  }

  close(): void {}

  #start({ slotId, promptTokenIds, topLogprobs }: SlotStart): void {
    this.#prompts[slotId] = promptTokenIds
    if (topLogprobs === undefined) this.#topLogprobs.delete(slotId)
    else this.#topLogprobs.set(slotId, topLogprobs)
  }

  #logprobsOf(slotId: number, tokenId: number | null): readonly SampledLogprob[] {
    const top = this.#topLogprobs.get(slotId)
    if (top === undefined || tokenId === null) return []
    return [{ logprob: 0, top: top === 0 ? [] : [{ tokenId, logprob: 0 }] }]
  }
}

function* toTokenSlices(prompt: LongPrompt): TokenSlices {
  const { text } = packPrompt(prompt)
  const tokenIds = new Int32Array(text.length)
  for (let offset = 0; offset < text.length; offset += SLICE_BYTES) {
    yield offset
    tokenIds.set(text.subarray(offset, offset + SLICE_BYTES), offset)
  }
  return tokenIds
}
