/** `/v1/admin/status`, once and as a stream. */
import { describe, expect, it } from 'vitest'
import { ADMIN_KEY, createTestApp, KEY } from '../../support/servers/test-app.ts'

const ADMIN = { authorization: `Bearer ${ADMIN_KEY}` }

describe('GET /v1/admin/status', () => {
  it('says how models, queue, requests, guards and the machine are', async () => {
    const { app, clock, metrics, post } = createTestApp({
      disk: async () => ({ folder: '/data', freeBytes: 5e9 }),
    })
    await post('/v1/generate', { prompt: 'ab', max_new_tokens: 2 })
    await app.inject('/v1/models')
    metrics.countGuardHit({ guard: 'firewall', rule: 'probe' })
    clock.advance(2000)

    const answer = await app.inject({ url: '/v1/admin/status', headers: ADMIN })

    expect(answer.json()).toEqual({
      version: '1.1.1',
      uptime_seconds: 2,
      why_not_ready: null,
      models: [
        {
          ...{
            id: 'default',
            state: 'ready',
            load_progress: 1,
            failure: null,
            size_mb: 0,
            slots: 8,
            gpu: null,
          },
          ...{ running: 0, waiting: 0, kv_tokens_used: null, kv_tokens_total: null, memory_bytes: null },
          ...{ replicas: null, replicas_ready: null, engine_deaths: 0 },
          ...{
            prompt_tokens: 2,
            completion_tokens: 2,
            tokens_per_second: null,
            last_used: expect.any(Number),
          },
        },
      ],
      queue: { free: 0, pro: 0, enterprise: 0 },
      requests: { 200: 1, 401: 1 },
      guard_hits: [{ guard: 'firewall', rule: 'probe', count: 1 }],
      bans: null,
      memory_bytes: expect.any(Number),
      ...{ data_dir: '/data', disk_free_bytes: 5e9, databases: {}, certificate_expires_at: null },
      refusals: { unauthorized: 1 },
      last_errors: [
        {
          ...{ at: expect.any(Number), request_id: expect.any(String) },
          ...{ method: 'GET', route: '/v1/models', status: 401, code: 'unauthorized' },
        },
      ],
    })
    expect(answer.json().memory_bytes).toBeGreaterThan(1e6)
  })

  it('is for admins', async () => {
    const { app } = createTestApp()

    for (const url of ['/v1/admin/status', '/v1/admin/status/stream'])
      expect((await app.inject({ url, headers: { authorization: `Bearer ${KEY}` } })).statusCode).toBe(401)
  })
})

describe('GET /v1/admin/status/stream', () => {
  it('is an event each second, with what was generated since the one before', async () => {
    const world = createTestApp()
    const port = await world.listen()
    const answer = await fetch(`http://127.0.0.1:${port}/v1/admin/status/stream`, { headers: ADMIN })
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    const next = async () => JSON.parse(String((await reader?.read())?.value).replace(/^data: /, ''))

    const first = await next()
    await world.post('/v1/generate', { prompt: 'abcd', max_new_tokens: 4 })
    world.clock.advance(2000)
    const second = await next()
    await reader?.cancel()

    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(first.models).toMatchObject([{ tokens_per_second: null }])
    expect(second.models).toMatchObject([{ completion_tokens: 4, tokens_per_second: 2 }])
  })

  it('ends when the server shuts down', async () => {
    const world = createTestApp({ isDraining: () => true })

    const answer = await world.app.inject({ url: '/v1/admin/status/stream', headers: ADMIN })

    expect([answer.statusCode, answer.body]).toEqual([200, ''])
  })
})
