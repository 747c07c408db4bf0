/**
 * Serves checkpoints through the full server's registry and its generation, without guards and without billing. Loaded
 * with the registry, and only when a checkpoint is given.
 */
import type { Clock } from '../core/clock.ts'
import { OPERATOR_ACCOUNT_ID } from '../core/credential.ts'
import { InvariantError } from '../core/errors.ts'
import { Generation, type GenerationDeps } from '../generation/generation.ts'
import type { ModelRegistry } from '../models/registry.ts'
import { RequestTimeline } from '../telemetry/request-timeline.ts'
import type { ModelHost } from './endpoints.ts'

const UNBILLED = {
  promptGuard: null,
  outputGuard: null,
  usageRecorder: { record: async () => {} },
  tokenBudgets: { spend: () => {} },
  metrics: { countGuardHit: () => {} },
  log: { error: () => {}, info: () => {}, warn: () => {} },
} as const satisfies Partial<GenerationDeps>

/** All callers of a light server are equal. */
const CALLER = {
  keyId: '',
  accountId: OPERATOR_ACCOUNT_ID,
  teamId: null,
  budgets: [],
  tier: 'enterprise',
  path: '/v1/generate',
  limits: { maxTokensPerRequest: Number.POSITIVE_INFINITY, priorityClass: 0 },
} as const

/** Options that the light server does not read stay at their neutral values. */
const NEUTRAL = { stopStrings: [], numBeams: 1, priority: 0 } as const

export function createRegistryHost(registry: ModelRegistry, clock: Clock): ModelHost {
  return {
    list: () => registry.list(),
    get: (modelId) => registry.get(modelId),
    generate: async ({ prompt, ...request }, { requestId, signal }) => {
      const input = { kind: 'prompts', prompts: [{ name: 'prompt', text: prompt }], batch: null } as const
      using generation = await Generation.open(
        { registry, clock, ...UNBILLED },
        { ...request, ...NEUTRAL, input },
        {
          requestId,
          signal,
          caller: CALLER,
          timeline: new RequestTimeline(clock),
          onTokensCapped: () => {},
          onFallback: () => {},
        },
      )
      const [sequence] = await generation.fold()
      if (sequence === undefined) throw new InvariantError('One prompt gave no sequence.')
      return { ...sequence, modelId: generation.modelId }
    },
    close: () => registry.close(),
  }
}
