/** `POST /v1/models/quantize`: who may, what it takes, what each refusal is. */
import { describe, expect, it } from 'vitest'
import { ServiceError, StartError } from '../../../src/core/errors.ts'
import type { OpenEngine } from '../../../src/models/registry.ts'
import { sayOk, ScriptedEngine } from '../../support/engines/scripted-engine.ts'
import {
  ADMIN_KEY,
  createRegistry,
  createTestApp,
  createTierAuthenticator,
  KEY,
  type TestAppOptions,
} from '../../support/servers/test-app.ts'

const URL = '/v1/models/quantize?model_id=default'

/** Calls without a body, as a client of a route that takes only a query does. */
function quantize(url: string, options: TestAppOptions & { secret?: string } = {}) {
  const { secret = KEY, ...rest } = options
  return createTestApp(rest).call({ method: 'POST', url, headers: { authorization: `Bearer ${secret}` } })
}

describe('POST /v1/models/quantize', () => {
  it.each(['int4', 'int8', 'fp8', 'none'])('answers 0 and 0 for the passthrough model: %s', async (mode) => {
    const answer = await quantize(`${URL}&quant_mode=${mode}`)
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      status: 'ok',
      model_id: 'default',
      quant_mode: mode,
      layers_quantized: 0,
      size_mb: 0,
    })
  })

  it('takes int4 without a quant_mode, and ignores a body', async () => {
    const { call } = createTestApp()
    const answer = await call({ method: 'POST', url: URL, payload: { quant_mode: 'int8', model_id: 'nope' } })
    expect(answer.json()).toMatchObject({ model_id: 'default', quant_mode: 'int4' })
  })

  it('shows size_mb in 10^6 bytes', async () => {
    const result = { modelId: 'm', mode: 'int8', layersQuantized: 29, sizeBytes: 4_467_840 } as const
    const answer = await quantize(URL, { quantizeJobs: { quantize: async () => result } })
    expect(answer.json()).toMatchObject({ model_id: 'm', layers_quantized: 29, size_mb: 4.467_84 })
  })

  it.each([
    [
      'an unknown mode',
      `${URL}&quant_mode=int5`,
      'quant_mode must be one of none, int4, int8, fp8, but was "int5".',
    ],
    ['an empty mode', `${URL}&quant_mode=`, 'quant_mode must be one of none, int4, int8, fp8, but was "".'],
    ['no model', '/v1/models/quantize', 'model_id is required.'],
    ['an empty model', '/v1/models/quantize?model_id=', 'model_id must be the id of a model, but was "".'],
  ])('answers 400 to %s', async (_, url, detail) => {
    const answer = await quantize(url)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ detail, error: { message: detail } })
  })

  it('answers 404 to an unknown model', async () => {
    const answer = await quantize('/v1/models/quantize?model_id=a%2Fb')
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({
      detail: "Model 'a/b' does not exist.",
      error: { code: 'model_not_found', param: 'model_id' },
    })
  })

  it('logs why it failed, with all the details that the client does not get', async () => {
    const cause = new StartError('Cannot write /srv/data/m.gguf: the disk is full.', 1)
    const refuse = () =>
      Promise.reject(
        new ServiceError('quantization_failed', { model: 'm', message: cause.message }, { cause }),
      )
    const { call, logLines } = createTestApp({ quantizeJobs: { quantize: refuse } })
    const answer = await call({ method: 'POST', url: `${URL}&quant_mode=int8` })
    expect(answer.json().detail).toBe(
      "Model 'm' could not be quantized: Cannot write m.gguf: the disk is full.",
    )
    expect(logLines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        msg: 'a model was not quantized',
        model: 'default',
        mode: 'int8',
        err: expect.objectContaining({ message: cause.message }),
      }),
    )
  })

  it.each([
    ['quantization_running', { model: 'm' }, 409],
    ['not_quantizable', { model: 'm', type: 'Q4_0' }, 400],
    ['quantization_failed', { model: 'm', message: 'the disk is full.' }, 400],
    ['quantization_too_soon', { model: 'm', pauseSeconds: 60, seconds: 9 }, 429],
  ] as const)('answers what the job refuses: %s', async (code, params, status) => {
    const refuse = () => Promise.reject(new ServiceError(code, params))
    const answer = await quantize(URL, { quantizeJobs: { quantize: refuse } })
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['x-error-code']).toBe(code)
    expect(answer.headers['x-should-retry']).toBe(status === 409 ? 'false' : undefined)
  })

  it('keeps the folders of the server to its log, in the answer and in the list', async () => {
    const openEngine: OpenEngine = async (_id, source) => {
      if (source.kind === 'local' && source.quantization === 'int8')
        throw new StartError("Cannot write '/srv/Jo Doe/m.gguf': no room.", 1)
      return new ScriptedEngine(sayOk)
    }
    const registry = createRegistry({ openEngine })
    await registry.register('m', { checkpoint: 'm', modelConfig: null, tokenizer: null })
    const { call, logLines } = createTestApp({ registry })
    const answer = await call({ method: 'POST', url: '/v1/models/quantize?model_id=default&quant_mode=int8' })
    expect(answer.json()).toMatchObject({
      detail: "Model 'm' could not be quantized: Cannot write 'm.gguf': no room.",
    })
    expect((await call('/v1/models/m')).json().meta.failure).toBe("Cannot write 'm.gguf': no room.")
    const line = logLines.find(({ msg }) => msg === 'a model was not quantized')
    expect(line).toMatchObject({ err: { message: "Cannot write '/srv/Jo Doe/m.gguf': no room." } })
  })

  it.each([
    ['the operator', undefined, true],
    ['an account', createTierAuthenticator('enterprise'), false],
  ] as const)('asks as %s', async (_, authenticator, isOperator) => {
    const asked: unknown[] = []
    const quantizeJobs: TestAppOptions['quantizeJobs'] = {
      quantize: async (modelId, mode, options) => {
        asked.push(options)
        return { modelId, mode, layersQuantized: 0, sizeBytes: 0 }
      },
    }
    await quantize(URL, { quantizeJobs, ...(authenticator && { authenticator }) })
    expect(asked).toEqual([{ isOperator }])
  })

  it('answers 401 without a key', async () => {
    expect((await quantize(URL, { secret: 'wrong' })).statusCode).toBe(401)
  })

  it('needs the admin key with --model-admin admin', async () => {
    expect((await quantize(URL, { modelAdmin: 'admin' })).statusCode).toBe(401)
    expect((await quantize(URL, { modelAdmin: 'admin', secret: ADMIN_KEY })).statusCode).toBe(200)
  })

  it('says how to enable it with --model-admin admin and no admin key', async () => {
    const answer = await quantize(URL, { modelAdmin: 'admin', adminCheck: null })
    expect(answer.statusCode).toBe(401)
    expect(answer.json().detail).toContain('--admin-key')
  })
})
