/** The log: one line for each request, with its numbers and without its text. */
import { expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import { ScriptedEngine, sequenceStart, textDelta } from '../../support/engines/scripted-engine.ts'
import { createAccountsApp } from '../../support/servers/accounts-app.ts'
import { createTestApp, KEY, METRICS_KEY } from '../../support/servers/test-app.ts'

it('writes one line with the numbers of a generation', async () => {
  const { call, logLines } = createTestApp()

  await call({
    method: 'POST',
    url: '/v1/generate',
    headers: { 'x-request-id': 'r-1' },
    payload: { prompt: 'prompt-text' },
  })

  await expect.poll(() => logLines).toHaveLength(1)
  expect(logLines[0]).toEqual({
    level: 'info',
    time: expect.any(String),
    msg: 'request',
    requestId: 'r-1',
    method: 'POST',
    route: '/v1/generate',
    status: 200,
    key: expect.stringMatching(/^static-[0-9a-f]{16}$/),
    ms: 0,
    model: 'default',
    promptTokens: 11,
    completionTokens: 11,
    queueMs: expect.any(Number),
    ttftMs: 0,
    e2eMs: 0,
    finishReason: 'stop',
  })
})

it('writes one line for a refusal, with its code, and with its path where there is no route', async () => {
  const { call, logLines } = createTestApp()

  await call({ url: '/v1/unknown-path?x=query-text' })
  await call({ method: 'POST', url: '/v1/generate', payload: { prompt: 7 } })
  await call({ url: '/v1/models', headers: { authorization: 'Bearer wrong' } })
  await call({ url: '/v1/models/org/name' })

  await expect.poll(() => logLines).toHaveLength(4)
  expect(logLines).toMatchObject([
    { route: null, path: '/v1/unknown-path', status: 404, code: 'not_found' },
    { route: '/v1/generate', status: 400, code: 'invalid_request' },
    { route: '/v1/models', status: 401, code: 'unauthorized' },
    { route: '/v1/models/*', path: '/v1/models/org/name', status: 404, code: 'model_not_found' },
  ])
  expect(logLines.map((line) => 'path' in line)).toEqual([true, false, false, true])
  expect(JSON.stringify(logLines)).not.toContain('query-text')
})

it('writes probes, and scrapes that are answered, at debug alone', async () => {
  const { app, call, logLines } = createTestApp()
  const scrape = (secret: string) =>
    app.inject({ url: '/metrics', headers: { authorization: `Bearer ${secret}` } })

  for (const url of ['/v1/health', '/v1/ready']) await app.inject(url)
  await scrape(METRICS_KEY)
  await scrape('a-wrong-metrics-key')
  await call('/v1/models')

  await expect.poll(() => logLines.map(({ route }) => route)).toContain('/v1/models')
  expect(logLines.filter(({ msg }) => msg === 'request').map(({ route }) => route)).toEqual([
    '/metrics',
    '/v1/models',
  ])
})

it('tells of an error inside a stream, whose status has left', async () => {
  const engine = new ScriptedEngine(async function* () {
    yield sequenceStart()
    yield textDelta('a', [1])
    throw new ServiceError('engine_unavailable', { message: 'it is gone' })
  })
  const { call, logLines } = createTestApp({ engine })

  await call({ method: 'POST', url: '/v1/generate/stream', payload: { prompt: 'a' } })

  await expect.poll(() => logLines).toMatchObject([{ status: 200, code: 'engine_unavailable' }])
})

it.each([
  ['/v1/%1b[31m', '/v1/%1b[31m'],
  [`/v1/${'x'.repeat(300)}`, `/v1/${'x'.repeat(196)}…`],
  [`/v1/keys/sk-svc-${'0'.repeat(64)}/x`, '/v1/keys/sk-[redacted]/x'],
  [`/${'x'.repeat(180)}/sk-svc-${'0'.repeat(64)}`, `/${'x'.repeat(180)}/sk-[redacted]…`],
])('writes of the path %s what may stand in a log', async (url, path) => {
  const { call, logLines } = createTestApp()

  await call({ url })

  await expect.poll(() => logLines).toMatchObject([{ path, code: 'not_found' }])
})

it('names what a request of the admin API is about', async () => {
  const world = await createAccountsApp()
  const { user_id: userId } = (
    await world.admin('POST', '/v1/admin/users', { email: 'ann@example.org', password: 'long enough' })
  ).json<{ user_id: string }>()
  const { id } = (await world.admin('POST', '/v1/admin/keys')).json<{ id: string }>()

  await world.admin('PATCH', `/v1/admin/keys/${id}?tier=pro`)
  await world.admin('GET', `/v1/admin/keys/${id}/usage`)
  await world.admin('DELETE', `/v1/admin/users/${userId}`)
  await world.admin('DELETE', '/v1/admin/models/org/none')
  await world.admin('POST', '/v1/admin/models', { id: 'org/new', checkpoint: 'none.gguf' })
  await world.admin('GET', '/v1/admin/keys')
  await world.admin('DELETE', '/v1/admin/bans/192.0.2.7')

  const lines = () => world.logLines.filter(({ msg }) => msg === 'request')
  await expect.poll(lines).toHaveLength(9)
  expect(lines().map(({ target }) => target)).toEqual([
    userId,
    id,
    id,
    id,
    userId,
    'org/none',
    'org/new',
    undefined,
    undefined,
  ])
  // No line of the log holds an address.
  expect(JSON.stringify(lines())).not.toContain('192.0.2.7')
})

it('never holds a prompt, an output or a key', async () => {
  const { call, logLines } = createTestApp()

  await call({ method: 'POST', url: '/v1/generate', payload: { prompt: 'prompt-text' } })
  await call({ method: 'POST', url: '/v1/generate/stream', payload: { prompt: 'prompt-text' } })
  await call({
    method: 'POST',
    url: '/v1/generate',
    payload: { prompt: 'prompt-text', top_k: 'prompt-text' },
  })

  await expect.poll(() => logLines).toHaveLength(3)
  expect(JSON.stringify(logLines)).not.toMatch(new RegExp(`prompt-text|${KEY}`))
})
