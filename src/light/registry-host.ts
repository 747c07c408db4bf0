/** Checkpoints, which the full server's registry holds: it is passed in, so that nothing of it loads before it is asked for. */
import type { ModelRegistry } from '../models/registry.ts'
import type { EngineRequest } from '../protocol/engine.ts'
import { ContinuationFold, toServiceError } from './continuation.ts'
import type { GenerateRequest } from './generate-request.ts'
import type { ModelHost } from './model-host.ts'

export function createRegistryHost(registry: ModelRegistry): ModelHost {
  return {
    list: () => registry.list(),
    get: (modelId) => registry.get(modelId),
    generate: async (request, { requestId, signal }) => {
      using lease = await registry.acquire(request.modelId, signal)
      const fold = new ContinuationFold()
      for await (const events of lease.engine.generate(toEngineRequest(request, requestId), signal)) {
        for (const event of events) fold.add(event)
      }
      if (fold.error !== null) throw toServiceError(fold.error, requestId)
      return { ...fold.result, modelId: lease.modelId }
    },
    close: () => registry.close(),
  }
}

function toEngineRequest(request: GenerateRequest, requestId: string): EngineRequest {
  const { temperature, topK, topP } = request
  return {
    reqId: requestId,
    prompts: [{ pieces: [request.prompt], addSpecial: true }],
    options: {
      maxNewTokens: request.maxNewTokens,
      sampling: { temperature, topK, topP, repetitionPenalty: 1, seed: null },
      stopStrings: [],
    },
    // The light server counts nobody's requests: all callers are equal.
    place: { priorityClass: 0, priority: 0, accountId: 'light' },
  }
}
