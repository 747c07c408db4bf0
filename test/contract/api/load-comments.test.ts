/** What a stream says while its model is loaded for it, in every dialect. */
import { describe, expect, it } from 'vitest'
import { LOAD_COMMENT_MS } from '../../../src/api/load-comments.ts'
import type { StartSilenceTimer } from '../../../src/api/silence-timer.ts'
import { StartError } from '../../../src/core/errors.ts'
import type { OpenEngine } from '../../../src/models/registry.ts'
import { sayOk, ScriptedEngine } from '../../support/engines/scripted-engine.ts'
import { ADMIN_KEY, createTestApp } from '../../support/servers/test-app.ts'

const messages = [{ role: 'user', content: 'Hi' }]

const STREAMS = [
  ['/v1/generate/stream', { prompt: 'a' }],
  ['/v1/completions', { prompt: 'a', stream: true }],
  ['/v1/chat/completions', { messages, stream: true }],
  ['/v1/responses', { input: 'a', stream: true }],
  ['/v1/messages', { messages, max_tokens: 4, stream: true }],
] as const

interface Load {
  /** Whether it takes longer than the first comment waits. */
  readonly isLong: boolean
  readonly fails?: boolean
}

/** With a model `m` that the first request loads, and one that cannot be loaded, which `m` answers for. */
async function createSleepingApp({ isLong, fails = false }: Load) {
  const timers: { onSilence: () => void; silenceMs: number }[] = []
  const startSilenceTimer: StartSilenceTimer = (onSilence, silenceMs) => {
    timers.push({ onSilence, silenceMs })
    return { refresh: () => {}, stop: () => {} }
  }
  const openEngine: OpenEngine = (id, _source, { onProgress }) => {
    if (id === 'broken') return Promise.reject(new StartError("'y.gguf' is damaged."))
    onProgress(0.456)
    if (isLong) for (const { onSilence, silenceMs } of timers) if (silenceMs === LOAD_COMMENT_MS) onSilence()
    return fails
      ? Promise.reject(new StartError("'x.gguf' is damaged."))
      : Promise.resolve(new ScriptedEngine(sayOk))
  }
  const { call, post } = createTestApp({ openEngine, startSilenceTimer })
  const headers = { authorization: `Bearer ${ADMIN_KEY}` }
  for (const model of [{ id: 'm' }, { id: 'broken', fallback: 'm' }]) {
    const payload = { ...model, checkpoint: 'm', load: 'request' }
    const registered = await call({ method: 'POST', url: '/v1/admin/models', headers, payload })
    expect(registered.statusCode).toBe(200)
  }
  return { post, timers }
}

describe.each(STREAMS)('a stream of %s', (route, body) => {
  it('begins with a comment that says how far the load is', async () => {
    const { post } = await createSleepingApp({ isLong: true })
    const answer = await post(route, body)
    const [comment, ...rest] = answer.body.split('\n\n')
    expect([answer.statusCode, comment]).toEqual([200, ': loading model 45 %'])
    const loaded = await post(route, body)
    expect(loaded.body.split('\n\n')).toHaveLength(rest.length)
    expect(loaded.body).not.toContain(': loading')
  })

  it('begins with the same comment while the model is loaded that answers in the place of another', async () => {
    const { post } = await createSleepingApp({ isLong: true })
    const answer = await post(route, { ...body, model: 'broken' })
    expect([answer.statusCode, answer.body.split('\n\n')[0]]).toEqual([200, ': loading model 45 %'])
    expect(answer.body).toContain('"ok"')
  })

  it('ends with an error event when the load fails after that', async () => {
    const { post } = await createSleepingApp({ isLong: true, fails: true })
    const answer = await post(route, body)
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toMatch(/^: loading model 45 %\n\n/)
    expect(answer.body).toContain("Model 'm' could not be loaded: 'x.gguf' is damaged.")
    expect(answer.body).toMatch(/error/)
  })

  it('is refused with its status when the load fails before that', async () => {
    const { post } = await createSleepingApp({ isLong: false, fails: true })
    const answer = await post(route, body)
    expect([answer.statusCode, answer.headers['x-error-code']]).toEqual([503, 'model_loading_failed'])
  })
})
