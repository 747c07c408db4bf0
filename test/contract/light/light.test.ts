/** What the light server's four endpoints and its keys do that the full server's do not; the rest is `shared-endpoints.test.ts`. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_PUBLIC_PATHS } from '../../../src/light.ts'
import { call, createTestLightServer } from '../../support/servers/light-server.ts'

describe('the endpoints', () => {
  it('know the model by its escaped id', async () => {
    const { server } = createTestLightServer()

    expect((await call(server, '/v1/models/d%65fault')).json.id).toBe('default')
  })

  it('runs more generations at once than a batch holds', async () => {
    const { server } = createTestLightServer()
    await server.listen()
    const prompts = Array.from({ length: 20 }, (_, index) => `prompt ${index}`)

    const answers = await Promise.all(
      prompts.map((prompt) => call(server, '/v1/generate', { payload: { prompt, max_new_tokens: 8 } })),
    )

    expect(answers.map(({ json }) => json.generated_text)).toEqual(prompts.map((text) => text.slice(0, 8)))
  })

  it.each([
    ['GET', '/v1/ready'],
    ['GET', '/docs'],
    ['GET', '/'],
    ['POST', '/v1/generate/stream'],
    ['POST', '/v1/chat/completions'],
    ['GET', '/v1/generate'],
    ['POST', '/v1/health'],
    ['GET', '/v1/health/'],
    ['HEAD', '/v1/generate'],
  ])('are four: %s %s is 404, with or without a key', async (method, path) => {
    const { server } = createTestLightServer()

    for (const headers of [{}, { authorization: '' }]) {
      const answer = await call(server, path, { method, headers })
      expect(answer.status).toBe(404)
      expect(answer.headers['x-error-code']).toBe('not_found')
    }
  })
})

describe('keys', () => {
  it.each([
    '',
    'Bearer',
    'Bearer sk-svc-',
    'Bearer other',
    'Bearer SK-SVC-ab',
    'Basic sk-svc-ab',
    'sk-svc-ab',
  ])('%j is refused before anything of the body is read', async (authorization) => {
    const { server } = createTestLightServer()

    const answer = await call(server, '/v1/generate', { headers: { authorization }, payload: 'nonsense' })

    expect(answer.status).toBe(401)
    expect(answer.headers).toMatchObject({ 'www-authenticate': 'Bearer', 'x-error-code': 'unauthorized' })
    expect(answer.json).toEqual({
      detail: 'Missing or invalid API key. Send it as "Authorization: Bearer <key>" or "x-api-key: <key>".',
    })
  })

  it.each(['Bearer sk-svc-a', 'bearer  sk-svc-not-even-hex', 'BEARER sk-svc-0123 '])(
    '%j is accepted',
    async (authorization) => {
      const { server } = createTestLightServer()

      expect(
        (await call(server, '/v1/generate', { headers: { authorization }, payload: { prompt: 'a' } })).status,
      ).toBe(200)
    },
  )

  it('are not asked for on the default public paths', async () => {
    const { server } = createTestLightServer()
    const headers = { authorization: '' }

    for (const path of ['/v1/health', '/v1/models', '/v1/models/default'])
      expect((await call(server, path, { headers })).status).toBe(200)
  })

  it('are asked for on an embedder’s routes unless their paths are public', async () => {
    const { server } = createTestLightServer({ publicPaths: [...DEFAULT_PUBLIC_PATHS, '/hook', '/x/*'] })
    for (const path of ['/hook', '/x/a', '/private'] as const) server.route('GET', path, () => path)
    const statusOf = async (path: string) =>
      (await call(server, path, { headers: { authorization: '' } })).status

    expect(await statusOf('/hook')).toBe(200)
    expect(await statusOf('/x/a')).toBe(200)
    expect(await statusOf('/private')).toBe(401)
    expect(await statusOf('/x/../private')).toBe(401)
    expect(await statusOf('/v1/health')).toBe(200)
  })

  it('are asked for everywhere when no path is public', async () => {
    const { server } = createTestLightServer({ publicPaths: [] })

    expect((await call(server, '/v1/health', { headers: { authorization: '' } })).status).toBe(401)
  })

  it('are asked for generating unless its exact path is public', async () => {
    const payload = { prompt: 'a' }
    const headers = { authorization: '' }
    const byPrefix = createTestLightServer({ publicPaths: ['/*', '/v1/*', '/v1/{x}'] })
    const byPath = createTestLightServer({ publicPaths: ['/v1/generate'] })

    expect((await call(byPrefix.server, '/v1/generate', { headers, payload })).status).toBe(401)
    expect((await call(byPath.server, '/v1/generate', { headers, payload })).status).toBe(200)
  })
})
