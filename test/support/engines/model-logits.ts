/** Opens a model with llama.cpp for its logits and its vocabulary, without sampling: weights and KV cache as they are. */
import { loadLlama } from '../../../src/engines/llamacpp/ffi/bindings.ts'
import { Context } from '../../../src/engines/llamacpp/context.ts'
import { checkGguf } from '../../../src/engines/llamacpp/gguf-check.ts'
import { openModel } from '../../../src/engines/llamacpp/model.ts'
import { Vocabulary } from '../../../src/engines/llamacpp/tokenizing/vocabulary.ts'
import type { RunnerOptions } from '../../../src/protocol/runner-options.ts'

interface LogitsOptions {
  readonly modelPath: string
  readonly maxSeqLen: number
  /** @default 'f32' */
  readonly kvCacheType?: RunnerOptions['kvCacheType']
}

export function openForLogits({ modelPath, maxSeqLen, kvCacheType = 'f32' }: LogitsOptions) {
  const api = loadLlama('off')
  const summary = checkGguf(api, modelPath)
  const model = openModel(api, { modelPath, ...summary }, () => {})
  const context = Context.open(api, model, {
    maxSeqLen,
    maxBatchSize: 1,
    kvCacheType,
    sharedTokens: null,
    usesGpu: false,
    maxThreads: 1,
  })
  const { trainContextTokens } = model
  return {
    trainContextTokens,
    vocabulary: Vocabulary.read(api, { ...model, modelId: 'test' }),
    /** Computes tokens behind those computed before; a copy of the logits after the last. */
    logitsAfter(position: number, tokenIds: readonly number[]): Float32Array {
      context.decode([{ slotId: 0, position, tokenIds, wantsToken: true }])
      return context.logits()[0]?.slice() ?? new Float32Array()
    },
    close() {
      context.close()
      model.close()
    },
  }
}
