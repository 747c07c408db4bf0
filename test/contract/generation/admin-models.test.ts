/** `/v1/admin/models`: what it takes, what it answers, and who may ask. */
import { describe, expect, it } from 'vitest'
import { StartError } from '../../../src/core/errors.ts'
import type { OpenEngine } from '../../../src/models/registry.ts'
import type { Engine } from '../../../src/protocol/engine.ts'
import type { ModelOutline } from '../../../src/protocol/model-info.ts'
import type { CheckCheckpoint, CheckpointReport } from '../../../src/protocol/checkpoint-report.ts'
import { sayOk, ScriptedEngine } from '../../support/engines/scripted-engine.ts'
import { ADMIN_KEY, createTestApp, KEY } from '../../support/servers/test-app.ts'

const MODELS = '/v1/admin/models'
const OUTLINE: ModelOutline = {
  architecture: 'llama',
  parameters: 10,
  sizeBytes: 20_000_000,
  quantization: 'F16',
  maxSeqLen: 64,
  vocabSize: 5,
  engine: 'llama.cpp',
}

const succeed: OpenEngine = () => Promise.resolve(new ScriptedEngine(sayOk))
const fail: OpenEngine = () => Promise.reject(new StartError("'x.gguf' is damaged.", 1))

/** A load that a test finishes by hand, after its headers have been read. */
function createSlowLoad() {
  let finish: (engine: Engine) => void = () => {}
  const openEngine: OpenEngine = (_id, _source, { onOutline, onProgress }) => {
    onOutline(OUTLINE)
    onProgress(0.5)
    return new Promise((resolve) => {
      finish = resolve
    })
  }
  return { openEngine, finish: () => finish(new ScriptedEngine(sayOk)) }
}

function createAdminApp(openEngine: OpenEngine) {
  const { app, call, logLines } = createTestApp({ openEngine })
  const headers = { authorization: `Bearer ${ADMIN_KEY}` }
  return {
    app,
    call,
    logLines,
    register: (payload: object, query = '') =>
      call({ method: 'POST', url: MODELS + query, headers, payload }),
    act: (id: string, action: string) => call({ method: 'POST', url: `${MODELS}/${id}/${action}`, headers }),
    unregister: (id: string) => call({ method: 'DELETE', url: `${MODELS}/${id}`, headers }),
    listIds: async () =>
      (await call('/v1/models')).json<{ data: { id: string }[] }>().data.map(({ id }) => id),
  }
}

describe('POST /v1/admin/models', () => {
  it.each(['..', '.', 'a/../b'])('refuses the id %j, which no path could name', async (id) => {
    const { register } = createAdminApp(succeed)
    const answer = await register({ id, checkpoint: 'x.gguf' })
    expect(answer.json().detail).toMatch(/^id must be an id without '\.' or '\.\.' between slashes, but was/)
  })

  it('answers the model once it serves, with everything it was given', async () => {
    const seen: unknown[] = []
    const { register, call } = createAdminApp((id, source, hooks) => {
      seen.push([id, source])
      return succeed(id, source, hooks)
    })

    const answer = await register({
      id: 'org/m',
      checkpoint: 'm',
      model_config: 'c.json',
      tokenizer: 't.json',
      quantization: 'int8',
      draft_checkpoint: 'd.gguf',
      tool_format: 'llama',
    })

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toMatchObject({ id: 'org/m', object: 'model', meta: { state: 'ready' } })
    expect(answer.json()).toEqual((await call('/v1/models/org/m')).json())
    const source = {
      kind: 'local',
      checkpoint: 'm',
      modelConfig: 'c.json',
      tokenizer: 't.json',
      quantization: 'int8',
      draftCheckpoint: 'd.gguf',
      toolFormat: 'llama',
    }
    expect(seen).toEqual([['org/m', source]])
  })

  it('with wait=false answers at once; the list then shows how far it is and the numbers of the headers', async () => {
    const load = createSlowLoad()
    const { register, call } = createAdminApp(load.openEngine)

    const answer = await register({ id: 'm', checkpoint: 'm' }, '?wait=false')

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toMatchObject({ id: 'm', meta: { state: 'loading' } })
    expect((await call('/v1/models/m')).json().meta).toEqual({
      architecture: 'llama',
      parameters: 10,
      size_mb: 20,
      quantization: 'F16',
      max_seq_len: 64,
      vocab_size: 5,
      engine: 'llama.cpp',
      capabilities: ['generate', 'chat'],
      state: 'loading',
      load_progress: 0.5,
      pinned: false,
      last_used: null,
      failure: null,
    })
    load.finish()
    await new Promise((resolve) => setImmediate(resolve))
    expect((await call('/v1/models/m')).json().meta).toMatchObject({ state: 'ready', load_progress: 1 })
  })

  it('is 400 and says why when the model cannot be served, and leaves everything as it was', async () => {
    const { register, listIds } = createAdminApp(fail)

    const answer = await register({ id: 'm', checkpoint: 'x.gguf' })

    expect(answer.statusCode).toBe(400)
    expect(answer.headers['x-error-code']).toBe('model_not_loadable')
    expect(answer.json()).toEqual({ detail: "Model 'm' was not registered: 'x.gguf' is damaged." })
    expect(await listIds()).toEqual(['default'])
  })

  it('with wait=false keeps a model that failed, with the reason, until it is unregistered', async () => {
    const { register, unregister, call, listIds } = createAdminApp(fail)

    await register({ id: 'm', checkpoint: 'x.gguf' }, '?wait=false')
    await new Promise((resolve) => setImmediate(resolve))

    expect((await call('/v1/models/m')).json().meta).toMatchObject({
      state: 'failed',
      failure: "'x.gguf' is damaged.",
    })
    expect((await unregister('m')).statusCode).toBe(200)
    expect(await listIds()).toEqual([])
  })

  it('tells users which file it was but not where it lies, and the admin all of it', async () => {
    const failAt: OpenEngine = () => Promise.reject(new StartError('/srv/models/x.gguf is damaged.', 1))
    const { register, call } = createAdminApp(failAt)
    const body = { id: 'm', checkpoint: '/srv/models/x.gguf' }
    expect((await register(body)).json().detail).toMatch(/: \/srv\/models\/x\.gguf is damaged\.$/)

    await register(body, '?wait=false')
    await new Promise((resolve) => setImmediate(resolve))

    expect((await call('/v1/models/m')).json().meta.failure).toBe('x.gguf is damaged.')
    const refused = await call({
      method: 'POST',
      url: '/v1/generate',
      payload: { prompt: 'a', model: 'm' },
    })
    expect(refused.statusCode).toBe(503)
    expect(refused.json().detail).toBe("Model 'm' could not be loaded: x.gguf is damaged.")
  })

  it('leaves a line in the log for what was registered and what was unregistered', async () => {
    const { register, unregister, logLines } = createAdminApp(succeed)
    await register({ id: 'm', checkpoint: '/srv/x.gguf', quantization: 'int8' })
    await unregister('m')
    await new Promise((resolve) => setImmediate(resolve))
    expect(logLines).toContainEqual(
      expect.objectContaining({
        level: 'info',
        msg: 'a model was registered',
        model: 'm',
        checkpoint: '/srv/x.gguf',
        quantization: 'int8',
      }),
    )
    expect(logLines).toContainEqual(
      expect.objectContaining({ level: 'info', msg: 'a model was unregistered', model: 'm' }),
    )
  })

  it('takes default for the default model', async () => {
    const { register, listIds } = createAdminApp(succeed)
    await register({ id: 'm', checkpoint: 'a' })

    const answer = await register({ id: 'default', checkpoint: 'b' })

    expect(answer.json()).toMatchObject({ id: 'm' })
    expect(await listIds()).toEqual(['m'])
  })

  it.each([
    [{}, 'id is required.'],
    [{ id: 'm' }, 'checkpoint is required.'],
    [
      { id: 'a b', checkpoint: 'm' },
      'id must be a string of 1 to 200 characters without spaces, but was "a b".',
    ],
    [{ id: 'm', checkpoint: '' }, 'checkpoint must be a path of 1 to 4096 characters, but was "".'],
    [
      { id: 'm', checkpoint: 'a'.repeat(4097) },
      `checkpoint must be a path of 1 to 4096 characters, but was "${'a'.repeat(64)}…".`,
    ],
    [{ id: 'm', checkpoint: 5 }, 'checkpoint must be a path of 1 to 4096 characters, but was 5.'],
    [
      { id: 'm', checkpoint: 'm', tokenizer: '' },
      'tokenizer must be a path of 1 to 4096 characters, but was "".',
    ],
    [
      { id: 'm', checkpoint: 'm', model_config: true },
      'model_config must be a path of 1 to 4096 characters, but was true.',
    ],
    [
      { id: 'm', checkpoint: 'm', quantization: 'int5' },
      'quantization must be one of none, int4, int8, fp8, but was "int5".',
    ],
  ])('%j is 400', async (body, detail) => {
    const { register } = createAdminApp(succeed)
    const answer = await register(body)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({ detail })
  })

  it('takes null for what is not given, and only true or false for wait', async () => {
    const { register } = createAdminApp(succeed)
    const body = { id: 'm', checkpoint: 'm', model_config: null, tokenizer: null, quantization: null }
    expect((await register(body)).statusCode).toBe(200)
    const answer = await register(body, '?wait=no')
    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toBe('wait must be one of true, false, but was "no".')
  })
})

describe('POST /v1/admin/models/check', () => {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` }
  const REPORT: CheckpointReport = {
    architecture: 'llama',
    parameters: 10,
    quantization: 'F16',
    sizeBytes: 20,
    downloadBytes: 5,
    maxSeqLen: 64,
    kvCacheBytes: 7,
    kvCacheTokens: 512,
    kvCache: '512 tokens shared by 8 sequences of up to 64',
    neededBytes: 27,
    availableBytes: 100,
    placement: null,
    problem: null,
  }
  const check = async (checkCheckpoint: CheckCheckpoint, payload: object, openEngine = succeed) => {
    const { call } = createTestApp({ checkCheckpoint, openEngine })
    return call({ method: 'POST', url: `${MODELS}/check`, headers, payload })
  }

  it('answers what a load would need, beside the models that serve, and registers nothing', async () => {
    const seen: unknown[] = []
    const { call } = createTestApp({
      openEngine: succeed,
      checkCheckpoint: async (...given) => {
        seen.push(given)
        return REPORT
      },
    })
    const payload = { checkpoint: 'hf:a/b', quantization: 'int8', model_config: 'c.json' }
    const answer = await call({ method: 'POST', url: `${MODELS}/check`, headers, payload })

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      architecture: 'llama',
      parameters: 10,
      quantization: 'F16',
      size_bytes: 20,
      download_bytes: 5,
      max_seq_len: 64,
      kv_cache_bytes: 7,
      kv_cache_tokens: 512,
      needed_bytes: 27,
      available_bytes: 100,
      gpu: null,
      fits: true,
      problem: null,
    })
    const source = {
      checkpoint: 'hf:a/b',
      modelConfig: 'c.json',
      tokenizer: null,
      quantization: 'int8',
      draftCheckpoint: null,
    }
    expect(seen).toEqual([[source, 0]])
    expect((await call('/v1/models')).json().data).toHaveLength(1)
  })

  it('says why it does not fit, and what would be on GPUs', async () => {
    const problem = "'m' needs 200 MB of memory."
    const small = await check(async () => ({ ...REPORT, problem }), { checkpoint: 'm' })
    expect(small.json()).toMatchObject({ fits: false, problem })
    const gpu = { name: 'CUDA0', description: 'a GPU', sharesMemory: false, totalBytes: 9e6, freeBytes: 8e6 }
    const devices = [{ ...gpu, layers: 2, weightBytes: 1e6, kvCacheBytes: 5e5 }]
    const placement = { layers: 2, allLayers: 5, devices }
    const parted = await check(async () => ({ ...REPORT, placement }), { checkpoint: 'm' })
    const device = { name: 'CUDA0', description: 'a GPU', layers: 2 }
    expect(parted.json().gpu).toEqual({
      ...{ layers: 2, layers_total: 5 },
      devices: [{ ...device, weights_mb: 1, kv_cache_mb: 0.5, free_mb: 8, total_mb: 9 }],
    })
  })

  it('is 400 with the sentence of a load that would fail, and for anyone else 401', async () => {
    const refused = await check(() => Promise.reject(new StartError("'x.gguf' is damaged.")), {
      checkpoint: 'x.gguf',
    })
    expect(refused.statusCode).toBe(400)
    expect(refused.headers['x-error-code']).toBe('checkpoint_not_servable')
    expect(refused.json()).toEqual({ detail: "The checkpoint cannot be served: 'x.gguf' is damaged." })
    const { call } = createTestApp({ openEngine: succeed })
    const stranger = await call({
      method: 'POST',
      url: `${MODELS}/check`,
      payload: { checkpoint: '/etc/passwd' },
    })
    expect(stranger.statusCode).toBe(401)
  })

  it.each([
    [{}, 'checkpoint is required.'],
    [
      { checkpoint: 'm', quantization: 'int5' },
      'quantization must be one of none, int4, int8, fp8, but was "int5".',
    ],
  ])('%j is 400', async (body, detail) => {
    const answer = await check(async () => REPORT, body)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({ detail })
  })
})

describe('DELETE /v1/admin/models/{id}', () => {
  it.each(['org/m', 'org%2Fm', 'default'])('unregisters %s', async (id) => {
    const { register, unregister, listIds } = createAdminApp(succeed)
    await register({ id: 'org/m', checkpoint: 'm' })

    const answer = await unregister(id)

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ status: 'unregistered', id: 'org/m' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(await listIds()).toEqual([])
  })

  it('answers 503 to every generation once nothing is left, and echoes none', async () => {
    const { register, unregister, call } = createAdminApp(succeed)
    await register({ id: 'm', checkpoint: 'm' })
    await unregister('m')
    const chat = { messages: [{ role: 'user', content: 'Who are you?' }] }
    const requests: readonly (readonly [string, object])[] = [
      ['/v1/generate', { prompt: 'a' }],
      ['/v1/generate', { prompt: 'a', model: 'm' }],
      ['/v1/generate/stream', { prompt: 'a' }],
      ['/v1/generate/batch', { prompts: ['a'] }],
      ['/v1/generate/continuous-batch', { prompts: ['a'] }],
      ['/v1/chat/completions', chat],
      ['/v1/chat/completions', { ...chat, stream: true }],
    ]
    for (const [url, payload] of requests) {
      const answer = await call({ method: 'POST', url, payload })
      expect([url, answer.statusCode]).toEqual([url, 503])
      expect(answer.headers).toMatchObject({ 'x-error-code': 'no_model', 'retry-after': '10' })
      expect(answer.json().detail).toContain('Register one with POST /v1/admin/models')
    }
    expect((await call('/v1/models/default')).statusCode).toBe(404)
    expect((await call({ method: 'POST', url: '/v1/models/quantize?model_id=m' })).statusCode).toBe(404)
    expect((await call('/v1/health')).json()).toMatchObject({ status: 'ok', models_loaded: 0 })
  })

  it.each(['nope', 'default', ''])('is 404 for %j, which is not registered', async (id) => {
    const { unregister } = createAdminApp(succeed)
    const answer = await unregister(id)
    expect(answer.statusCode).toBe(404)
    expect(answer.headers['x-error-code']).toBe('model_not_found')
  })
})

describe('the admin API of models', () => {
  it.each([
    ['POST', MODELS],
    ['DELETE', `${MODELS}/default`],
    ['DELETE', `${MODELS}/org%2Fm`],
  ] as const)('%s %s is closed to keys and strangers', async (method, url) => {
    const { app } = createAdminApp(succeed)
    for (const secret of [KEY, '', `${ADMIN_KEY}2`]) {
      const headers = { authorization: `Bearer ${secret}` }
      const payload = { id: 'm', checkpoint: 'm' }
      const answer = await app.inject({ method, url, headers, payload })
      expect(answer.statusCode).toBe(401)
    }
  })
})

describe('POST /v1/admin/models/{id}/unload and /load', () => {
  it('closes the engine of a model and opens another; the model stays in the list', async () => {
    const { register, act, call, listIds } = createAdminApp(succeed)
    await register({ id: 'org/m', checkpoint: 'm', pinned: true })

    const unloaded = await act('org/m', 'unload')

    expect([unloaded.statusCode, unloaded.json()]).toMatchObject([
      200,
      { id: 'org/m', meta: { state: 'unloaded', load_progress: 0, pinned: true, engine: 'llama.cpp' } },
    ])
    expect([await listIds(), (await call('/v1/ready')).statusCode]).toEqual([['org/m'], 200])
    expect((await call('/v1/health')).json()).toMatchObject({ models_loaded: 0 })
    expect((await act('default', 'load')).json()).toMatchObject({ id: 'org/m', meta: { state: 'ready' } })
  })

  it('is loaded by a request, with the answer of any other', async () => {
    const { register, call } = createAdminApp(succeed)
    const registered = await register({ id: 'm', checkpoint: 'm', load: 'request' })
    expect(registered.json()).toMatchObject({ meta: { state: 'unloaded', last_used: null } })

    const answer = await call({ method: 'POST', url: '/v1/generate', payload: { prompt: 'x' } })

    expect(answer.statusCode).toBe(200)
    expect((await call('/v1/models/m')).json()).toMatchObject({
      meta: { state: 'ready', last_used: expect.any(Number) },
    })
  })

  it('says what is wrong with the model or the path', async () => {
    let isDamaged = false
    const openEngine: OpenEngine = (...load) => (isDamaged ? fail : succeed)(...load)
    const { register, act } = createAdminApp(openEngine)
    await register({ id: 'm', checkpoint: 'm' })
    const upstream = { id: 'r', engine: 'openai', endpoints: ['http://127.0.0.1:1/v1'] }
    await register(upstream)
    await act('m', 'unload')
    isDamaged = true

    const answers = [
      await act('m', 'load'),
      await act('x', 'load'),
      await act('r', 'unload'),
      await act('m', 'go'),
    ]

    expect(answers.map(({ statusCode, headers }) => [statusCode, headers['x-error-code']])).toEqual([
      [400, 'model_not_loadable'],
      [404, 'model_not_found'],
      [400, 'unsupported_value'],
      [400, 'invalid_request'],
    ])
    expect(answers[0]?.json().detail).toContain("'x.gguf' is damaged.")
  })

  it.each([
    [{ load: 'never' }, 'load must be one of start, request, but was "never".'],
    [{ pinned: 'yes' }, 'pinned must be true or false, but was "yes".'],
  ])('are prepared by fields that are checked: %j', async (fields, detail) => {
    const { register } = createAdminApp(succeed)
    const answer = await register({ id: 'm', checkpoint: 'm', ...fields })
    expect([answer.statusCode, answer.json().detail]).toEqual([400, detail])
  })
})
