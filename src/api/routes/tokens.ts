/** `POST /tokenize` and `POST /detokenize` **ext**, also under `/v1/`. They count as requests and as concurrent, and use no tokens. */
import type { FastifyInstance } from 'fastify'
import { detokenize, tokenize, type TokensDeps } from '../../generation/tokens.ts'
import { MAX_BODY_BYTES } from '../../net/requests/read-body.ts'
import {
  detokenizeRequest,
  detokenizeResponse,
  tokenizeRequest,
  tokenizeResponse,
  toTokenizeResponse,
} from '../dialects/vllm-tokens/schema.ts'
import { addRoute } from '../openapi/add-route.ts'
import { TOKENS_ERRORS } from '../openapi/route-errors.ts'

const TOKENS = {
  tag: 'Generation',
  access: 'key',
  generates: true,
  maxBodyBytes: MAX_BODY_BYTES,
  errors: [...TOKENS_ERRORS, 'chat_template_failed'],
  errorShape: 'openai',
} as const

/** By the beginning of their path; vLLM has them at the root. */
const PREFIXES = [
  { prefix: '', suffix: '' },
  { prefix: '/v1', suffix: 'V1' },
] as const

export function registerTokenRoutes(app: FastifyInstance, deps: TokensDeps): void {
  for (const { prefix, suffix } of PREFIXES) {
    addRoute(app, `POST ${prefix}/tokenize`, {
      operationId: `tokenize${suffix}`,
      summary: 'Tokens of a text or of a chat',
      ...TOKENS,
      body: tokenizeRequest,
      ok: tokenizeResponse,
      handler: async ({ body, context }) => toTokenizeResponse(await tokenize(deps, context, body)),
    })

    addRoute(app, `POST ${prefix}/detokenize`, {
      operationId: `detokenize${suffix}`,
      summary: 'The text of tokens',
      ...TOKENS,
      body: detokenizeRequest,
      ok: detokenizeResponse,
      handler: async ({ body, context }) => ({ prompt: await detokenize(deps, context, body) }),
    })
  }
}
