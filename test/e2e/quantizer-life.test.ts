/** What becomes of a quantization when something ends in its middle; the quantizer's process is held to find the middle. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startHub } from '../support/checkpoints/hub-server.ts'
import {
  call,
  DEMO_MODEL,
  gone,
  KEY,
  logged,
  post,
  spawnServer,
  startDemoServer,
  temporaryFolder,
  type RunningServerProcess,
} from '../support/servers/server-process.ts'
import { until } from '../support/until.ts'

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/sluice.js')
const HOLD = path.resolve(import.meta.dirname, '../support/engines/held-quantizer.mjs')

let folder = ''
beforeEach(() => {
  folder = temporaryFolder()
  vi.stubEnv('HELD_QUANTIZER', path.join(folder, 'pid'))
  vi.stubEnv('NODE_OPTIONS', `--import ${pathToFileURL(HOLD).href}`)
})
afterEach(() => void vi.unstubAllEnvs())

const dataDir = () => path.join(folder, 'data')
const startServer = (...words: string[]) =>
  startDemoServer(['--data-dir', dataDir(), '--admin-key', 'the-admin', ...words])
const quantize = (server: RunningServerProcess, id = 'demo') =>
  call(server, `POST /v1/models/quantize?model_id=${id}&quant_mode=int8`, { secret: KEY })

/** Resolves, with its pid, when a quantizer stands still; rejects when there is an answer before. */
async function heldQuantizer(answer?: Promise<Response>): Promise<number> {
  const file = path.join(folder, 'pid')
  const answered: Response[] = []
  void answer?.then((response) => answered.push(response))
  await until('a quantizer stands still', async () => {
    if (answered[0] !== undefined) throw new Error(`nothing was held: ${await answered[0].text()}`)
    return existsSync(file)
  })
  const pid = Number(readFileSync(file, 'utf8'))
  rmSync(file)
  // It writes before it stops; continuing it in between would do nothing.
  await until('the quantizer is stopped', () => isStopped(pid))
  return pid
}
const isStopped = (pid: number) =>
  execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('T')

/** Files of the data folder that are not whole. */
const partialFiles = () =>
  readdirSync(path.join(dataDir(), 'models')).filter(
    (name) => !/^([0-9a-f]{64}\.(gguf|json)|hashes\.json)$/.test(name),
  )

/** The bundled model as `hf:acme/demo`. */
async function startDemoHub(): Promise<void> {
  const files = readdirSync(DEMO_MODEL).map((name) => [name, readFileSync(path.join(DEMO_MODEL, name))])
  const { endpoint } = await startHub(Object.fromEntries(files), { repo: 'acme/demo' })
  vi.stubEnv('HF_ENDPOINT', endpoint)
  vi.stubEnv('HF_HUB_CACHE', path.join(folder, 'hub'))
  vi.stubEnv('HF_TOKEN_PATH', path.join(folder, 'token'))
}

async function meta(server: RunningServerProcess): Promise<Record<string, unknown>> {
  const response = await call(server, 'GET /v1/models/demo', { secret: KEY })
  return ((await response.json()) as { meta: Record<string, unknown> }).meta
}

describe('a quantization', () => {
  it('whose process is killed is refused in a sentence, and the model serves on', async () => {
    const server = await startServer()
    const answer = quantize(server)
    process.kill(await heldQuantizer(), 'SIGKILL')
    const response = await answer
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      detail:
        "Model 'demo' could not be quantized: The process that quantized the model was ended by SIGKILL; the system does that when memory runs out.",
    })
    await logged(server, 'the process that quantizes has failed')
    expect(partialFiles()).toEqual([])
    expect(await meta(server)).toMatchObject({ state: 'ready', quantization: 'F16' })
    expect((await post(server, '/v1/generate', { body: { prompt: 'Once', max_new_tokens: 2 } })).status).toBe(
      200,
    )

    const again = quantize(server)
    process.kill(await heldQuantizer(), 'SIGCONT')
    expect((await again).status).toBe(200)
    expect(await meta(server)).toMatchObject({ quantization: 'Q8_0', failure: null })
  })

  it('whose process fails is refused in a sentence without what llama.cpp has said, which the log has', async () => {
    const server = await startServer()
    const answer = quantize(server)
    const pid = await heldQuantizer()
    process.kill(pid, 'SIGABRT')
    process.kill(pid, 'SIGCONT')
    expect(await (await answer).json()).toMatchObject({
      detail:
        "Model 'demo' could not be quantized: The process that quantized the model was ended by SIGABRT.",
    })
    await logged(server, 'the process that quantizes has failed', ({ lines }) => Array.isArray(lines))
  })

  it('goes on without the client that asked for it', async () => {
    const server = await startServer()
    const leaving = new AbortController()
    const answer = fetch(`${server.address}/v1/models/quantize?model_id=demo&quant_mode=int8`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      signal: leaving.signal,
    })
    const pid = await heldQuantizer()
    leaving.abort()
    await expect(answer).rejects.toThrow('abort')
    expect((await quantize(server)).status).toBe(409)
    process.kill(pid, 'SIGCONT')
    await until('the quantized model serves', async () => (await meta(server))['quantization'] === 'Q8_0')
  })

  it('of a model that is unregistered ends with it', async () => {
    const server = await startServer()
    const answer = quantize(server)
    const pid = await heldQuantizer()
    expect((await call(server, 'DELETE /v1/admin/models/demo', { secret: 'the-admin' })).status).toBe(200)
    expect((await answer).status).toBe(404)
    await gone(pid)
    expect(partialFiles()).toEqual([])
  })

  it('is done once for two models from one source', async () => {
    const server = await startServer()
    const body = { id: 'twin', checkpoint: DEMO_MODEL }
    expect((await call(server, 'POST /v1/admin/models', { secret: 'the-admin', body })).status).toBe(200)
    const answers = [quantize(server, 'demo'), quantize(server, 'twin')]
    process.kill(await heldQuantizer(), 'SIGCONT')
    const results = await Promise.all(answers.map(async (answer) => (await answer).json()))
    expect(results).toMatchObject([
      { model_id: 'demo', layers_quantized: 29, size_mb: 4.467_84 },
      { model_id: 'twin', layers_quantized: 29, size_mb: 4.467_84 },
    ])
    expect(server.stderr.filter((line) => line.includes('"quantized"'))).toHaveLength(1)
  })

  it('ends with the server that does it', async () => {
    const server = await startServer('--shutdown-timeout', '0')
    const answer = quantize(server)
    const pid = await heldQuantizer()
    server.child.kill('SIGTERM')
    expect((await answer).status).toBe(503)
    expect(await server.ended).toEqual({ code: 0, signal: null })
    await gone(pid)
    expect(partialFiles()).toEqual([])
  })

  it('whose client has left does not hold up the end of the server', async () => {
    const server = await startServer('--shutdown-timeout', '3600')
    const leaving = new AbortController()
    const answer = fetch(`${server.address}/v1/models/quantize?model_id=demo&quant_mode=int8`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      signal: leaving.signal,
    })
    const pid = await heldQuantizer()
    leaving.abort()
    await expect(answer).rejects.toThrow('abort')
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
    await gone(pid)
    expect(partialFiles()).toEqual([])
  })

  it('starts from the Hub again for a model that was registered from there', async () => {
    await startDemoHub()
    const server = await startServer()
    const body = { id: 'hub', checkpoint: 'hf:acme/demo' }
    expect((await call(server, 'POST /v1/admin/models', { secret: 'the-admin', body })).status).toBe(200)
    const answer = quantize(server, 'hub')
    process.kill(await heldQuantizer(answer), 'SIGCONT')
    expect(await (await answer).json()).toMatchObject({ model_id: 'hub', layers_quantized: 29 })
  })

  it('at the start of a server ends with it', async () => {
    const words = ['--checkpoint', DEMO_MODEL, '--quantization', 'int8', '--data-dir', dataDir()]
    const server = spawnServer(words)
    const pid = await heldQuantizer()
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
    await gone(pid)
    expect(partialFiles()).toEqual([])
  })

  it('does not outlive a server that is killed', async () => {
    const server = await startServer()
    quantize(server).catch(() => {})
    const pid = await heldQuantizer()
    server.child.kill('SIGKILL')
    await server.ended
    process.kill(pid, 'SIGCONT')
    await gone(pid)
  })
})

describe('sluice quantize', () => {
  function run(...words: string[]) {
    const child = spawn(process.execPath, [
      PROGRAM,
      'quantize',
      '--checkpoint',
      DEMO_MODEL,
      '--data-dir',
      dataDir(),
      ...words,
    ])
    return { child, ...follow(child) }
  }

  function follow(child: ChildProcessWithoutNullStreams) {
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (text: Buffer) => (stdout += text.toString()))
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { ended, stdout: () => stdout, stderr: () => stderr }
  }

  it('ends at Ctrl-C with 130 and leaves nothing half-done', async () => {
    const output = path.join(folder, 'out.gguf')
    const { child, ended, stderr } = run('--output', output)
    const pid = await heldQuantizer()
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    expect(stderr()).toBe('sluice: stopped; no quantized file was written.\n')
    await gone(pid)
    expect(partialFiles()).toEqual([])
    expect(existsSync(output)).toBe(false)
  })

  it('says that a file may not grow, where the disk is full the same way, and leaves nothing half-done', async () => {
    vi.unstubAllEnvs()
    const words = ['quantize', '--checkpoint', DEMO_MODEL, '--data-dir', dataDir()]
    const made = spawn(process.execPath, [PROGRAM, ...words, '--mode', 'fp8'])
    await new Promise((resolve) => made.once('close', resolve))
    const limited = ['-c', 'ulimit -f 4000; exec "$@"', 'sh', process.execPath, PROGRAM, ...words]
    const { ended, stderr } = follow(spawn('sh', [...limited, '--mode', 'int8']))
    expect(await ended).toBe(1)
    expect(stderr()).toMatch(
      /^sluice: Cannot write \S+: the file system does not take a file of this size\.\n$/,
    )
    expect(partialFiles()).toEqual([])
  })

  it('quantizes a model of the Hub', async () => {
    vi.unstubAllEnvs()
    await startDemoHub()
    const { ended, stdout, stderr } = run('--checkpoint', 'hf:acme/demo', '--mode', 'fp8')
    expect(await ended, stderr()).toBe(0)
    expect(stdout()).toMatch(/\.gguf: fp8, 29 matrices changed, 4\.47 MB\n$/)
  })

  it('refuses an output folder that is not there before any work', async () => {
    const output = path.join(folder, 'none/out.gguf')
    const { ended, stderr } = run('--output', output)
    expect(await ended).toBe(1)
    expect(stderr()).toBe(`sluice: Cannot write to the folder ${path.dirname(output)}: it does not exist.\n`)
    expect(existsSync(dataDir())).toBe(false)
  })
})
