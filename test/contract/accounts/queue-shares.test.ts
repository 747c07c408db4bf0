/** Shares of the queue and of the slots, for keys of every tier over the real registry and scheduler. */
import { describe, expect, it } from 'vitest'
import { ServedTiers } from '../../../src/accounts/served-tiers.ts'
import { type AccountsApp, createAccountsApp } from '../../support/servers/accounts-app.ts'
import { hang, sayOk, type Script, ScriptedEngine, piecesOf } from '../../support/engines/scripted-engine.ts'
import { createRegistry } from '../../support/servers/test-app.ts'
import { until } from '../../support/until.ts'

/** An engine in which prompts of letters wait for ever and others are answered at once. */
const hangForLetters: Script = (request, signal) =>
  /^[a-z]/.test(piecesOf(request.prompts[0])[0] ?? '') ? waitForEver(request, signal) : sayOk(request)

const waitForEver: Script = async function* (request, signal) {
  // Without a start: it waits for its slot until its client leaves.
  for await (const event of hang(request, signal)) if (event.type === 'sequence-end') yield event
}

async function createScene() {
  const engine = new ScriptedEngine(hangForLetters, { maxBatchSize: 1 })
  const clockless = await createAccountsApp()
  const servedTiers = new ServedTiers(clockless.clock)
  await servedTiers.open(clockless.state.findServedTiers)
  const registry = createRegistry({
    engine,
    maxQueue: 64,
    servedClasses: () => servedTiers.priorityClasses(),
  })
  const app = await createAccountsApp({ registry })
  return { app, engine, registry }
}

async function createKey({ admin }: AccountsApp, tier: string): Promise<string> {
  return (await admin('POST', `/v1/admin/keys?tier=${tier}`)).json<{ key: string }>().key
}

describe('the queue', () => {
  it('leaves an enterprise key its reserve, and each account a share, beside accounts that fill the rest', async () => {
    const { app, registry } = await createScene()
    for (let i = 0; i < 20; i++) {
      const key = await createKey(app, 'free')
      const prompts = Array.from({ length: 32 }, () => 'a')
      void app.as(key, 'POST', '/v1/generate/continuous-batch', { prompts })
    }
    await until('the free part is full', () => registry.waitingOf(0) === 48)

    const refused = await app.as(await createKey(app, 'free'), 'POST', '/v1/generate', { prompt: '1' })
    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({ 'x-error-code': 'queue_share_full', 'retry-after': '1' })
    expect(refused.json().detail).toBe(
      'The share of your tier in the queue is full: at most 48 of these sequences may wait now, 48 do, ' +
        'and this request brings 1. Try again later.',
    )
    const enterprise = await createKey(app, 'enterprise')
    const prompts = Array.from({ length: 8 }, () => '1')
    const answer = await app.as(enterprise, 'POST', '/v1/generate/batch', { prompts })
    expect(answer.statusCode).toBe(200)
    const metrics = (await app.admin('GET', '/metrics')).body
    expect(metrics).toContain('sluice_queue_waiting{tier="free"} 48')
    expect(metrics).toContain('sluice_queue_waiting{tier="enterprise"} 0')
  })

  it('refuses an account that is over its share, and takes another', async () => {
    const { app, registry } = await createScene()
    const [greedy, other] = [await createKey(app, 'pro'), await createKey(app, 'pro')]
    void app.as(greedy, 'POST', '/v1/generate/continuous-batch', { prompts: Array(64).fill('a') })
    await until('its prompts wait', () => registry.waitingOf(1) > 0)

    const refused = await app.as(greedy, 'POST', '/v1/generate/batch', { prompts: ['1', '1'] })
    expect(refused.headers['x-error-code']).toBe('queue_share_full')
    expect(refused.json().detail).toContain('The share of your account in the queue is full')
    const answer = await app.as(other, 'POST', '/v1/generate', { prompt: '1' })
    expect(answer.statusCode).toBe(200)
  })

  it("is the operator's own in whole", async () => {
    const { app, registry } = await createScene()
    void app.post('/v1/generate/continuous-batch', { prompts: Array(64).fill('a') })
    await until('its prompts wait', () => registry.waitingOf(2) === 63)
    expect((await app.post('/v1/generate', { prompt: '1' })).statusCode).toBe(200)
    expect((await app.post('/v1/generate/batch', { prompts: ['1', '1'] })).headers['x-error-code']).toBe(
      'queue_full',
    )
  })
})
