/** Quantizing on the built program: under streaming clients, twice at once, at the start, beforehand, and refused. */
import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import {
  call,
  SMALL_LLAMA,
  KEY,
  logged,
  post,
  readStream,
  startDemoServer,
  startServer,
  temporaryFolder,
  type RunningServerProcess,
} from '../support/servers/server-process.ts'
import { lengthOf } from '../support/length-of.ts'
import { shared } from '../support/shared.ts'
import { writeTinyModel } from '../support/engines/llamacpp-tiny-model.ts'

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/sluice.js')
const CLIENTS = lengthOf({ test: 2, soak: 4 })
/** Of the modes that the small Llama is quantized in: with clients it takes several times the work. */
const STREAMED_MODES = lengthOf({ test: 1, soak: 3 })

interface Quantized {
  readonly model_id: string
  readonly layers_quantized: number
  readonly size_mb: number
}

const ADMIN_KEY = 'admin-key-of-this-test'

const quantize = (server: RunningServerProcess, mode: string, { secret = KEY, id = 'small-llama' } = {}) =>
  call(server, `POST /v1/models/quantize?model_id=${id}&quant_mode=${mode}`, { secret })

async function meta(server: RunningServerProcess): Promise<Record<string, unknown>> {
  const response = await call(server, 'GET /v1/models/small-llama', { secret: KEY })
  return ((await response.json()) as { meta: Record<string, unknown> }).meta
}

/** Runs the program to its end. */
async function runProgram(
  words: readonly string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const output = await promisify(execFile)(process.execPath, [PROGRAM, ...words])
    return { code: 0, ...output }
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string }
  }
}

describe('quantizing the small Llama', () => {
  const demoServer = shared(() => startDemoServer(['--admin-key', ADMIN_KEY]))

  it('fails no request of clients that stream meanwhile', async () => {
    const server = demoServer()
    const done = new AbortController()
    const streams = Array.from({ length: CLIENTS }, async (_, client) => {
      let ended = 0
      while (!done.signal.aborted || ended === 0) {
        const body = { prompt: `Client ${client}: once upon a time`, max_new_tokens: 40, do_sample: false }
        const response = await post(server, '/v1/generate/stream', { body })
        expect(response.status).toBe(200)
        const { error, finishReason } = await readStream(response)
        expect({ error, isEnd: finishReason !== null }).toEqual({ error: null, isEnd: true })
        ended++
      }
      return ended
    })
    const results: Quantized[] = []
    try {
      for (const mode of ['int8', 'int4', 'fp8']) {
        const response = await quantize(server, mode)
        expect(response.status).toBe(200)
        results.push((await response.json()) as Quantized)
        if (results.length === STREAMED_MODES) done.abort()
      }
    } finally {
      done.abort()
    }
    expect((await Promise.all(streams)).every((ended) => ended > 0)).toBe(true)
    expect(results).toMatchObject([
      { model_id: 'small-llama', layers_quantized: 29, size_mb: 4.467_84 },
      { model_id: 'small-llama', layers_quantized: 29, size_mb: 2.7588 },
      { model_id: 'small-llama', layers_quantized: 29, size_mb: 4.467_84 },
    ])
    expect(await meta(server)).toMatchObject({ quantization: 'fp8', size_mb: 4.467_84, state: 'ready' })
  })

  it('does one of two at once, and refuses the other', async () => {
    const server = demoServer()
    const checkpoint = path.join(temporaryFolder(), 'tiny.gguf')
    writeTinyModel(checkpoint)
    const body = { id: 'tiny', checkpoint }
    expect((await call(server, 'POST /v1/admin/models', { secret: ADMIN_KEY, body })).status).toBe(200)
    const answers = await Promise.all([1, 2].map(() => quantize(server, 'int8', { id: 'tiny' })))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.headers.get('x-error-code')).toBe('quantization_running')
    expect(refused?.headers.get('x-should-retry')).toBe('false')
  })

  it('logs its progress, goes back with none, and finds the weights in the cache the second time', async () => {
    const server = demoServer()
    expect((await quantize(server, 'int8')).status).toBe(200)
    await logged(server, 'quantized', ({ model, format }) => model === 'small-llama' && format === 'Q8_0')
    const back = await quantize(server, 'none')
    expect([back.status, await back.json()]).toEqual([
      200,
      { status: 'ok', model_id: 'small-llama', quant_mode: 'none', layers_quantized: 0, size_mb: 8.401_92 },
    ])
    expect(await meta(server)).toMatchObject({ quantization: 'F16', size_mb: 8.401_92, state: 'ready' })
    expect((await quantize(server, 'int8')).status).toBe(200)
    const lines = server.stderr.filter((line) => /"model":"small-llama".*"Q8_0".*"quantized"/.test(line))
    expect(lines).toHaveLength(1)
  })

  it('serves quantized weights from the start, which quantizing again makes from full precision, by the admin alone where that is asked for', async () => {
    const words = ['--quantization', 'int4', '--model-admin', 'admin', '--admin-key', ADMIN_KEY]
    const server = await startDemoServer(words)
    expect(await meta(server)).toMatchObject({ quantization: 'Q4_K_M', size_mb: 2.7588 })
    expect((await quantize(server, 'int8')).status).toBe(401)
    const response = await quantize(server, 'int8', { secret: ADMIN_KEY })
    expect(await response.json()).toMatchObject({ layers_quantized: 29, size_mb: 4.467_84 })
  })

  it('makes an account pause between its quantizations, and not the operator', async () => {
    const server = demoServer()
    const body = { email: 'stranger@example.org', password: 'correct horse battery' }
    const registered = await call(server, 'POST /v1/auth/register', { body })
    const { api_key: secret } = (await registered.json()) as { api_key: string }
    expect((await quantize(server, 'int4')).status).toBe(200)
    const refused = await quantize(server, 'fp8', { secret })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('x-error-code')).toBe('quantization_too_soon')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
    expect((await quantize(server, 'int4', { secret })).status).toBe(200)
    expect(await meta(server)).toMatchObject({ quantization: 'Q4_K_M' })
    expect((await quantize(server, 'int8')).status).toBe(200)
  })
})

/** The small Llama as the text half of a model that reads images. */
function writeImageModel(folder: string): void {
  cpSync(SMALL_LLAMA, folder, { recursive: true })
  const configPath = path.join(folder, 'config.json')
  const config = JSON.parse(readFileSync(configPath, 'utf8')) as object
  const whole = {
    architectures: ['Mistral3ForConditionalGeneration'],
    text_config: { ...config, model_type: 'mistral' },
  }
  writeFileSync(configPath, JSON.stringify(whole))
  const weightsPath = path.join(folder, 'model.safetensors')
  const weights = readFileSync(weightsPath)
  const dataAt = 8 + Number(weights.readBigUInt64LE())
  const data = weights.subarray(dataAt)
  const tensors = JSON.parse(weights.toString('utf8', 8, dataAt)) as object
  const ofImages = { dtype: 'F16', shape: [2], data_offsets: [data.length, data.length + 4] }
  const header = Buffer.from(JSON.stringify({ ...tensors, 'vision_tower.ln_pre.weight': ofImages }))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  writeFileSync(weightsPath, Buffer.concat([length, header, data, Buffer.alloc(4)]))
}

describe('sluice quantize', () => {
  it('writes a file that is served and not quantized again, and says what it leaves out of a model that reads images', async () => {
    const folder = temporaryFolder()
    const images = path.join(folder, 'images')
    writeImageModel(images)
    const output = path.join(folder, 'small.gguf')
    const words = ['quantize', '--checkpoint', images, '--data-dir', path.join(folder, 'data')]
    const made = await runProgram([...words, '--mode', 'int8', '--output', output])
    const leftOut = 'the model takes text only: tensors that read images are left out, 1 of vision_tower'
    expect(made).toEqual({
      code: 0,
      stdout: `${output}: Q8_0, 29 matrices changed, 4.47 MB\n`,
      stderr: `sluice: ${leftOut}\n`,
    })
    expect(statSync(output).size).toBeGreaterThan(4_467_840)
    expect(readdirSync(folder).toSorted()).toEqual(['data', 'images', 'small.gguf'])
    const again = await runProgram([...words, '--output', output])
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toBe(`sluice: ${output} exists already; --output must name a new file.\n`)

    const model = ['--checkpoint', output, '--model-id', 'small-llama', '--threads', '1']
    const server = await startServer([...model, '--admin-key', ADMIN_KEY])
    await logged(server, 'serving')
    const refused = await quantize(server, 'int4')
    expect(refused.status).toBe(400)
    expect(refused.headers.get('x-error-code')).toBe('not_quantizable')
    expect(await meta(server)).toMatchObject({ quantization: 'Q8_0', state: 'ready', failure: null })

    const body = { id: 'again', checkpoint: output, quantization: 'int4' }
    const registered = await call(server, 'POST /v1/admin/models', { secret: ADMIN_KEY, body })
    expect(registered.status).toBe(400)
    expect(await registered.text()).toContain('its weights are quantized already (Q8_0)')
  })
})
