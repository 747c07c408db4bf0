/** What a generation asks of its engine: the request's values within the bounds of the caller's tier and of the model. */
import { ServiceError } from '../core/errors.ts'
import type { TierLimits } from '../core/tiers.ts'
import type { ModelLease } from '../models/registry.ts'
import type { EngineRequest } from '../protocol/engine.ts'
import type { GenerationRequest } from './generation-request.ts'

export interface Requester {
  readonly accountId: string
  readonly limits: Pick<TierLimits, 'maxTokensPerRequest' | 'priorityClass'>
}

export function toEngineOptions(
  request: GenerationRequest,
  { accountId, limits }: Requester,
): Pick<EngineRequest, 'options' | 'place'> {
  return {
    options: {
      maxNewTokens: Math.min(request.maxNewTokens, limits.maxTokensPerRequest),
      sampling: request.sampling,
      stopStrings: request.stopStrings,
      ...(request.numBeams > 1 && { numBeams: request.numBeams }),
    },
    place: { priorityClass: limits.priorityClass, priority: request.priority, accountId },
  }
}

/** @throws ServiceError `unsupported_value` for more beams than the model searches with. */
export function checkBeams({ numBeams }: GenerationRequest, { modelId, info }: ModelLease): void {
  // Beams change nothing of what the passthrough model says (spec: decisions, Models).
  if (info.engine === 'passthrough') return
  const { maxBeams = 1 } = info
  if (numBeams <= maxBeams) return
  const why = maxBeams === 1 ? 'has no beam search' : 'searches with no more'
  const most = maxBeams === 1 ? '1' : `at most ${maxBeams}`
  throw new ServiceError(
    'unsupported_value',
    { message: `num_beams must be ${most}, but was ${numBeams}: model '${modelId}' ${why}.` },
    { param: 'num_beams' },
  )
}
