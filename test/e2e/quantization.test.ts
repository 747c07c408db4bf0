/** Quantizing on the built program: under streaming clients, twice at once, at the start, beforehand, and refused. */
import { execFile } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import {
  call,
  DEMO_MODEL,
  KEY,
  logged,
  post,
  readStream,
  spawnServer,
  startDemoServer,
  startServer,
  temporaryFolder,
  type RunningServerProcess,
} from '../support/servers/server-process.ts'

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/sluice.js')
const CLIENTS = 4

interface Quantized {
  readonly model_id: string
  readonly layers_quantized: number
  readonly size_mb: number
}

const quantize = (server: RunningServerProcess, mode: string, secret = KEY) =>
  call(server, `POST /v1/models/quantize?model_id=demo&quant_mode=${mode}`, { secret })

async function meta(server: RunningServerProcess): Promise<Record<string, unknown>> {
  const response = await call(server, 'GET /v1/models/demo', { secret: KEY })
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

describe('quantizing the bundled model', () => {
  it('fails no request of clients that stream meanwhile', async () => {
    const server = await startDemoServer()
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
      }
    } finally {
      done.abort()
    }
    expect((await Promise.all(streams)).every((ended) => ended > 0)).toBe(true)
    expect(results).toMatchObject([
      { model_id: 'demo', layers_quantized: 29, size_mb: 4.467_84 },
      { model_id: 'demo', layers_quantized: 29, size_mb: 2.7588 },
      { model_id: 'demo', layers_quantized: 29, size_mb: 4.467_84 },
    ])
    expect(await meta(server)).toMatchObject({ quantization: 'fp8', size_mb: 4.467_84, state: 'ready' })
  })

  it('does one of two at once, and refuses the other', async () => {
    const server = await startDemoServer()
    const answers = await Promise.all([quantize(server, 'int8'), quantize(server, 'int8')])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.headers.get('x-error-code')).toBe('quantization_running')
    expect(refused?.headers.get('x-should-retry')).toBe('false')
  })

  it('logs its progress, and finds the weights in the cache the second time', async () => {
    const server = await startDemoServer()
    expect((await quantize(server, 'int8')).status).toBe(200)
    await logged(server, 'quantized', ({ format }) => format === 'Q8_0')
    expect((await quantize(server, 'int8')).status).toBe(200)
    const lines = server.stderr.filter((line) => line.includes('"quantized"'))
    expect(lines).toHaveLength(1)
  })

  it('serves quantized weights from the start, which quantizing again makes from full precision', async () => {
    const server = await startDemoServer(['--quantization', 'int4'])
    expect(await meta(server)).toMatchObject({ quantization: 'Q4_K_M', size_mb: 2.7588 })
    const response = await quantize(server, 'int8')
    expect(await response.json()).toMatchObject({ layers_quantized: 29, size_mb: 4.467_84 })
  })

  it('lets only the admin quantize with --model-admin admin', async () => {
    const server = await startDemoServer(['--model-admin', 'admin', '--admin-key', 'the-admin'])
    expect((await quantize(server, 'int8')).status).toBe(401)
    expect((await quantize(server, 'int8', 'the-admin')).status).toBe(200)
  })
})

describe('sluice quantize', () => {
  it('writes a file that is served and not quantized again', async () => {
    const folder = temporaryFolder()
    const output = path.join(folder, 'small.gguf')
    const words = ['quantize', '--checkpoint', DEMO_MODEL, '--data-dir', path.join(folder, 'data')]
    const made = await runProgram([...words, '--mode', 'int8', '--output', output])
    expect(made).toEqual({ code: 0, stdout: `${output}: Q8_0, 29 matrices changed, 4.47 MB\n`, stderr: '' })
    expect(statSync(output).size).toBeGreaterThan(4_467_840)
    expect(readdirSync(folder).toSorted()).toEqual(['data', 'small.gguf'])
    const again = await runProgram([...words, '--output', output])
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toBe(`sluice: ${output} exists already; --output must name a new file.\n`)

    const server = await startServer(['--checkpoint', output, '--model-id', 'demo', '--threads', '1'])
    await logged(server, 'serving')
    const refused = await quantize(server, 'int4')
    expect(refused.status).toBe(400)
    expect(refused.headers.get('x-error-code')).toBe('not_quantizable')
    expect(await meta(server)).toMatchObject({ quantization: 'Q8_0', state: 'ready', failure: null })

    const unstarted = spawnServer(['--checkpoint', output, '--quantization', 'int4'])
    expect(await unstarted.ended).toMatchObject({ code: 1 })
    expect(unstarted.stderr.join('\n')).toContain('its weights are quantized already (Q8_0)')
  })

  it('needs a checkpoint', async () => {
    expect(await runProgram(['quantize'])).toMatchObject({
      code: 2,
      stderr: 'sluice: --checkpoint must name what to quantize.\n',
    })
  })
})
