/**
 * The interface's table of endpoints, row by row, each under its name: who may call, and exactly what comes back where
 * the interface or the decisions say it.
 */
import { describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'
import { ADMIN_KEY } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const EMAIL = 'ann@example.org'
const UUID = expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const SECRET = expect.stringMatching(/^sk-svc-[0-9a-f]{64}$/)
const PREFIX = expect.stringMatching(/^sk-svc-[0-9a-f]{8}$/)
const STRING = expect.any(String)
const NUMBER = expect.any(Number)
const INT = expect.toSatisfy(Number.isInteger, 'an integer')

interface World extends AccountsApp {
  readonly key: string
  readonly keyId: string
  readonly userId: string
}

/** A server with one user, who has one key. */
async function createWorld(): Promise<World> {
  const app = await createAccountsApp()
  const { key, userId } = await app.register(EMAIL)
  const keyId = (await app.as(key, 'GET', '/v1/keys')).json<{ keys: { id: string }[] }>().keys[0]?.id ?? ''
  return { ...app, key, keyId, userId }
}

type Access = 'none' | 'Key' | 'Admin'
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

interface Row {
  /** As the interface writes it. */
  readonly name: string
  readonly body?: object
  /** In place of the path as it is named. */
  readonly url?: (world: World) => string
  readonly output: (world: World) => unknown
}

const TOKENS = { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 }
const GENERATED = { token_ids: [97, 98], ...TOKENS, model: 'default', created: INT, finish_reason: 'stop' }
const MODEL = { id: 'default', object: 'model', created: INT, owned_by: STRING, meta: expect.any(Object) }
const MESSAGES = [{ role: 'user', content: 'ab' }]
const BATCH = { prompts: ['ab', 'ab'] }
const BATCH_SUMS = { prompt_tokens: 4, completion_tokens: 4, total_tokens: 8, model: 'default', created: INT }
const SUMMARY = { requests: 0, tokens_in: 0, tokens_out: 0, avg_response_ms: 0 }

const LISTED_KEY = {
  id: UUID,
  key_prefix: PREFIX,
  name: '',
  tier: 'free',
  is_active: true,
  created_at: NUMBER,
  expires_at: null,
  rate_limit_rpm: 60,
  // Beyond the interface.
  last_used: NUMBER,
}
/** Beyond the interface. */
const SPENDING = { team_id: null, daily_token_budget: null, monthly_token_budget: null }
const CREATED_KEY = {
  key: SECRET,
  id: UUID,
  name: 'ci',
  tier: 'free',
  is_active: true,
  created_at: NUMBER,
  expires_at: NUMBER,
}

const ofKey = (suffix = '') => ({
  url: ({ keyId }: World) => `/v1/admin/keys/${keyId}${suffix}`,
})

const batchOutput = (more: object) => () => ({
  results: [0, 1].map((index) => ({ index, generated_text: 'ab', ...GENERATED, ...more })),
  ...BATCH_SUMS,
})

const ROWS: readonly Row[] = [
  {
    name: 'GET /v1/health | none | none | Health',
    output: () => ({ status: 'ok', version: '1.1.1', models_loaded: 1, uptime_seconds: NUMBER }),
  },
  {
    name: 'GET /v1/models | Key | none | model list',
    output: () => ({ object: 'list', data: [MODEL] }),
  },
  {
    name: 'GET /v1/models/{model_id} | Key | path model_id | single model detail',
    url: () => '/v1/models/default',
    output: () => MODEL,
  },
  {
    name: 'POST /v1/models/quantize | Key | query model_id, quant_mode | Quantize response',
    url: () => '/v1/models/quantize?model_id=default',
    output: () => ({
      status: 'ok',
      model_id: 'default',
      quant_mode: 'int4',
      layers_quantized: 0,
      size_mb: 0,
    }),
  },
  {
    name: 'POST /v1/generate | Key | Generate request | Generate response',
    body: { prompt: 'ab' },
    output: () => ({ generated_text: 'ab', ...GENERATED }),
  },
  {
    name: 'POST /v1/generate/batch | Key | Batch request | one result for each prompt, and their sums',
    body: BATCH,
    output: batchOutput({}),
  },
  {
    name: 'POST /v1/generate/continuous-batch | Key | Batch request | the same, with the time in the queue',
    body: BATCH,
    output: batchOutput({ queue_ms: NUMBER }),
  },
  {
    name: 'POST /v1/chat/completions | Key | Chat request | Chat completion response',
    body: { messages: MESSAGES },
    output: () => ({
      id: expect.stringMatching(/^chatcmpl-./),
      object: 'chat.completion',
      created: INT,
      model: 'default',
      choices: [{ index: 0, message: { role: 'assistant', content: 'ab' }, finish_reason: 'stop' }],
      usage: TOKENS,
    }),
  },
  {
    name: 'POST /v1/auth/register | none | body email, password | user_id, email, tier, api_key, message',
    body: { email: 'bob@example.org', password: PASSWORD },
    output: () => ({
      user_id: UUID,
      email: 'bob@example.org',
      tier: 'free',
      api_key: SECRET,
      message: STRING,
    }),
  },
  {
    name: 'POST /v1/auth/login | none | body email, password | user_id, email, tier, token',
    body: { email: EMAIL, password: PASSWORD },
    output: ({ userId }) => ({
      user_id: userId,
      email: EMAIL,
      tier: 'free',
      token: SECRET,
      expires_at: NUMBER,
    }),
  },
  {
    name: 'GET /v1/keys | Key | none | {keys: [API key without key, user_id]}',
    output: () => ({
      keys: [
        {
          ...LISTED_KEY,
          max_concurrent_requests: 1,
          requests_this_minute: NUMBER,
          open_requests: 0,
          budgets: [],
        },
      ],
    }),
  },
  {
    name: 'POST /v1/keys | Key | body name, expires_in_days | key, id, name, tier, is_active, created_at, expires_at',
    body: { name: 'ci', expires_in_days: 30 },
    output: () => CREATED_KEY,
  },
  {
    name: 'DELETE /v1/keys/{key_id} | Key | path key_id | {status: revoked, key_id}',
    url: ({ keyId }) => `/v1/keys/${keyId}`,
    output: ({ keyId }) => ({ status: 'revoked', key_id: keyId }),
  },
  {
    name: 'GET /v1/usage | Key | query since | Usage summary',
    url: () => '/v1/usage?since=0.5',
    output: () => SUMMARY,
  },
  {
    name: 'GET /v1/admin/keys | Admin | none | {keys: [API key with user_id], count}',
    output: ({ userId, keyId }) => ({
      keys: [{ ...LISTED_KEY, ...SPENDING, id: keyId, user_id: userId }],
      count: 1,
    }),
  },
  {
    name: 'POST /v1/admin/keys | Admin | query name, tier, expires_in_days, user_id | as POST /v1/keys, and user_id, rate_limit_rpm',
    url: ({ userId }) => `/v1/admin/keys?name=ci&tier=pro&expires_in_days=30&user_id=${userId}`,
    output: ({ userId }) => ({ ...CREATED_KEY, tier: 'pro', user_id: userId, rate_limit_rpm: 1000 }),
  },
  {
    name: 'GET /v1/admin/keys/{key_id} | Admin | path key_id | the row of the listing',
    ...ofKey(),
    output: ({ userId, keyId }) => ({ ...LISTED_KEY, ...SPENDING, id: keyId, user_id: userId }),
  },
  {
    name: 'DELETE /v1/admin/keys/{key_id} | Admin | path key_id | {status: revoked, key_id}',
    ...ofKey(),
    output: ({ keyId }) => ({ status: 'revoked', key_id: keyId }),
  },
  {
    name: 'PATCH /v1/admin/keys/{key_id} | Admin | query name, tier, rate_limit_rpm, expires_in_days | the row after the change',
    ...ofKey('?name=ci&tier=pro&rate_limit_rpm=7&expires_in_days=2'),
    output: ({ userId, clock }) => ({
      ...LISTED_KEY,
      ...SPENDING,
      user_id: userId,
      name: 'ci',
      tier: 'pro',
      rate_limit_rpm: 7,
      expires_at: clock.unixSeconds() + 2 * 86_400,
    }),
  },
  {
    name: 'GET /v1/admin/keys/{key_id}/usage | Admin | query since | Usage summary with by_endpoint',
    ...ofKey('/usage?since=1700000000'),
    output: () => ({ ...SUMMARY, by_endpoint: {} }),
  },
]

/** Method, path and access class are read from the row itself. */
function parseRow({ name }: Row): { method: Method; path: string; access: Access } {
  const [endpoint = '', access] = name.split(' | ')
  const [method, path = ''] = endpoint.split(' ')
  return { method: method as Method, path, access: access as Access }
}

function callRow(world: World, row: Row, secret: string | null) {
  const { method, path } = parseRow(row)
  return world.app.inject({
    method,
    url: row.url?.(world) ?? path,
    headers: secret === null ? {} : { authorization: `Bearer ${secret}` },
    ...(row.body && { payload: row.body }),
  })
}

describe('the table of endpoints', () => {
  it.each(ROWS.map((row) => [row.name, row] as const))('%s', async (_, row) => {
    const world = await createWorld()
    const secrets = { none: null, Key: world.key, Admin: ADMIN_KEY }

    const answer = await callRow(world, row, secrets[parseRow(row).access])

    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toEqual(row.output(world))
  })

  it('POST /v1/generate/stream | Key | Generate request | SSE of stream chunks, ended by data: [DONE]', async () => {
    const { as, key } = await createWorld()

    const answer = await as(key, 'POST', '/v1/generate/stream', { prompt: 'ab' })

    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    const chunk = (content: string, completion_tokens: number, finish_reason: string | null) =>
      `data: ${JSON.stringify({
        choices: [{ index: 0, delta: { content }, finish_reason }],
        usage: { prompt_tokens: 2, completion_tokens, total_tokens: 2 + completion_tokens },
      })}\n\n`
    expect(answer.body).toBe(
      `${chunk('a', 1, null)}${chunk('b', 2, null)}${chunk('', 2, 'stop')}data: [DONE]\n\n`,
    )
  })
})

describe('the Auth column', () => {
  const CREDENTIALS = {
    'no key': async () => null,
    'a wrong key': async () => `sk-svc-${'0'.repeat(64)}`,
    'a key': async ({ key }) => key,
    'a session': ({ login }) => login(EMAIL),
    'the admin key': async () => ADMIN_KEY,
  } satisfies Record<string, (world: World) => Promise<string | null>>

  const ALLOWED: Record<Access, readonly string[]> = {
    none: Object.keys(CREDENTIALS),
    Key: ['a key', 'a session'],
    Admin: ['the admin key'],
  }

  /** For what changes nothing that another request sees. */
  const sharedWorld = shared(createWorld)
  const CHANGES = /^(?:DELETE|PATCH|POST \/v1\/(?:auth|keys|admin))/

  const STREAM: Row = {
    name: 'POST /v1/generate/stream | Key',
    body: { prompt: 'ab' },
    output: () => null,
  }

  describe.each([...ROWS, STREAM].map((row) => [row.name, row] as const))('of %s', (_, row) => {
    it.each(Object.entries(CREDENTIALS))('with %s', async (credential, secretOf) => {
      const isAllowed = ALLOWED[parseRow(row).access].includes(credential)
      const world = isAllowed && CHANGES.test(row.name) ? await createWorld() : sharedWorld()

      const answer = await callRow(world, row, await secretOf(world))

      expect(answer.statusCode, answer.body).toBe(isAllowed ? 200 : 401)
      if (isAllowed) return
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      expect(answer.headers['x-error-code']).toBe('unauthorized')
      expect(answer.json()).toMatchObject({ detail: expect.stringContaining('Authorization: Bearer') })
    })
  })
})
