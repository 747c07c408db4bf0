/** The package as an application imports it, by its name, from what was built, and as npm packs it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as sluice from 'sluice'
import * as light from 'sluice/light'
import { describe, expect, it } from 'vitest'
import { SMALL_LLAMA, temporaryFolder } from '../support/servers/server-process.ts'
import { shared } from '../support/shared.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

/** What `require` gives in a process of its own that starts in `folder`, by the name of the entry. */
function requireNames(folder: string): Readonly<Record<string, readonly string[]>> {
  const entries = "['sluice', 'sluice/light'].map((name) => [name, Object.keys(require(name)).sort()])"
  const script = `console.log(JSON.stringify(Object.fromEntries(${entries})))`
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { cwd: folder, encoding: 'utf8' }))
}

describe('the package', () => {
  it('exports these names and no others', () => {
    expect(Object.keys(sluice).sort()).toEqual([
      'ContinuousBatchScheduler',
      'ModelRegistry',
      'SecretText',
      'ServiceError',
      'StartError',
      'VirtualClock',
      'createServer',
      'systemClock',
    ])
    expect(Object.keys(light).sort()).toEqual([
      'DEFAULT_PUBLIC_PATHS',
      'ServiceError',
      'StartError',
      'createLightServer',
    ])
  })

  it('schedules requests of the interface shape', () => {
    const scheduler = new sluice.ContinuousBatchScheduler({
      maxBatchSize: 2,
      maxSeqLen: 128,
      schedulePolicy: 'fcfs',
    })
    scheduler.add({ ids: [1, 2, 3], reqId: 1, maxNewTokens: 1 })
    expect(scheduler.plan()?.runs).toMatchObject([{ slotId: 0, position: 0, wantsToken: true }])
    expect(scheduler.update({ tokenIds: [9] }).at(-1)).toEqual({
      type: 'sequence-end',
      reqId: 1,
      finishReason: 'length',
    })
  })

  it('starts a server from code and takes it down again', async () => {
    const dataDir = temporaryFolder()
    const server = await sluice.createServer({
      port: 0,
      apiKeys: ['key-of-this-package'],
      logLevel: 'silent',
      dataDir,
    })
    try {
      const response = await fetch(`${server.address}/v1/generate`, {
        method: 'POST',
        headers: { authorization: 'Bearer key-of-this-package', 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: 'echo' }),
      })
      expect(await response.json()).toMatchObject({ generated_text: 'echo', model: 'default' })
    } finally {
      await server.close()
    }
    await expect(fetch(`${server.address}/v1/health`)).rejects.toThrow('fetch failed')
  })

  it('refuses an option that does not exist', async () => {
    // @ts-expect-error: the compiler refuses it too
    await expect(sluice.createServer({ prot: 1 })).rejects.toThrow(/prot/)
  })

  it.each([
    ['options that are null', [null], 'The options of createServer must be an object, but were null.'],
    ['hooks that are null', [{}, null], 'The hooks of createServer must be an object, but were null.'],
    ['hooks that are a list', [{}, []], 'The hooks of createServer must be an object, but were a list.'],
    [
      'a hook that does not exist',
      [{}, { onProgress: () => {} }],
      "createServer has no hook 'onProgress'; its hooks are onLoadProgress, onDownloadProgress, onNotice, signal.",
    ],
    ['a hook that is text', [{}, { onNotice: 'x' }], 'The hook onNotice must be a function.'],
    [
      'a model beside another checkpoint',
      [{ model: 'demo', checkpoint: 'other.gguf' }],
      "model and checkpoint name one option, but were 'demo' and 'other.gguf'.",
    ],
    ['a signal that is none', [{}, { signal: {} }], 'The hook signal must be an AbortSignal.'],
  ])('refuses %s in one sentence', async (_, given, message) => {
    const [options, hooks] = given as Parameters<typeof sluice.createServer>
    await expect(sluice.createServer(options, hooks)).rejects.toMatchObject({ name: 'StartError', message })
  })

  it('loads a model for an application whose hook throws, which ends with length when its context is full', async () => {
    let calls = 0
    const words = { authMode: 'none', logLevel: 'silent', dataDir: temporaryFolder() } as const
    const server = await sluice.createServer(
      { ...words, port: 0, checkpoint: SMALL_LLAMA, threads: 1, maxSeqLen: 64 },
      {
        onLoadProgress: () => {
          calls++
          throw new Error('of the application')
        },
      },
    )
    try {
      await server.loaded
      expect(calls).toBeGreaterThan(1)
      expect(server.registry.get(null)).toMatchObject({ id: 'small-llama', state: 'ready' })
      const response = await fetch(`${server.address}/v1/generate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: 'one two three four five', max_new_tokens: 4000, temperature: 5 }),
      })
      const result = (await response.json()) as { finish_reason: string; completion_tokens: number }
      expect(['length', 'stop']).toContain(result.finish_reason)
      if (result.finish_reason === 'length') expect(result.completion_tokens).toBeLessThan(64)
    } finally {
      await server.close()
    }
  })
})

describe('an application that ends without closing its server', () => {
  it.each([
    ['process.exit(7)', 7],
    ["throw new Error('of the application')", 1],
  ])('by %s leaves none of its temporary files', (end, code) => {
    const temporary = temporaryFolder()
    const options = { port: 0, authMode: 'none', logLevel: 'silent', threads: 1, checkpoint: SMALL_LLAMA }
    const given = JSON.stringify({ ...options, dataDir: temporaryFolder() })
    const script = `import { createServer } from 'sluice'
const server = await createServer(${given})
await server.loaded
process.stdout.write('loaded')
${end}`
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: temporary },
    })
    expect([ended.stdout, ended.status]).toEqual(['loaded', code])
    expect(readdirSync(temporary)).toEqual([])
  })
})

describe('the types', () => {
  // Without a name that an application can import, the compiler refuses to write the declarations of what it exports.
  it('have names for all that an application may export of what it gets', () => {
    const folder = temporaryFolder()
    mkdirSync(path.join(folder, 'node_modules'))
    symlinkSync(ROOT, path.join(folder, 'node_modules/sluice'))
    symlinkSync(path.join(ROOT, 'node_modules/@types'), path.join(folder, 'node_modules/@types'))
    writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(path.join(folder, 'application.ts'), APPLICATION)
    const words = ['--strict', '--exactOptionalPropertyTypes', '--declaration', '--types', 'node']
    const target = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022', '--outDir', 'out']
    const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc')
    const compiled = spawnSync(process.execPath, [compiler, ...words, ...target, 'application.ts'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(compiled.stdout).toBe('')
    expect(compiled.status).toBe(0)
  })
})

const APPLICATION = `
import { ContinuousBatchScheduler, createServer, systemClock } from 'sluice'
import type { Engine, LoadHooks, ModelRegistry, ServerHooks, ServerOptions } from 'sluice'
import { createLightServer } from 'sluice/light'

export const port: number | undefined = undefined
export const options = { port, models: undefined } satisfies ServerOptions
export const parts = async () => ({ ...(await createServer(options)) })
export const ofRegistry = (registry: ModelRegistry) => ({
  list: registry.list(),
  processes: registry.engineProcesses(),
  sequences: registry.sequences(),
  serving: registry.serving(),
  source: registry.source('id'),
  lease: registry.acquire(null, AbortSignal.abort()),
})
export const ofEngine = ({ adapter, detokenize, generate, info, openAdapter, status, tokenize }: Engine) =>
  ({ adapter, detokenize, generate, info, openAdapter, status, tokenize })
export const ofLoad = ({ base, loaded, makeRoom, outline }: LoadHooks) => ({ base, loaded, makeRoom, outline })
export const onDownload = (progress: Parameters<NonNullable<ServerHooks['onDownloadProgress']>>[0]) => progress
export const scheduler = new ContinuousBatchScheduler({ maxBatchSize: 1, maxSeqLen: 8, schedulePolicy: 'fcfs' })
export const plan = scheduler.plan()
export const held = scheduler.held()
export const clock = systemClock
export const light = createLightServer({ port })
export const { address, close, listen, route } = light
`

/** Node 22.0 to 22.11 cannot load an ES module with `require`. */
const CAN_REQUIRE = 'require_module' in process.features

const IMPORTED = { sluice: Object.keys(sluice).sort(), 'sluice/light': Object.keys(light).sort() }

describe('require()', () => {
  it('gives what import gives, or says that this Node cannot load a module so', () => {
    if (CAN_REQUIRE) expect(requireNames(ROOT)).toEqual(IMPORTED)
    else expect(() => requireNames(ROOT)).toThrow('ERR_REQUIRE_ESM')
  })
})

describe('the packed package', () => {
  const unpacked = shared(() => {
    const folder = temporaryFolder()
    // Without its scripts: dist/ is built already, and other tests are running from it.
    const words = ['pack', '--ignore-scripts', '--pack-destination', folder]
    execFileSync('npm', words, { cwd: ROOT, stdio: 'ignore' })
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
    execFileSync('tar', ['xzf', tarball], { cwd: folder })
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
    return path.join(folder, 'package')
  })
  const filesUnder = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))

  it('holds what was made of every source file, the data files, and nothing else', () => {
    const sources = filesUnder(path.join(ROOT, 'src')).filter((file) => !file.endsWith('.test.ts'))
    const built = sources.flatMap((file) =>
      file.endsWith('.ts') ? [file.replace(/ts$/, 'js'), file.replace(/ts$/, 'd.ts')] : [file],
    )
    const model = filesUnder(path.join(ROOT, 'models/demo')).map((file) => path.join('models/demo', file))
    const page = filesUnder(path.join(ROOT, 'dist/console')).map((file) => path.join('console', file))
    const joined = filesUnder(path.join(ROOT, 'dist/bundle')).map((file) => path.join('bundle', file))
    expect(page).toContain('console/index.html')
    expect(joined).toContain('bundle/main.js')
    const documents = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']
    expect(filesUnder(unpacked()).sort()).toEqual(
      [
        ...documents,
        'bin/sluice.js',
        ...model,
        ...[...built, ...page, ...joined].map((file) => path.join('dist', file)),
      ].sort(),
    )
  })

  it('is built by npm before it is packed', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(unpacked(), 'package.json'), 'utf8'))
    expect(scripts.prepack).toBe('node tools/prepare.mjs --rebuild')
  })

  it('runs from where it was unpacked', () => {
    const program = path.join(unpacked(), 'bin/sluice.js')
    expect(execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8' })).toContain('serve')
  })

  it('is required from where it was unpacked as from here', () => {
    if (CAN_REQUIRE) expect(requireNames(unpacked())).toEqual(IMPORTED)
    else expect(() => requireNames(unpacked())).toThrow('ERR_REQUIRE_ESM')
  })
})
