/** An engine that plays what a test wrote, to show the API what no well-behaved model would. */
import { ServiceError } from '../../../src/core/errors.ts'
import { withResolvers } from '../../../src/core/concurrency/with-resolvers.ts'
import type {
  Engine,
  EngineRequest,
  EngineStatus,
  Prompt,
  TokenizedText,
  TokenizeRequest,
} from '../../../src/protocol/engine.ts'
import type { EngineEvent } from '../../../src/protocol/engine-events.ts'
import type { ModelInfo } from '../../../src/protocol/model-info.ts'

export type Script = (request: EngineRequest, signal: AbortSignal) => AsyncIterable<EngineEvent>

export class ScriptedEngine implements Engine {
  readonly requests: EngineRequest[] = []
  readonly #script: Script
  readonly #info: ModelInfo

  constructor(script: Script, info: Partial<ModelInfo> = {}) {
    this.#script = script
    this.#info = { ...SCRIPTED_INFO, ...info }
  }

  async *generate(request: EngineRequest, signal: AbortSignal): AsyncGenerator<readonly EngineEvent[]> {
    this.requests.push(request)
    for await (const event of this.#script(request, signal)) yield [event]
  }

  /** Bytes, as the passthrough model's. */
  tokenize({ prompt, wantsTexts = false }: TokenizeRequest): Promise<TokenizedText> {
    const bytes = Buffer.from(prompt.pieces.join(''))
    const texts = wantsTexts ? Array.from(bytes, (byte) => String.fromCodePoint(byte)) : null
    return Promise.resolve({ tokenIds: Int32Array.from(bytes), texts })
  }

  detokenize(tokenIds: ArrayLike<number>): Promise<string> {
    return Promise.resolve(Buffer.from(Uint8Array.from(tokenIds)).toString())
  }

  info(): ModelInfo {
    return this.#info
  }

  status(): EngineStatus {
    return { state: 'ready' }
  }

  async close(): Promise<void> {}
}

const SCRIPTED_INFO: ModelInfo = {
  architecture: 'llama',
  parameters: 125_000_000,
  sizeBytes: 71_500_000,
  quantization: 'Q4_0',
  maxSeqLen: 4096,
  vocabSize: 32_000,
  engine: 'llama.cpp',
  maxBatchSize: 8,
  chatTemplate: "{{ messages[-1]['content'] }}",
  bosText: '<s>',
  eosText: '</s>',
  specialTexts: [],
  threads: 2,
  memoryBytes: null,
}

export function sequenceStart(index = 0, promptTokens = 2): EngineEvent {
  return { type: 'sequence-start', index, promptTokens, cachedTokens: 0, queueMs: 7 }
}

export function textDelta(text: string, tokenIds: readonly number[], index = 0): EngineEvent {
  return { type: 'text-delta', index, text, tokenIds }
}

export function sequenceEnd(finishReason: 'stop' | 'length' = 'stop', index = 0): EngineEvent {
  return { type: 'sequence-end', index, finishReason, error: null }
}

/** Of a prompt of text; none of tokens. */
export function piecesOf(prompt: Prompt | undefined): readonly string[] {
  return prompt !== undefined && 'pieces' in prompt ? prompt.pieces : []
}

/** The text of a request's first prompt. */
export function promptOf(request: EngineRequest | undefined): string {
  return piecesOf(request?.prompts[0]).join('')
}

/** Every prompt is continued with `ok`. */
export async function* sayOk(request: EngineRequest): AsyncGenerator<EngineEvent> {
  for (const index of request.prompts.keys()) {
    yield sequenceStart(index)
    yield textDelta('ok', [1], index)
    yield sequenceEnd('stop', index)
  }
}

/** Answers each request with this text, in pieces. */
export function say(...pieces: readonly string[]): ScriptedEngine {
  return new ScriptedEngine(
    async function* (): AsyncGenerator<EngineEvent> {
      yield sequenceStart()
      for (const piece of pieces) yield textDelta(piece, [1])
      yield sequenceEnd()
    },
    { canConstrain: true },
  )
}

export const failInTheMiddle = () =>
  new ScriptedEngine(async function* () {
    yield sequenceStart()
    yield textDelta('a', [1])
    throw new ServiceError('engine_failed')
  })

/** Resolves once the client has left. */
export function hangUntilLeft(): { engine: ScriptedEngine; left: Promise<void> } {
  const { promise: left, resolve } = withResolvers<void>()
  const engine = new ScriptedEngine((request, signal) => {
    signal.addEventListener('abort', () => resolve())
    return hang(request, signal)
  })
  return { engine, left }
}

/** Starts, then waits until the client has left. */
export async function* hang(_request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
  yield sequenceStart()
  yield textDelta('first', [1])
  await untilAborted(signal)
}

export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    else signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
