import { describe, expect, it } from 'vitest'
import { OutputGuard } from '../../../src/guards/output/output-guard.ts'
import {
  ScriptedEngine,
  sequenceEnd,
  sequenceStart,
  textDelta,
} from '../../support/engines/scripted-engine.ts'
import {
  ADMIN_KEY,
  createTestApp,
  type TestApp,
  type TestAppOptions,
} from '../../support/servers/test-app.ts'

const SERVICE_KEY = `sk-svc-${'0f'.repeat(32)}`
const SYSTEM_PROMPT =
  'You answer for the bank. Never name the internal rate of 3.7 percent, never promise a loan, ' +
  'and hand everybody who mentions a lawyer over to the legal desk at once, without a further word.'

function createGuardedApp(options: TestAppOptions = {}): TestApp {
  return createTestApp({ outputGuard: new OutputGuard({ secrets: [ADMIN_KEY] }), ...options })
}

async function hits({ call }: TestApp): Promise<string[]> {
  const { body } = await call({ url: '/metrics', headers: { authorization: `Bearer ${ADMIN_KEY}` } })
  return body.split('\n').filter((line) => line.startsWith('sluice_guard_hits_total'))
}

/** Data of the events of a stream. */
function events(body: string): Record<string, unknown>[] {
  const lines = body.split('\n\n').filter((event) => event.startsWith('data: {'))
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>)
}

describe('the output guard', () => {
  it('ends a generation before a key, ids and counts too, and is counted and logged without the text', async () => {
    const testApp = createGuardedApp()
    const answer = await testApp.post('/v1/generate', { prompt: `key: ${SERVICE_KEY} ok` })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toMatchObject({
      generated_text: 'key: ',
      token_ids: [...Buffer.from('key: ')],
      completion_tokens: 5,
      finish_reason: 'content_filter',
    })
    expect(await hits(testApp)).toEqual(['sluice_guard_hits_total{guard="output",rule="service-key"} 1'])
    const line = testApp.logLines.find(({ rule }) => rule === 'service-key')
    expect(line).toMatchObject({ hits: 1, requestId: answer.headers['x-request-id'] })
    expect(JSON.stringify(testApp.logLines)).not.toContain('0f0f')
  })

  it('ends each answer of a chat by itself, plain and streamed', async () => {
    const says = ['fine', `so: ${ADMIN_KEY} and on`, ADMIN_KEY]
    const engine = new ScriptedEngine(async function* () {
      for (const index of says.keys()) yield sequenceStart(index)
      for (const [index, text] of says.entries()) yield textDelta(text, [index], index)
      for (const index of says.keys()) yield sequenceEnd('stop', index)
    })
    const { post } = createGuardedApp({ engine })
    const body = { messages: [{ role: 'user', content: 'hi' }], n: 3 }

    const plain = await post('/v1/chat/completions', body)
    const streamed = await post('/v1/chat/completions', { ...body, stream: true })

    const shown = ['fine', 'so: ', '']
    const reasons = ['stop', 'content_filter', 'content_filter']
    expect(plain.json().choices).toMatchObject(
      shown.map((content, index) => ({ index, message: { content }, finish_reason: reasons[index] })),
    )
    const chunks = events(streamed.body) as {
      choices: { index: number; delta: { content?: string }; finish_reason: string | null }[]
    }[]
    const choices = chunks.flatMap((chunk) => chunk.choices)
    for (const index of says.keys()) {
      const own = choices.filter((choice) => choice.index === index)
      expect(own.map(({ delta }) => delta.content ?? '').join('')).toBe(shown[index])
      expect(own.at(-1)?.finish_reason).toBe(reasons[index])
    }
  })

  it('stops the engine there, and puts on record what it made', async () => {
    const testApp = createGuardedApp()
    const rest = 'x'.repeat(3000)
    await testApp.post('/v1/generate', { prompt: `${ADMIN_KEY} ${rest}`, max_new_tokens: 4096 })
    const [entry] = testApp.usage
    expect(entry?.tokensIn).toBe(ADMIN_KEY.length + 1 + rest.length)
    expect(entry?.tokensOut).toBe(ADMIN_KEY.length)
  })

  it('ends a stream in order, with nothing of the secret but what any long word shows', async () => {
    const { post } = createGuardedApp()
    const { body } = await post('/v1/generate/stream', { prompt: `so: ${ADMIN_KEY} and on` })
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true)
    const chunks = events(body) as {
      choices: { delta: { content: string }; finish_reason: string | null }[]
    }[]
    const text = chunks.map(({ choices }) => choices[0]?.delta.content).join('')
    expect(`so: ${ADMIN_KEY.slice(0, 7)}`.startsWith(text)).toBe(true)
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('content_filter')
  })

  it('leaves no stream silent while its text waits, and sends the text when it came to nothing', async () => {
    const onSilence: (() => void)[] = []
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart()
      yield textDelta('so: sk-svc-0123', [1])
      onSilence[0]?.()
      yield textDelta(' so', [2])
      yield sequenceEnd()
    })
    const startSilenceTimer = (callback: () => void) => {
      onSilence.push(callback)
      return { refresh: () => {}, stop: () => {} }
    }
    const { post } = createGuardedApp({ engine, startSilenceTimer })

    const { body } = await post('/v1/generate/stream', { prompt: 'a' })

    const [first = '', ping, second = ''] = body.split('\n\n')
    expect(first).toContain('"content":"so: "')
    expect(first).toContain('"completion_tokens":0')
    expect(ping).toBe(': ping')
    expect(second).toContain('"content":"sk-svc-0123 so"')
    expect(second).toContain('"completion_tokens":2')
  })

  it.each([false, true])('keeps a system prompt in a chat, stream: %s', async (stream) => {
    const { post } = createGuardedApp()
    const messages = [
      { role: 'system', content: SYSTEM_PROMPT },
      { role: 'user', content: `Sure: ${SYSTEM_PROMPT}` },
    ]
    const answer = await post('/v1/chat/completions', { messages, stream })
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toContain('"finish_reason":"content_filter"')
    expect(answer.body).not.toContain('internal rate')
  })

  it('leaves a chat alone that has no system message', async () => {
    const { post } = createGuardedApp()
    const answer = await post('/v1/chat/completions', {
      messages: [{ role: 'user', content: SYSTEM_PROMPT }],
    })
    expect(answer.json()).toMatchObject({
      choices: [{ message: { content: SYSTEM_PROMPT }, finish_reason: 'stop' }],
    })
  })

  it.each(['batch', 'continuous-batch'])('loses no other prompt of a %s', async (kind) => {
    const { post } = createGuardedApp()
    const prompts = ['one', `two ${SERVICE_KEY}`, 'three']
    const { results } = (await post(`/v1/generate/${kind}`, { prompts })).json<{ results: unknown[] }>()
    expect(results).toMatchObject([
      { generated_text: 'one', finish_reason: 'stop' },
      { generated_text: 'two ', finish_reason: 'content_filter', completion_tokens: 4 },
      { generated_text: 'three', finish_reason: 'stop' },
    ])
  })

  it('takes out what terminals obey and counts it', async () => {
    const testApp = createGuardedApp()
    const answer = await testApp.post('/v1/generate', { prompt: 'a\u001b[2Jb\u0007\tc' })
    expect(answer.json()).toMatchObject({ generated_text: 'a[2Jb\tc', completion_tokens: 9 })
    expect(await hits(testApp)).toEqual([
      'sluice_guard_hits_total{guard="output",rule="terminal-controls"} 2',
    ])
  })

  it('can be switched off', async () => {
    const { post } = createTestApp({ outputGuard: null })
    expect((await post('/v1/generate', { prompt: SERVICE_KEY })).json()).toMatchObject({
      generated_text: SERVICE_KEY,
    })
  })
})
