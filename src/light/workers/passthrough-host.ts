/** The passthrough model, which serves when no checkpoint is given: one id, always ready, on worker threads. */
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { ModelRecord } from '../../models/model-record.ts'
import type { ModelHost } from '../endpoints.ts'
import { WorkerPool, type WorkerPoolOptions } from './worker-pool.ts'

/** The one model there is, and the alias of the default model. */
const MODEL_ID = 'default'

export function openPassthroughHost(options: WorkerPoolOptions, clock: Clock): ModelHost {
  const pool = new WorkerPool(options)
  let record: ModelRecord = {
    id: MODEL_ID,
    createdUnixSeconds: clock.unixSeconds(),
    state: 'ready',
    loadFraction: 1,
    failure: null,
    info: null,
    outline: {
      architecture: 'passthrough',
      parameters: 0,
      sizeBytes: 0,
      quantization: 'none',
      maxSeqLen: null,
      vocabSize: 256,
      engine: 'passthrough',
    },
    replicas: null,
    engineDeaths: 0,
    prefixCacheBytes: 0,
    preemptions: 0,
    quantization: 'none',
    policy: { fallback: null, access: null },
    baseId: null,
    isPinned: false,
    lastUsedUnixSeconds: null,
  }
  const get = (modelId: string | null): ModelRecord => {
    if (modelId === null || modelId === MODEL_ID) return record
    throw new ServiceError('model_not_found', { model: modelId }, { param: 'model' })
  }
  return {
    list: () => [record],
    get,
    generate: async ({ prompt, maxNewTokens, modelId }, run) => {
      const { id } = get(modelId)
      record = { ...record, lastUsedUnixSeconds: Math.floor(clock.unixSeconds()) }
      const onLeave = (callback: () => void) => run.onLeave(callback)
      const continuation = await pool.run({ prompt, maxNewTokens, requestId: run.requestId, onLeave })
      return { ...continuation, modelId: id }
    },
    close: () => pool.close(),
  }
}
