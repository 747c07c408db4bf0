/** An engine of embeddings for tests of the API: the i-th input of n characters, or token ids, has the vector [i, n]. */
import type { EmbeddingRequest } from '../../../src/protocol/engine.ts'
import type { EngineEvent } from '../../../src/protocol/engine-events.ts'
import type { EmbeddingInfo, ModelInfo } from '../../../src/protocol/model-info.ts'
import { ScriptedEngine, sequenceStart } from './scripted-engine.ts'

export const EMBEDDING: EmbeddingInfo = { pooling: 'mean', dimensions: 2, shorterDimensions: 'any' }

export class VectorEngine extends ScriptedEngine {
  readonly embedded: EmbeddingRequest[] = []

  constructor(info: Partial<ModelInfo> = {}) {
    super(async function* () {}, { embedding: EMBEDDING, vocabSize: 100, maxSeqLen: 8, ...info })
  }

  override async *generate(request: EmbeddingRequest): AsyncGenerator<readonly EngineEvent[]> {
    this.embedded.push(request)
    for (const [index, prompt] of request.prompts.entries()) {
      const tokens = 'tokenIds' in prompt ? prompt.tokenIds.length : prompt.pieces.join('').length
      if (tokens > 8) {
        const error = { code: 'context_length_exceeded', params: { given: tokens, max: 8 } } as const
        yield [{ type: 'sequence-end', index, finishReason: 'error', error }]
        continue
      }
      const vector = Buffer.from(Float32Array.of(index, tokens).buffer).toString('base64')
      yield [sequenceStart(index, tokens)]
      yield [{ type: 'sequence-end', index, finishReason: 'stop', error: null, vector }]
    }
  }
}
