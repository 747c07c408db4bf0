/**
 * What an engine is asked for: a request's options within the bounds of the caller's tier, and its place in the queue. Called
 * by `generation.ts`.
 */
import type { Tier, TierLimits } from '../core/tiers.ts'
import type { AnswerPlan } from '../models/chat/answer-plan.ts'
import type { EngineRequest } from '../protocol/engine.ts'
import { choicesOf, type GenerationRequest } from './generation-request.ts'

export interface Requester {
  readonly accountId: string
  readonly keyId: string
  readonly tier: Tier
  readonly limits: Pick<TierLimits, 'maxTokensPerRequest' | 'priorityClass'>
}

export function toEngineOptions(
  request: GenerationRequest,
  { accountId, limits }: Requester,
): Pick<EngineRequest, 'options' | 'place' | 'choices'> {
  const choices = choicesOf(request.input)
  return {
    ...(choices > 1 && { choices }),
    options: {
      maxNewTokens: Math.min(request.maxNewTokens, limits.maxTokensPerRequest),
      sampling: request.sampling,
      stopStrings: request.stopStrings,
      ...(request.endRules && { endRules: request.endRules }),
      ...(request.constraint && { constraint: request.constraint }),
      ...(request.numBeams > 1 && { numBeams: request.numBeams }),
      ...(request.topLogprobs !== undefined && { topLogprobs: request.topLogprobs }),
    },
    place: { priorityClass: limits.priorityClass, priority: request.priority, accountId },
  }
}

/** With what the answer to a chat needs beside: its constraint, and the control tokens that its format is written with. */
export function withAnswerPlan(
  options: EngineRequest['options'],
  plan: AnswerPlan,
): EngineRequest['options'] {
  const { constraint, shownSpecialTexts, callBeginnings, isAllCalls } = plan
  return {
    ...options,
    ...(constraint !== null && { constraint }),
    ...(shownSpecialTexts.length > 0 && { shownSpecialTexts }),
    ...(isAllCalls && { stopStrings: [] }),
    ...(callBeginnings.length > 0 && options.stopStrings.length > 0 && { unstoppableAfter: callBeginnings }),
  }
}
