/** The API's description of itself: valid, complete, and served without the network. */
import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it, vi } from 'vitest'
import { REQUEST_EXAMPLES } from '../../../src/api/openapi/examples.ts'
import { UNBUILT_TOKENIZE_FIELDS } from '../../../src/net/requests/other-fields/dialects.ts'
import {
  UNBUILT_EMBEDDING_FIELDS,
  UNBUILT_RERANK_FIELDS,
} from '../../../src/net/requests/other-fields/embeddings.ts'
import { UNBUILT_FIELDS } from '../../../src/net/requests/other-fields/generation.ts'
import { HARMLESS_FIELDS } from '../../../src/net/requests/other-fields/harmless.ts'
import { createTestApp } from '../../support/servers/test-app.ts'

interface Operation {
  readonly operationId: string
  readonly security: readonly Record<string, unknown>[]
  readonly requestBody?: { readonly content: Record<string, unknown> }
  readonly responses: Record<string, { description: string; content: Record<string, unknown> }>
}

async function makeDocument() {
  const answer = await createTestApp().app.inject('/openapi.json')
  const document = answer.json<{
    info: { version: string }
    paths: Record<string, Record<string, Operation>>
    components: {
      schemas: Record<string, { readonly properties?: object; readonly description?: string }>
    }
  }>()
  return { answer, document }
}

/** Made once: the tests only read it. */
let made: ReturnType<typeof makeDocument> | null = null
const readDocument = () => (made ??= makeDocument())

describe('GET /openapi.json', () => {
  it('is a valid OpenAPI 3.1 document of version 1.1.1, served to anyone', async () => {
    const { answer, document } = await readDocument()
    const validator = new Validator()

    const result = await validator.validate(answer.json())

    expect(result.errors ?? []).toEqual([])
    expect(result.valid).toBe(true)
    expect(validator.version).toBe('3.1')
    expect(document.info.version).toBe('1.1.1')
  })

  it('is written once, however often and where it is asked for', async () => {
    const { app } = createTestApp()
    const first = await app.inject('/openapi.json')
    await app.inject('/docs/json')
    const written = vi.spyOn(JSON, 'stringify')

    const others = [await app.inject('/openapi.json'), await app.inject('/docs/json')]

    const [again, ofDocs] = others.map((answer) => answer.json<Record<string, unknown>>())
    expect(again).toEqual(first.json())
    // The same server, from where each is read; behind a proxy, too.
    expect(again?.['servers']).toMatchObject([{ url: '.' }])
    expect(ofDocs).toEqual({ ...again, servers: [expect.objectContaining({ url: '..' })] })
    expect(others.map(({ headers }) => headers['content-type'])).toEqual([
      first.headers['content-type'],
      first.headers['content-type'],
    ])
    const documents = written.mock.calls.filter(
      ([value]) => value !== null && Object.hasOwn(Object(value), 'openapi'),
    )
    expect(documents).toEqual([])
    written.mockRestore()
  })

  it('describes every endpoint, with a key where one is needed', async () => {
    const { document } = await readDocument()

    const rows = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { operationId, security }]) => [
        method,
        path,
        operationId,
        security.flatMap((scheme) => Object.keys(scheme)).join() || 'public',
      ]),
    )

    expect(rows).toEqual([
      ['get', '/', 'getServer', 'public'],
      ['get', '/v1/health', 'getHealth', 'public'],
      ['get', '/health', 'getHealthAtRoot', 'public'],
      ['get', '/v1/ready', 'getReady', 'public'],
      ['get', '/metrics', 'getMetrics', 'metricsKey'],
      ['get', '/v1/models', 'listModels', 'apiKey'],
      ['get', '/v1/models/{model_id}', 'getModel', 'apiKey'],
      ['post', '/v1/models/quantize', 'quantizeModel', 'apiKey'],
      ['post', '/v1/generate', 'generate', 'apiKey'],
      ['post', '/v1/generate/stream', 'generateStream', 'apiKey'],
      ['post', '/v1/generate/batch', 'generateBatch', 'apiKey'],
      ['post', '/v1/generate/continuous-batch', 'generateContinuousBatch', 'apiKey'],
      ['post', '/v1/chat/completions', 'createChatCompletion', 'apiKey'],
      ['post', '/v1/responses', 'createResponse', 'apiKey'],
      ['post', '/v1/responses/input_tokens', 'countResponseInputTokens', 'apiKey'],
      ['get', '/v1/responses/{response_id}', 'getResponse', 'apiKey'],
      ['delete', '/v1/responses/{response_id}', 'deleteResponse', 'apiKey'],
      ['post', '/v1/embeddings', 'createEmbeddings', 'apiKey'],
      ['post', '/v1/rerank', 'rerank', 'apiKey'],
      ['post', '/v2/rerank', 'rerankV2', 'apiKey'],
      ['post', '/rerank', 'rerankAtRoot', 'apiKey'],
      ['post', '/v1/completions', 'createCompletion', 'apiKey'],
      ['post', '/v1/messages', 'createMessage', 'apiKey'],
      ['post', '/v1/messages/count_tokens', 'countMessageTokens', 'apiKey'],
      ['post', '/tokenize', 'tokenize', 'apiKey'],
      ['post', '/detokenize', 'detokenize', 'apiKey'],
      ['post', '/v1/tokenize', 'tokenizeV1', 'apiKey'],
      ['post', '/v1/detokenize', 'detokenizeV1', 'apiKey'],
      ['post', '/v1/auth/register', 'register', 'public'],
      ['post', '/v1/auth/login', 'login', 'public'],
      ['post', '/v1/auth/logout', 'logout', 'apiKey'],
      ['post', '/v1/auth/password', 'changePassword', 'apiKey'],
      ['get', '/v1/auth/session', 'getSession', 'apiKey'],
      ['post', '/v1/auth/sign-in', 'signIn', 'public'],
      ['post', '/v1/auth/first-admin', 'createFirstAdmin', 'apiKey'],
      ['get', '/v1/keys', 'listKeys', 'apiKey'],
      ['post', '/v1/keys', 'createKey', 'apiKey'],
      ['patch', '/v1/keys/{key_id}', 'renameKey', 'apiKey'],
      ['delete', '/v1/keys/{key_id}', 'revokeKey', 'apiKey'],
      ['get', '/v1/usage', 'getUsage', 'apiKey'],
      ['get', '/v1/admin/usage', 'getTotalUsage', 'adminKey'],
      ['get', '/v1/admin/keys', 'listAllKeys', 'adminKey'],
      ['post', '/v1/admin/keys', 'createAnyKey', 'adminKey'],
      ['get', '/v1/admin/keys/{key_id}', 'getKey', 'adminKey'],
      ['delete', '/v1/admin/keys/{key_id}', 'revokeAnyKey', 'adminKey'],
      ['patch', '/v1/admin/keys/{key_id}', 'changeKey', 'adminKey'],
      ['get', '/v1/admin/keys/{key_id}/usage', 'getKeyUsage', 'adminKey'],
      ['get', '/v1/admin/users', 'listUsers', 'adminKey'],
      ['post', '/v1/admin/users', 'createUser', 'adminKey'],
      ['patch', '/v1/admin/users/{user_id}', 'changeUser', 'adminKey'],
      ['delete', '/v1/admin/users/{user_id}', 'deleteUser', 'adminKey'],
      ['get', '/v1/admin/teams', 'listTeams', 'adminKey'],
      ['post', '/v1/admin/teams', 'createTeam', 'adminKey'],
      ['get', '/v1/admin/teams/{team_id}', 'getTeam', 'adminKey'],
      ['patch', '/v1/admin/teams/{team_id}', 'changeTeam', 'adminKey'],
      ['delete', '/v1/admin/teams/{team_id}', 'deleteTeam', 'adminKey'],
      ['get', '/v1/admin/teams/{team_id}/usage', 'getTeamUsage', 'adminKey'],
      ['post', '/v1/auth/accept-invitation', 'acceptInvitation', 'public'],
      ['get', '/v1/admin/invitations', 'listInvitations', 'adminKey'],
      ['post', '/v1/admin/invitations', 'invite', 'adminKey'],
      ['delete', '/v1/admin/invitations/{invitation_id}', 'revokeInvitation', 'adminKey'],
      ['get', '/v1/admin/status', 'getStatus', 'adminKey'],
      ['get', '/v1/admin/status/stream', 'streamStatus', 'adminKey'],
      ['get', '/v1/admin/audit', 'listAuditRecords', 'adminKey'],
      ['post', '/v1/admin/models/check', 'checkModel', 'adminKey'],
      ['post', '/v1/admin/models', 'registerModel', 'adminKey'],
      ['post', '/v1/admin/models/{id}/{action}', 'loadOrUnloadModel', 'adminKey'],
      ['delete', '/v1/admin/models/{id}', 'unregisterModel', 'adminKey'],
      ['get', '/v1/admin/bans', 'listBans', 'adminKey'],
      ['delete', '/v1/admin/bans/{address}', 'liftBan', 'adminKey'],
    ])
  })

  it('names each schema once and shows streams and errors', async () => {
    const { document } = await readDocument()

    expect(Object.keys(document.components.schemas).toSorted()).toEqual([
      'AcceptInvitationRequest',
      'AdminApiKey',
      'AdminApiKeyList',
      'AdminCreatedKey',
      'AnthropicContentBlock',
      'AnthropicError',
      'AnthropicEvent',
      'AnthropicMessage',
      'AnthropicMessageParam',
      'AnthropicMessageRequest',
      'AnthropicTokenCount',
      'AnthropicTokenCountRequest',
      'AnthropicTool',
      'AnthropicToolChoice',
      'AnthropicUsage',
      'ApiKey',
      'ApiKeyList',
      'AuditList',
      'AuditRecord',
      'Ban',
      'BanList',
      'BatchItem',
      'BatchRequest',
      'BatchResponse',
      'ChangeKeyRequest',
      'ChangeTeamRequest',
      'ChangeUserRequest',
      'ChatChunk',
      'ChatCompletion',
      'ChatFunctionTool',
      'ChatMessage',
      'ChatRequest',
      'ChatToolCall',
      'CheckModelRequest',
      'CheckedModel',
      'ChoiceLogprobs',
      'Completion',
      'CompletionChunk',
      'CompletionRequest',
      'CreateKeyRequest',
      'CreateTeamRequest',
      'CreateUserRequest',
      'CreateUserResponse',
      'CreatedKey',
      'DeletedTeam',
      'DeletedUser',
      'DetailedUsage',
      'DetokenizeRequest',
      'DetokenizeResponse',
      'EmbeddingUsage',
      'EmbeddingsRequest',
      'EmbeddingsResponse',
      'Error',
      'FailedBatchItem',
      'GenerateRequest',
      'GenerateResponse',
      'GenerateStreamRequest',
      'GpuDevice',
      'GpuLayers',
      'GuardHits',
      'Health',
      'Invitation',
      'InvitationError',
      'InvitationList',
      'InviteRequest',
      'Invited',
      'LiftedBan',
      'LoginRequest',
      'LoginResponse',
      'LogoutResponse',
      'Model',
      'ModelList',
      'ModelStatus',
      'NewInvitation',
      'OpenAiError',
      'PasswordRequest',
      'PasswordResponse',
      'QuantizeResult',
      'Ready',
      'RecentError',
      'RegisterAdapterRequest',
      'RegisterModelRequest',
      'RegisterRemoteModelRequest',
      'RegisterRequest',
      'RegisterResponse',
      'RenameKeyRequest',
      'RerankRequest',
      'RerankResponse',
      'Response',
      'ResponseEvent',
      'ResponseFunctionTool',
      'ResponseInputItem',
      'ResponseInputTokens',
      'ResponseOutputItem',
      'ResponseRequest',
      'ResponseTextFormat',
      'ResponseUsage',
      'RevokedInvitation',
      'RevokedKey',
      'Server',
      'ServerStatus',
      'Session',
      'SignInRequest',
      'SpentBudget',
      'StreamChunk',
      'Team',
      'TeamList',
      'TokenLogprob',
      'TokenizeRequest',
      'TokenizeResponse',
      'UnregisteredModel',
      'Usage',
      'UsageRow',
      'UsageSummary',
      'UsageTable',
      'User',
      'UserList',
      'Visitor',
    ])
    const responses = document.paths['/v1/chat/completions']?.['post']?.responses
    expect(Object.keys(responses ?? {})).toEqual(['200', '400', '401', '403', '404', '429', '500', '503'])
    expect(responses?.['200']?.content).toMatchObject({ 'text/event-stream': {}, 'application/json': {} })
  })

  it.each([
    ['ChatRequest', UNBUILT_FIELDS],
    ['GenerateRequest', UNBUILT_FIELDS],
    ['CompletionRequest', UNBUILT_FIELDS],
    ['ResponseRequest', UNBUILT_FIELDS],
    ['AnthropicMessageRequest', UNBUILT_FIELDS],
    ['TokenizeRequest', UNBUILT_TOKENIZE_FIELDS],
    ['EmbeddingsRequest', UNBUILT_EMBEDDING_FIELDS],
    ['RerankRequest', UNBUILT_RERANK_FIELDS],
  ])('names each field that %s has, refuses or ignores', async (id, table) => {
    const { document } = await readDocument()
    const { properties, description } = document.components.schemas[id] ?? {}
    const described = Array.from((description ?? '').matchAll(/`(\w+)`/g), ([, name]) => name)
    const named = new Set([...Object.keys(properties ?? {}), ...described])

    expect([...table.keys(), ...HARMLESS_FIELDS].filter((field) => !named.has(field))).toEqual([])
  })

  it('lists the errors that an operation can answer, and no others', async () => {
    const { document } = await readDocument()
    const codesOf = (path: string, method: string) =>
      Object.values(document.paths[path]?.[method]?.responses ?? {}).flatMap(({ description }) =>
        Array.from(description.matchAll(/`([a-z_]+_[a-z_]+|unauthorized)`/g), ([, code = '']) => code),
      )

    expect(codesOf('/v1/health', 'get')).toEqual([
      ...['invalid_request', 'malformed_request', 'address_refused', 'host_refused', 'firewall_rejected'],
      'address_banned',
    ])
    expect(codesOf('/v1/chat/completions', 'post')).toContain('chat_template_failed')
    for (const code of ['email_taken', 'model_not_loadable', 'too_many_admin_keys', 'wrong_password'])
      expect(codesOf('/v1/chat/completions', 'post')).not.toContain(code)
    expect(codesOf('/v1/admin/bans/{address}', 'delete')).toEqual(
      expect.arrayContaining(['ban_not_found', 'firewall_disabled', 'admin_required', 'csrf_failed']),
    )
  })

  it('has an example of every body', async () => {
    const { document } = await readDocument()
    const bodies = Object.values(document.paths).flatMap((path) =>
      Object.values(path).flatMap(({ operationId, requestBody }) =>
        requestBody === undefined ? [] : ([[operationId, requestBody.content['application/json']]] as const),
      ),
    )

    expect(bodies.map(([id]) => id).toSorted()).toEqual(Object.keys(REQUEST_EXAMPLES).toSorted())
    for (const [id, body] of bodies)
      expect([id, body]).toEqual([id, expect.objectContaining({ examples: expect.anything() })])
  })

  it('carries bounds and defaults', async () => {
    const { document } = await readDocument()

    expect(document.components.schemas).toMatchObject({
      GenerateRequest: {
        required: ['prompt'],
        properties: {
          max_new_tokens: { type: 'integer', minimum: 1, maximum: 4096, default: 256 },
          temperature: { type: 'number', minimum: 0.01, maximum: 5, default: 1 },
          top_k: { type: 'integer', minimum: -1, default: 0 },
        },
      },
      ChatRequest: {
        required: ['messages'],
        properties: { model: { default: 'default' }, stream: { default: false }, top_k: { default: 0 } },
      },
    })
  })
})

describe('GET /docs', () => {
  it('has our title and the mark of the console, and keeps no key', async () => {
    const { app } = createTestApp()
    const consoleMark = readFileSync('console/src/mark.svg', 'utf8').trim()

    expect((await app.inject('/docs/')).body).toContain('<title>Sluice: API</title>')
    expect((await app.inject('/docs/static/theme/mark.svg')).body).toBe(consoleMark)
    const settings = (await app.inject('/docs/static/swagger-initializer.js')).body
    expect(settings).toMatch(/persistAuthorization["']?: ?false/)
  })

  it.each(['/docs', '/docs/'])('serves Swagger UI and its assets from this server alone: %s', async (url) => {
    const { app } = createTestApp()

    const page = await app.inject(url)

    expect(page.statusCode).toBe(200)
    expect(page.headers['content-type']).toContain('text/html')
    // Never from the root, which is another server's behind a proxy.
    expect(page.body).not.toMatch(/(?:src|href)="\//)
    const assets = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, asset = '']) => asset)
    expect(assets.length).toBeGreaterThan(3)
    for (const asset of assets) {
      expect(asset).not.toMatch(/^(?:https?:)?\/\//)
      expect((await app.inject(new URL(asset, `http://x${url}`).pathname)).statusCode).toBe(200)
    }
  })

  it('has pages that run nothing but their own files and stand in no frame', async () => {
    const { app } = createTestApp()

    for (const url of ['/docs/', '/docs/static/swagger-ui-bundle.js']) {
      const { headers, statusCode } = await app.inject(url)

      expect(statusCode).toBe(200)
      expect(headers).toMatchObject({
        'content-security-policy': expect.stringMatching(/default-src 'none'.*script-src 'self';/),
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
      })
    }
    // What the policy would keep from running: a script or a handler inside the page.
    const page = (await app.inject('/docs/')).body
    expect(page).not.toMatch(/<script(?![^>]*\ssrc=)/)
    expect(page).not.toMatch(/\son\w+=/)
  })

  it('names no program and no version', async () => {
    const { app } = createTestApp()

    for (const url of ['/docs', '/v1/health', '/nowhere', '/v1/models/%zz']) {
      const { headers } = await app.inject(url)

      expect(headers).not.toHaveProperty('server')
      expect(headers).not.toHaveProperty('x-powered-by')
    }
  })

  it.each([
    ['/docs/static/swagger-ui.css', { range: 'bytes=99999999-' }, 400],
    ['/docs/static/swagger-ui.css', { 'if-match': '"x"' }, 400],
    ['/docs/static/..%2f..%2fpackage.json', {}, 404],
    ['/docs/static/%00', {}, 400],
  ])('answers %s %j with our own errors', async (url, headers, status) => {
    const answer = await createTestApp().app.inject({ url, headers })

    expect(answer.statusCode).toBe(status)
    const detail: unknown = expect.any(String)
    const error = { message: detail, type: 'invalid_request_error', param: null, code: 'not_found' }
    expect(answer.json()).toEqual({ detail, ...(status === 404 && { error }) })
  })
})
