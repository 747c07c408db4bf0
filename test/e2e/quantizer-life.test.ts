/** What becomes of a quantization when something ends in its middle; the quantizer's process is held to find the middle. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { startHub } from '../support/checkpoints/hub-server.ts'
import {
  call,
  SMALL_LLAMA,
  gone,
  KEY,
  logged,
  post,
  spawnServer,
  startServer,
  temporaryFolder,
  type RunningServerProcess,
} from '../support/servers/server-process.ts'
import { shared, whenUnused } from '../support/shared.ts'
import { until } from '../support/until.ts'
import { writeTinyModel } from '../support/engines/llamacpp-tiny-model.ts'

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/sluice.js')
const ADMIN_KEY = 'admin-key-of-this-test'
const HOLD = path.resolve(import.meta.dirname, '../support/engines/held-quantizer.mjs')

/** What the tiny model becomes: 16 matrices in int8. */
const TINY_INT8 = { layers_quantized: 16, size_mb: 0.115_52 }

/** A folder of its own for what is made meanwhile; every process that is started holds its quantizer there. */
interface Place {
  readonly folder: string
  readonly model: string
  readonly dataDir: string
}

function createPlace(): Place {
  const folder = temporaryFolder()
  const model = path.join(folder, 'tiny.gguf')
  writeTinyModel(model)
  vi.stubEnv('HELD_QUANTIZER', path.join(folder, 'pid'))
  vi.stubEnv('NODE_OPTIONS', `--import ${pathToFileURL(HOLD).href}`)
  whenUnused(() => void vi.unstubAllEnvs())
  return { folder, model, dataDir: path.join(folder, 'data') }
}

const quantize = (server: RunningServerProcess, id: string) =>
  call(server, `POST /v1/models/quantize?model_id=${id}&quant_mode=int8`, { secret: KEY })

/** Resolves, with its pid, when a quantizer stands still; rejects when there is an answer before. */
async function heldQuantizer({ folder }: Place, answer?: Promise<Response>): Promise<number> {
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
const partialFiles = ({ dataDir }: Place) =>
  readdirSync(path.join(dataDir, 'models')).filter(
    (name) => !/^([0-9a-f]{64}\.(gguf|json)|hashes\.json)$/.test(name),
  )

/** The small Llama as `hf:acme/demo`. */
async function startDemoHub({ folder }: Place): Promise<void> {
  const files = readdirSync(SMALL_LLAMA).map((name) => [name, readFileSync(path.join(SMALL_LLAMA, name))])
  const { endpoint } = await startHub(Object.fromEntries(files), { repo: 'acme/demo' })
  vi.stubEnv('HF_ENDPOINT', endpoint)
  vi.stubEnv('HF_HUB_CACHE', path.join(folder, 'hub'))
  vi.stubEnv('HF_TOKEN_PATH', path.join(folder, 'token'))
}

async function meta(server: RunningServerProcess, id: string): Promise<Record<string, unknown>> {
  const response = await call(server, `GET /v1/models/${id}`, { secret: KEY })
  return ((await response.json()) as { meta: Record<string, unknown> }).meta
}

async function register(server: RunningServerProcess, id: string, checkpoint: string): Promise<void> {
  const body = { id, checkpoint }
  const answer = await call(server, 'POST /v1/admin/models', { secret: ADMIN_KEY, body })
  expect(answer.status, await answer.clone().text()).toBe(200)
}

/** Begins a quantization for a client that leaves when it stands still; resolves with the quantizer's pid. */
async function quantizeAndLeave(place: Place, server: RunningServerProcess, id: string): Promise<number> {
  const leaving = new AbortController()
  const answer = fetch(`${server.address}/v1/models/quantize?model_id=${id}&quant_mode=int8`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    signal: leaving.signal,
  })
  const pid = await heldQuantizer(place)
  leaving.abort()
  await expect(answer).rejects.toThrow('abort')
  return pid
}

describe('the model of the start, while it is quantized', () => {
  it('may be unregistered: the server stays, with no model and no echo', async () => {
    const place = createPlace()
    const words = ['--checkpoint', place.model, '--quantization', 'int8', '--data-dir', place.dataDir]
    const server = await startServer([...words, '--admin-key', ADMIN_KEY])
    const pid = await heldQuantizer(place)

    expect((await call(server, 'DELETE /v1/admin/models/default', { secret: ADMIN_KEY })).status).toBe(200)
    await gone(pid)
    await logged(server, 'a model was unregistered')

    const body = { prompt: 'Once', max_new_tokens: 2 }
    for (const answer of [
      await call(server, 'GET /v1/ready'),
      await post(server, '/v1/generate', { body }),
    ]) {
      expect(answer.status).toBe(503)
      expect(answer.headers.get('x-error-code')).toBe('no_model')
    }
    expect((await call(server, 'GET /v1/health')).status).toBe(200)
  })
})

describe('a quantization on a server that goes on', () => {
  const scene = shared(async () => {
    const place = createPlace()
    await startDemoHub(place)
    return { place, server: await startServer(['--data-dir', place.dataDir, '--admin-key', ADMIN_KEY]) }
  })

  /** Registers a model with weights of its own, which no test before has quantized. */
  async function registerTiny(id: string, alphabet: string): Promise<string> {
    const { place, server } = scene()
    const model = path.join(place.folder, `${id}.gguf`)
    writeTinyModel(model, { alphabet })
    await register(server, id, model)
    return model
  }

  it('whose process is killed is refused in a sentence, and the model serves on', async () => {
    const { place, server } = scene()
    await registerTiny('killed', 'ab')
    const answer = quantize(server, 'killed')
    process.kill(await heldQuantizer(place), 'SIGKILL')
    const response = await answer
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      detail:
        "Model 'killed' could not be quantized: The process that quantized the model was ended by SIGKILL; the system does that when memory runs out.",
    })
    await logged(server, 'the process that quantizes has failed', ({ model }) => model === 'killed')
    expect(partialFiles(place)).toEqual([])
    expect(await meta(server, 'killed')).toMatchObject({ state: 'ready', quantization: 'F32' })
    const body = { model: 'killed', prompt: 'Once', max_new_tokens: 2 }
    expect((await post(server, '/v1/generate', { body })).status).toBe(200)

    const again = quantize(server, 'killed')
    process.kill(await heldQuantizer(place), 'SIGCONT')
    expect((await again).status).toBe(200)
    expect(await meta(server, 'killed')).toMatchObject({ quantization: 'Q8_0', failure: null })
  })

  it('whose process fails is refused in a sentence without what llama.cpp has said, which the log has', async () => {
    const { place, server } = scene()
    await registerTiny('failing', 'cd')
    const answer = quantize(server, 'failing')
    const pid = await heldQuantizer(place)
    process.kill(pid, 'SIGABRT')
    process.kill(pid, 'SIGCONT')
    expect(await (await answer).json()).toMatchObject({
      detail:
        "Model 'failing' could not be quantized: The process that quantized the model was ended by SIGABRT.",
    })
    await logged(
      server,
      'the process that quantizes has failed',
      ({ model, lines }) => model === 'failing' && Array.isArray(lines),
    )
  })

  it('goes on without the client that asked for it', async () => {
    const { place, server } = scene()
    await registerTiny('alone', 'ef')
    const pid = await quantizeAndLeave(place, server, 'alone')
    expect((await quantize(server, 'alone')).status).toBe(409)
    process.kill(pid, 'SIGCONT')
    await until(
      'the quantized model serves',
      async () => (await meta(server, 'alone'))['quantization'] === 'Q8_0',
    )
  })

  it('of a model that is unregistered ends with it', async () => {
    const { place, server } = scene()
    await registerTiny('leaving', 'gh')
    const answer = quantize(server, 'leaving')
    const pid = await heldQuantizer(place)
    expect((await call(server, 'DELETE /v1/admin/models/leaving', { secret: ADMIN_KEY })).status).toBe(200)
    expect((await answer).status).toBe(404)
    await gone(pid)
    expect(partialFiles(place)).toEqual([])
  })

  it('is done once for two models from one source', async () => {
    const { place, server } = scene()
    await register(server, 'twin', await registerTiny('first', 'ij'))
    const answers = [quantize(server, 'first'), quantize(server, 'twin')]
    process.kill(await heldQuantizer(place), 'SIGCONT')
    const results = await Promise.all(answers.map(async (answer) => (await answer).json()))
    expect(results).toMatchObject([
      { model_id: 'first', ...TINY_INT8 },
      { model_id: 'twin', ...TINY_INT8 },
    ])
    const lines = server.stderr.filter((line) => /"model":"(first|twin)".*"quantized"/.test(line))
    expect(lines).toHaveLength(1)
  })

  it('starts from the Hub again for a model that was registered from there', async () => {
    const { place, server } = scene()
    await register(server, 'hub', 'hf:acme/demo')
    const answer = quantize(server, 'hub')
    process.kill(await heldQuantizer(place, answer), 'SIGCONT')
    expect(await (await answer).json()).toMatchObject({ model_id: 'hub', layers_quantized: 29 })
  })
})

describe('a quantization on a server that ends', () => {
  async function startTiny(...words: string[]) {
    const place = createPlace()
    const model = ['--checkpoint', place.model, '--model-id', 'tiny', '--threads', '1']
    const server = await startServer([...model, '--data-dir', place.dataDir, ...words])
    await logged(server, 'serving')
    return { place, server }
  }

  it('ends with it', async () => {
    const { place, server } = await startTiny('--shutdown-timeout', '0')
    const answer = quantize(server, 'tiny')
    const pid = await heldQuantizer(place)
    server.child.kill('SIGTERM')
    expect((await answer).status).toBe(503)
    expect(await server.ended).toEqual({ code: 0, signal: null })
    await gone(pid)
    expect(partialFiles(place)).toEqual([])
  })

  it('does not hold it up once its client has left', async () => {
    const { place, server } = await startTiny('--shutdown-timeout', '3600')
    const pid = await quantizeAndLeave(place, server, 'tiny')
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
    await gone(pid)
    expect(partialFiles(place)).toEqual([])
  })

  it('ends with it at its start', async () => {
    const place = createPlace()
    const words = ['--checkpoint', place.model, '--quantization', 'int8', '--data-dir', place.dataDir]
    const server = spawnServer(words)
    const pid = await heldQuantizer(place)
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
    await gone(pid)
    expect(partialFiles(place)).toEqual([])
  })

  it('does not outlive it when it is killed', async () => {
    const { place, server } = await startTiny()
    quantize(server, 'tiny').catch(() => {})
    const pid = await heldQuantizer(place)
    server.child.kill('SIGKILL')
    await server.ended
    process.kill(pid, 'SIGCONT')
    await gone(pid)
  })
})

describe('sluice quantize', () => {
  function run({ model, dataDir }: Place, ...words: string[]) {
    const child = spawn(process.execPath, [
      PROGRAM,
      'quantize',
      '--checkpoint',
      model,
      '--data-dir',
      dataDir,
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
    const place = createPlace()
    const output = path.join(place.folder, 'out.gguf')
    const { child, ended, stderr } = run(place, '--output', output)
    const pid = await heldQuantizer(place)
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    expect(stderr()).toBe('sluice: stopped; no quantized file was written.\n')
    await gone(pid)
    expect(partialFiles(place)).toEqual([])
    expect(existsSync(output)).toBe(false)
  })

  it('says that a file may not grow, where the disk is full the same way, and leaves nothing half-done', async () => {
    const place = createPlace()
    vi.unstubAllEnvs()
    const words = ['quantize', '--checkpoint', SMALL_LLAMA, '--data-dir', place.dataDir]
    const made = spawn(process.execPath, [PROGRAM, ...words, '--mode', 'fp8'])
    await new Promise((resolve) => made.once('close', resolve))
    const limited = ['-c', 'ulimit -f 4000; exec "$@"', 'sh', process.execPath, PROGRAM, ...words]
    const { ended, stderr } = follow(spawn('sh', [...limited, '--mode', 'int8']))
    expect(await ended).toBe(1)
    expect(stderr()).toMatch(
      /^sluice: Cannot write \S+: the file system does not take a file of this size\.\n$/,
    )
    expect(partialFiles(place)).toEqual([])
  })

  it('quantizes a model of the Hub', async () => {
    const place = createPlace()
    vi.unstubAllEnvs()
    await startDemoHub(place)
    const { ended, stdout, stderr } = run(place, '--checkpoint', 'hf:acme/demo', '--mode', 'fp8')
    expect(await ended, stderr()).toBe(0)
    expect(stdout()).toMatch(/\.gguf: fp8, 29 matrices changed, 4\.47 MB\n$/)
  })

  it('refuses an output folder that is not there before any work', async () => {
    const place = createPlace()
    const output = path.join(place.folder, 'none/out.gguf')
    const { ended, stderr } = run(place, '--output', output)
    expect(await ended).toBe(1)
    expect(stderr()).toBe(`sluice: Cannot write to the folder ${path.dirname(output)}: it does not exist.\n`)
    expect(existsSync(place.dataDir)).toBe(false)
  })
})
