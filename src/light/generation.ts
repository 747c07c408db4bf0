/** The model behind the light server, and one prompt run on it to its end: the answer is the fold of its events. */
import { InvariantError, ServiceError } from '../core/errors.ts'
import { InProcessEngine } from '../engines/local/in-process-engine.ts'
import { PassthroughRunner } from '../engines/passthrough/passthrough-runner.ts'
import type { Engine, EngineRequest, FinishReason } from '../protocol/engine.ts'
import type { GenerateRequest } from './generate-request.ts'

const MAX_BATCH_SIZE = 8

/** The passthrough model on the real scheduler, with the full server's defaults. */
export function createPassthroughEngine(): Engine {
  return new InProcessEngine({
    runner: new PassthroughRunner({ maxBatchSize: MAX_BATCH_SIZE, maxSeqLen: null }),
  })
}

export interface Continuation {
  readonly text: string
  readonly tokenIds: readonly number[]
  readonly promptTokens: number
  readonly finishReason: FinishReason
}

/** @throws ServiceError when the engine refuses the prompt or fails, the signal's reason when that aborts. */
export async function runPrompt(
  engine: Engine,
  request: GenerateRequest,
  { requestId, signal }: { readonly requestId: string; readonly signal: AbortSignal },
): Promise<Continuation> {
  let text = ''
  let promptTokens = 0
  let finishReason: FinishReason | null = null
  const tokenIds: number[] = []
  for await (const event of engine.generate(toEngineRequest(request, requestId), signal)) {
    switch (event.type) {
      case 'sequence-start':
        promptTokens = event.promptTokens
        break
      case 'text-delta':
        text += event.text
        tokenIds.push(...event.tokenIds)
        break
      case 'sequence-end':
        if (event.error !== null)
          throw new ServiceError(event.error.code, { requestId, ...event.error.params })
        finishReason = event.finishReason
        break
    }
  }
  if (finishReason === null) throw new InvariantError('The sequence never ended.')
  return { text, tokenIds, promptTokens, finishReason }
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
    // Without accounts all callers are equal.
    place: { priorityClass: 0, priority: 0, accountId: 'light' },
  }
}
