/** What a generation is told of the HTTP request it answers. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { TIER_LIMITS } from '../core/tiers.ts'
import type { GenerationContext } from '../generation/generation.ts'
import { watchClient } from '../net/connections/client-presence.ts'

export function toGenerationContext(request: FastifyRequest, reply: FastifyReply): GenerationContext {
  const { keyId, accountId, tier } = request.credential
  return {
    requestId: request.id,
    caller: { keyId, accountId, path: request.routeOptions.url ?? '', limits: TIER_LIMITS[tier] },
    signal: watchClient(request.raw, reply.raw),
    timeline: request.timeline,
    onTokensCapped: (maxNewTokens) => void reply.header('x-max-tokens-applied', String(maxNewTokens)),
  }
}
