import { describe, expect, it } from 'vitest'
import { AdminKeys } from '../../../src/accounts/admin-secret.ts'
import { VirtualClock } from '../../../src/core/clock.ts'
import { AttemptThrottle } from '../../../src/limits/attempt-throttle.ts'
import { MemoryAttemptLimits } from '../../../src/limits/memory/attempt-limits.ts'
import { withResolvers } from '../../../src/core/concurrency/with-resolvers.ts'
import {
  sayOk,
  type Script,
  ScriptedEngine,
  sequenceStart,
  textDelta,
} from '../../support/engines/scripted-engine.ts'
import { until } from '../../support/until.ts'
import { ADMIN_KEY, createTestApp, METRICS_KEY, type TestApp } from '../../support/servers/test-app.ts'

const asAdmin = { authorization: `Bearer ${ADMIN_KEY}` }

async function readMetrics({ call }: TestApp): Promise<string> {
  return (await call({ url: '/metrics', headers: asAdmin })).body
}

describe('GET /metrics', () => {
  it('is for admins, in the text format', async () => {
    const testApp = createTestApp()
    const withKey = await testApp.call('/metrics')
    expect(withKey.statusCode).toBe(401)
    const answer = await testApp.call({ url: '/metrics', headers: asAdmin })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(answer.body).toContain('process_resident_memory_bytes')
    expect(answer.body).toContain('sluice_model_state{model="default",state="ready"} 1')
    expect(answer.body).toContain('sluice_ready 1')
    expect(/^process_open_fds [1-9]/m.test(answer.body)).toBe(process.platform === 'linux')
  })

  it('opens to a metrics key, which opens nothing else', async () => {
    const { app } = createTestApp()
    const headers = { authorization: `Bearer ${METRICS_KEY}` }
    const statusOf = async (url: string, given = headers) =>
      (await app.inject({ url, headers: given })).statusCode
    expect(await statusOf('/metrics')).toBe(200)
    expect(await statusOf('/v1/admin/status')).toBe(401)
    expect(await statusOf('/v1/models')).toBe(401)
    expect(await statusOf('/metrics', { authorization: `Bearer ${METRICS_KEY}x` })).toBe(401)
  })

  it('opens to a metrics key where there is no admin API', async () => {
    const noAdmin = new AdminKeys([], new AttemptThrottle(new MemoryAttemptLimits(new VirtualClock())))
    const metricsCheck = noAdmin.checkBeside([METRICS_KEY])
    const { app } = createTestApp({ adminCheck: noAdmin.check, metricsCheck })
    const headers = { authorization: `Bearer ${METRICS_KEY}` }
    expect((await app.inject({ url: '/metrics', headers })).statusCode).toBe(200)
    const refused = await app.inject({ url: '/v1/admin/status', headers })
    expect(refused.headers['x-error-code']).toBe('admin_disabled')
  })

  it('counts wrong keys of an address with its wrong admin keys, and no right one', async () => {
    const { app } = createTestApp()
    const ask = async (secret: string) =>
      (await app.inject({ url: '/metrics', headers: { authorization: `Bearer ${secret}` } })).statusCode
    for (let turn = 0; turn < 40; turn++)
      expect(await ask(turn % 2 === 0 ? METRICS_KEY : ADMIN_KEY)).toBe(200)
    for (let turn = 0; turn < 30; turn++) expect(await ask('a-guess-of-a-stranger')).toBe(401)
    expect(await ask(METRICS_KEY)).toBe(429)
  })

  it('counts the deaths of engines, and what they hold in host memory', async () => {
    const engine = new ScriptedEngine(sayOk)
    engine.status = () => ({ state: 'failed', message: 'it died.', deaths: 3, prefixCacheBytes: 5 })
    const text = await readMetrics(createTestApp({ engine }))
    expect(text).toContain('sluice_engine_deaths_total{model="default"} 3')
    expect(text).toContain('sluice_prefix_cache_host_bytes{model="default"} 5')
    expect(text).toContain('sluice_model_state{model="default",state="failed"} 1')
  })

  it('counts requests by the pattern of their route, and tokens by model', async () => {
    const testApp = createTestApp()
    await testApp.post('/v1/generate', { prompt: 'abc', max_new_tokens: 2 })
    await testApp.post('/v1/generate', { prompt: 'abcd', max_new_tokens: 3 })
    await testApp.call('/v1/models/nobody')
    await testApp.call('/secret-of-a-scanner')
    await testApp.call({ method: 'PROPFIND' as 'GET', url: '/x' })
    const text = await readMetrics(testApp)
    expect(text).toContain('sluice_requests_total{method="POST",route="/v1/generate",status="200"} 2')
    expect(text).toMatch(
      /sluice_requests_total\{method="GET",route="\/v1\/models\/[:*][^"]*",status="404"\} 1/,
    )
    expect(text).toContain('sluice_requests_total{method="GET",route="none",status="404"} 1')
    expect(text).toContain('sluice_requests_total{method="other",route="none",status="404"} 1')
    expect(text).toContain('sluice_prompt_tokens_total{model="default"} 7')
    expect(text).toContain('sluice_completion_tokens_total{model="default"} 5')
    expect(text).toContain('sluice_time_to_first_token_seconds_count{model="default"} 2')
    expect(text).toContain('sluice_inter_token_latency_seconds_count{model="default"} 2')
    expect(text).not.toContain('scanner')
  })

  it('tells what runs, and what that holds of the KV cache', async () => {
    const { promise: held, resolve: goOn } = withResolvers<void>()
    const script: Script = async function* () {
      yield { ...sequenceStart(), promptTokens: 40, cachedTokens: 30, restoredTokens: 20 }
      yield textDelta('ok', [1, 2])
      await held
      yield { type: 'sequence-end', index: 0, finishReason: 'stop', error: null }
    }
    const testApp = createTestApp({ engine: new ScriptedEngine(script, { kvCacheTokens: 420 }) })
    const answering = testApp.post('/v1/generate', { prompt: 'abc' })
    await until('two tokens are held', async () =>
      (await readMetrics(testApp)).includes('sluice_kv_cache_tokens{model="default"} 42'),
    )
    const running = await readMetrics(testApp)
    goOn()
    await answering
    const ended = await readMetrics(testApp)

    expect(running).toContain('sluice_requests_running{model="default"} 1')
    expect(running).toContain('sluice_requests_waiting{model="default"} 0')
    expect(running).toContain('sluice_kv_cache_capacity_tokens{model="default"} 420')
    expect(running).toContain('sluice_kv_cache_usage_ratio{model="default"} 0.1')
    expect(running).toContain('sluice_prefix_cache_queries_total{model="default"} 40')
    expect(running).toContain('sluice_prefix_cache_hits_total{model="default"} 30')
    expect(running).toContain('sluice_prefix_cache_restored_tokens_total{model="default"} 20')
    expect(ended).toContain('sluice_requests_running{model="default"} 0')
    expect(ended).toContain('sluice_kv_cache_tokens{model="default"} 0')
    expect(ended).toContain('sluice_prefix_cache_hits_total{model="default"} 30')
  })

  it('counts what was guessed ahead and what of it was right', async () => {
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart()
      yield textDelta('ok', [1])
      const drafts = { draftedTokens: 12, acceptedTokens: 9 }
      yield { type: 'sequence-end', index: 0, finishReason: 'stop', error: null, drafts }
    })
    const testApp = createTestApp({ engine })
    await testApp.post('/v1/generate', { prompt: 'abc' })
    const text = await readMetrics(testApp)
    expect(text).toContain('sluice_draft_tokens_total{model="default"} 12')
    expect(text).toContain('sluice_accepted_draft_tokens_total{model="default"} 9')
  })

  it('counts the hits of guards by rule', async () => {
    const testApp = createTestApp()
    testApp.metrics.countGuardHit({ guard: 'prompt', rule: 'role-spoofing' })
    expect(await readMetrics(testApp)).toContain(
      'sluice_guard_hits_total{guard="prompt",rule="role-spoofing"} 1',
    )
  })
})
