/** The log: one line for each request, with its numbers and without its text. */
import { expect, it } from 'vitest'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'

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

it('writes one line for a refusal and for a path nobody knows, without naming it', async () => {
  const { call, logLines } = createTestApp()

  await call({ url: '/v1/secret-path' })
  await call({ method: 'POST', url: '/v1/generate', payload: { prompt: 7 } })

  await expect
    .poll(() => logLines)
    .toMatchObject([
      { route: null, status: 404 },
      { route: '/v1/generate', status: 400 },
    ])
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
