/**
 * A LoRA adapter as an engine of its own: every request goes to the engine of the model that it is for, and names the adapter.
 * Owned by its model's entry in the registry, which keeps that engine open.
 */
import type { OpenedAdapter } from '../../../protocol/adapter.ts'
import type {
  EmbeddingRequest,
  Engine,
  EngineRequest,
  EngineStatus,
  SharedEngine,
  TokenizedText,
  TokenizeRequest,
  TokenPrompt,
} from '../../../protocol/engine.ts'
import type { AnswerEvent } from '../../../protocol/engine-events.ts'
import type { ModelInfo } from '../../../protocol/model-info.ts'

export interface AdapterEngineOptions {
  readonly base: Engine
  readonly adapter: OpenedAdapter
  readonly onClose: () => Promise<void> | void
}

export class AdapterEngine implements Engine {
  readonly #base: Engine
  readonly #onClose: AdapterEngineOptions['onClose']
  readonly adapter: OpenedAdapter

  constructor({ base, adapter, onClose }: AdapterEngineOptions) {
    this.#base = base
    this.#onClose = onClose
    this.adapter = adapter
  }

  generate(
    request: EngineRequest | EmbeddingRequest,
    signal: AbortSignal,
  ): AsyncIterable<readonly AnswerEvent[]> {
    return this.#base.generate({ ...request, adapterId: this.adapter.adapterId }, signal)
  }

  tokenize(request: TokenizeRequest, signal: AbortSignal): Promise<TokenizedText> {
    return this.#base.tokenize(request, signal)
  }

  detokenize(tokenIds: TokenPrompt['tokenIds'], signal: AbortSignal): Promise<string> {
    return this.#base.detokenize(tokenIds, signal)
  }

  /** The numbers are what the adapter adds: the weights and the KV cache are the base model's. */
  info(): ModelInfo {
    const { kvCacheTokens: _ofBase, ...info } = this.#base.info()
    const { parameters, sizeBytes } = this.adapter
    return { ...info, parameters, sizeBytes, memoryBytes: sizeBytes }
  }

  /** Deaths and host memory are told of the base model. */
  status(): EngineStatus {
    const { deaths: _deaths, prefixCacheBytes: _bytes, ...status } = this.#base.status()
    return status
  }

  replicas(): readonly SharedEngine[] {
    return this.#base.replicas?.() ?? []
  }

  async close(): Promise<void> {
    await this.#onClose()
  }
}
