/** `sluice light` and the example, as a stranger starts them: the built program, real ports, a real model. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, inject, it } from 'vitest'
import {
  SMALL_LLAMA,
  enginePids,
  KEY,
  startDemoServer,
  temporaryFolder,
} from '../support/servers/server-process.ts'
import { shared, whenUnused } from '../support/shared.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const SLUICE = path.join(ROOT, 'bin/sluice.js')
const ANY_KEY = 'sk-svc-0123'

interface Program {
  readonly child: ChildProcess
  readonly address: string
  readonly lines: readonly string[]
  readonly ended: Promise<number | null>
  readonly stop: () => Promise<number | null>
}

/** Starts a program of Node and waits until it says where it listens, or has ended. */
async function start(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Program> {
  const child = spawn(process.execPath, words, {
    cwd: temporaryFolder(),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve))
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM')
    return await ended
  }
  whenUnused(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const lines: string[] = []
  const address = await new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line)
        const found = /listening on (\S+)/.exec(line)?.[1]
        if (found !== undefined) resolve(found)
      })
    }
    void ended.then(() => resolve(''))
  })
  return { child, address, lines, ended, stop }
}

const startLight = (...words: string[]) => start([SLUICE, 'light', '--port', '0', ...words])

async function generate(address: string, key: string, payload: object) {
  const response = await fetch(`${address}/v1/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(payload),
  })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

describe('sluice light', () => {
  it('continues on worker threads without a model, and ends with exit code 0', async () => {
    const { address, stop, lines } = await startLight('--workers', '2')

    const answer = await generate(address, ANY_KEY, { prompt: 'echo' })

    expect(answer.json).toMatchObject({ generated_text: 'echo', model: 'default' })
    expect(await stop()).toBe(0)
    expect(lines).toEqual([
      `sluice: listening on ${address}`,
      'sluice: no --checkpoint given, so the passthrough model serves: it repeats each prompt and understands nothing; --checkpoint demo serves the demo model, --checkpoint PATH your own.',
      'sluice: stopping; running requests may take up to 30 s.',
    ])
  })

  /** A full server with the small Llama, and its keys. */
  const fullServer = shared(async () => {
    const apiDb = path.join(temporaryFolder(), 'api.db')
    return { ...(await startDemoServer(['--api-db', apiDb])), apiDb }
  })
  const lightServer = shared(() => {
    const dataDir = temporaryFolder()
    cpSync(inject('convertedSmallLlama'), dataDir, { recursive: true })
    return startLight('--checkpoint', SMALL_LLAMA, '--threads', '1', '--data-dir', dataDir)
  })

  it('serves a real model as the full server does, in an engine process', async () => {
    const { address } = lightServer()
    const payload = { prompt: 'Once upon a time', max_new_tokens: 8, top_k: 1 }

    const light = await generate(address, ANY_KEY, payload)

    const other = await generate(fullServer().address, KEY, payload)
    expect(light.json).toMatchObject({
      model: 'small-llama',
      completion_tokens: 8,
      generated_text: other.json.generated_text,
      token_ids: other.json.token_ids,
    })
    const models = (await (await fetch(`${address}/v1/models`)).json()) as { readonly data: unknown }
    expect(models.data).toMatchObject([{ id: 'small-llama', meta: { engine: 'llama.cpp', state: 'ready' } }])
    expect(await (await fetch(`${address}/v1/health`)).json()).toMatchObject({ models_loaded: 1 })
  })

  it('goes on when its engine process dies, says so, and ends with exit code 0', async () => {
    const { child, address, lines, stop } = lightServer()
    await generate(address, ANY_KEY, { prompt: 'a', max_new_tokens: 1 })

    for (const pid of enginePids({ child })) process.kill(pid, 'SIGKILL')

    expect((await fetch(`${address}/v1/health`)).status).toBe(200)
    const answer = await generate(address, ANY_KEY, { prompt: 'a', max_new_tokens: 1 })
    expect(answer.status).toBe(200)
    expect(lines.join('\n')).toContain('the engine process was ended by SIGKILL')
    expect(await stop()).toBe(0)
  })

  it('takes the keys of a full server that runs on the same file', async () => {
    const { apiDb } = fullServer()
    const { address } = await startLight('--key-db', apiDb)
    const keys = (...words: string[]) =>
      execFileSync(process.execPath, [SLUICE, 'keys', ...words, '--api-db', apiDb], { encoding: 'utf8' })
    const { key, id } = JSON.parse(keys('create', '--json'))

    expect((await generate(address, key, { prompt: 'a' })).status).toBe(200)
    expect((await generate(address, ANY_KEY, { prompt: 'a' })).status).toBe(401)
    keys('revoke', id)
    expect((await generate(address, key, { prompt: 'a' })).status).toBe(401)
  })

  it('serves a folder and opens paths', async () => {
    const { address } = await startLight('--static-dir', SMALL_LLAMA, '--public-paths', '/v1/generate,/x/*')

    expect((await fetch(`${address}/config.json`)).headers.get('content-type')).toContain('application/json')
    const body = JSON.stringify({ prompt: 'a' })
    const headers = { 'content-type': 'application/json' }
    expect((await fetch(`${address}/v1/generate`, { method: 'POST', headers, body })).status).toBe(200)
    expect((await fetch(`${address}/v1/health`)).status).toBe(401)
  })

  it.each([
    [['--nonsense'], 2, "unknown option '--nonsense'"],
    [['--host', '192.0.2.1'], 1, '192.0.2.1 is not an address of this machine'],
  ])('with %j ends with exit code %i and one line', async (words, exitCode, line) => {
    const { ended, lines } = await startLight(...words)

    expect(await ended).toBe(exitCode)
    expect(lines).toEqual([expect.stringContaining(line)])
    expect(lines[0]).toMatch(/^sluice: /)
  })
})

describe('examples/embed', () => {
  const APP = path.join(ROOT, 'examples/embed/app.mjs')

  it('serves its page, its routes and generations, and keeps its keys', async () => {
    const apiDb = path.join(temporaryFolder(), 'api.db')
    const created = execFileSync(process.execPath, [SLUICE, 'keys', 'create', '--json', '--api-db', apiDb], {
      encoding: 'utf8',
    })
    const { key } = JSON.parse(created)
    const { address, stop } = await start([APP], { PORT: '0', KEY_DB: apiDb })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

    const page = await (await fetch(address)).text()
    for (const [, file = ''] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect((await fetch(`${address}/${file}`)).status).toBe(200)
      expect(existsSync(path.join(ROOT, 'examples/embed/public', file))).toBe(true)
    }
    expect(await (await fetch(`${address}/note-ids`)).json()).toEqual(['1'])
    expect((await fetch(`${address}/notes/1`)).status).toBe(401)
    const body = JSON.stringify({ text: 'mine' })
    expect(await (await fetch(`${address}/notes`, { method: 'POST', headers, body })).json()).toMatchObject({
      id: '2',
      writtenBy: expect.any(String),
    })
    expect(await (await fetch(`${address}/notes/2`, { headers })).json()).toEqual({ id: '2', text: 'mine' })
    expect((await generate(address, key, { prompt: 'abc' })).json.generated_text).toBe('abc')
    expect((await generate(address, ANY_KEY, { prompt: 'abc' })).status).toBe(401)
    expect(await stop()).toBe(0)
  })

  it('loads nothing into its page from elsewhere', () => {
    const files = ['index.html', 'page.js', 'style.css'].map((name) =>
      readFileSync(path.join(ROOT, 'examples/embed/public', name), 'utf8'),
    )

    expect(files.filter((text) => text.includes('//cdn') || /https?:/.test(text))).toEqual([])
  })
})

describe('a loaded sluice/light', () => {
  it('has no native code and no package in it', () => {
    const script = `
      import { createLightServer } from 'sluice/light'
      const server = createLightServer({ port: 0 })
      await server.listen()
      await server.close()
      const { sharedObjects } = process.report.getReport()
      console.log(JSON.stringify(sharedObjects.filter((file) => file.includes('node_modules'))))`
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: ROOT,
      encoding: 'utf8',
    })

    expect(JSON.parse(output)).toEqual([])
  })
})
