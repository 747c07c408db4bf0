// @ts-check
/** llama.cpp without a server: a model, a context with a part of the KV cache for each sequence, and a batch to fill. */
import { Batch } from '../../dist/engines/llamacpp/batch.js'
import { bind } from '../../dist/engines/llamacpp/ffi/bindings.js'
import { loadLibraries } from '../../dist/engines/llamacpp/ffi/libraries.js'

const SEQUENCE_TOKENS = 512

/**
 * @param {object} options
 * @param {string} options.modelPath
 * @param {number} options.sequences
 * @param {number} options.threads
 * @param {number} options.maxStepTokens
 * @param {'auto' | 'off'} [options.gpu]
 */
export function openNativeLoop({ modelPath, sequences, threads, maxStepTokens, gpu = 'off' }) {
  const libraries = loadLibraries(gpu)
  const api = bind(libraries)
  api.loadBackends(libraries.folder)
  api.backendInit()
  const model = api.modelLoadFromFile(modelPath, api.modelDefaultParams())
  if (model === null) throw new Error(`cannot load ${modelPath}`)
  const context = api.contextInit(model, {
    ...api.contextDefaultParams(),
    n_ctx: SEQUENCE_TOKENS * sequences,
    n_batch: maxStepTokens,
    n_ubatch: 512,
    n_seq_max: sequences,
    n_threads: threads,
    n_threads_batch: threads,
    kv_unified: false,
  })
  if (context === null) throw new Error('cannot make a context')
  const pool = api.createThreadpool(threads)
  api.attachThreadpool(context, pool, pool)
  return { api, llama: libraries.llama, model, context, batch: new Batch(api, maxStepTokens) }
}
