/** `sluice doctor` on this machine: what is well, and faults that a start would end with. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { writeTinyModel } from '../../../test/support/engines/llamacpp-tiny-model.ts'
import { pairOf, VALID_UNIX_SECONDS } from '../../../test/support/net/tls-files.ts'
import { createOperatorScene } from '../../../test/support/servers/operator-scene.ts'
import { createTestApp } from '../../../test/support/servers/test-app.ts'
import { availableMemoryBytes } from '../../checkpoints/memory/available-memory.ts'
import type { Finding } from '../../app/doctor/finding.ts'
import { checkNode, checkOpenFiles } from '../../app/doctor/machine-checks.ts'
import { VirtualClock } from '../../core/clock.ts'
import { readCertificate } from '../../net/tls/certificate.ts'
import { SecureConnections } from '../../net/tls/secure-connections.ts'
import { createLog } from '../../telemetry/log.ts'

function setUp(env: Readonly<Record<string, string>> = {}) {
  const { folder, sluice } = createOperatorScene({ env })
  const dataDir = path.join(folder, 'data')
  const run = (...words: string[]) =>
    sluice('doctor', '--data-dir', dataDir, '--port', '0', '--gpu', 'off', ...words)
  const model = path.join(folder, 'tiny.gguf')
  writeTinyModel(model)
  return {
    dataDir,
    model,
    run,
    find: async (subject: string, ...words: string[]) => {
      const { printed, exitCode } = await run('--json', ...words)
      const { findings } = JSON.parse(printed) as { findings: Finding[] }
      const found = findings.find((finding) => finding.subject === subject)
      return { exitCode, state: found?.state, text: found?.text }
    },
  }
}

describe('sluice doctor', () => {
  it('says in a line each what is well, and makes nothing', async () => {
    const { run, dataDir, model } = setUp()
    const { exitCode, printed, complaints } = await run('--checkpoint', model)
    expect([exitCode, complaints]).toEqual([0, []])
    const lines = printed.split('\n')
    expect(lines.filter((line) => !line.startsWith('ok       '))).toEqual([])
    expect(lines.map((line) => line.slice(9, 27).trim())).toEqual([
      ...['Node', 'open files', 'memory', 'data folder', 'accounts database', 'usage database', 'port'],
      ...['llama.cpp', 'GPU', 'model'],
    ])
    expect(printed).toMatch(/^ok {7}llama\.cpp +Loaded; it computes on .*CPU/m)
    expect(printed).toMatch(/^ok {7}model +.*tiny\.gguf: llama, F32, needs \d+ MB of the /m)
    expect(existsSync(dataDir)).toBe(false)
  })

  it('finds a model that cannot be served or does not fit, and a wrong option', async () => {
    const { find, model } = setUp()
    expect(await find('model', '--checkpoint', '/no/such.gguf')).toEqual({
      exitCode: 1,
      state: 'fault',
      text: 'Cannot open the checkpoint /no/such.gguf: it does not exist.',
    })
    const many = await find(
      'model',
      '--checkpoint',
      model,
      ...['--max-seq-len', '16777216', '--max-batch-size', '256', '--kv-cache-tokens', '268435456'],
    )
    expect(many.text).toMatch(/^'tiny' needs \d+ MB of memory .*: lower kv_cache_tokens or max_seq_len\.$/)
    expect(await find('options', '--max-queue', 'many')).toMatchObject({ exitCode: 1, state: 'fault' })
  })

  it('finds a database that a start could not use, and changes none', async () => {
    const { find, dataDir } = setUp()
    mkdirSync(dataDir)
    expect((await find('usage database', '--usage-db', dataDir)).text).toMatch(
      /cannot be used: it is a folder\.$/,
    )
    writeFileSync(path.join(dataDir, 'api.db'), 'not a database, but long enough to be read as one')
    expect(await find('accounts database')).toMatchObject({ exitCode: 1, state: 'fault' })
    const foreign = path.join(dataDir, 'foreign.db')
    const database = new DatabaseSync(foreign)
    database.exec('create table notes (id integer)')
    database.close()
    expect((await find('accounts database', '--api-db', foreign)).text).toMatch(/holds something else/)
    expect((await find('accounts database', '--api-db', 'postgres://user:secret@127.0.0.1:1/x')).text).toBe(
      "The database of accounts and keys 'postgres://user@127.0.0.1:1/x' (--api-db) cannot be used: nothing listens there.",
    )
    expect(await find('Redis', '--redis', 'redis://127.0.0.1:1')).toMatchObject({
      exitCode: 1,
      state: 'fault',
    })
  })

  it('tells a database of an older version, which a start brings up to date, from one of a newer, which ends it', async () => {
    const { find, dataDir } = setUp()
    mkdirSync(dataDir)
    const { API_DATABASE } = await import('../../storage/api-database.ts')
    const { openDatabase } = await import('../../storage/sqlite/open-database.ts')
    const location = path.join(dataDir, 'api.db')
    const { migrations } = API_DATABASE
    const [newest = ''] = Object.keys(migrations).toSorted().slice(-1)
    const { [newest]: _, ...older } = migrations
    await (await openDatabase(location, { ...API_DATABASE, migrations: older })).destroy()
    expect(await find('accounts database')).toEqual({
      exitCode: 0,
      state: 'ok',
      text: `SQLite, '${location}', of an older version of Sluice, which the start brings up to date.`,
    })
    const newer = { ...API_DATABASE, migrations: { ...migrations, '9999-later': { up: async () => {} } } }
    await (await openDatabase(location, newer, { isServer: true })).destroy()
    expect(await find('accounts database')).toMatchObject({
      exitCode: 1,
      state: 'fault',
      text: expect.stringContaining("was written by a newer version of Sluice (it has '9999-later')"),
    })
  })

  it('finds folders that are none, a database in a folder that nobody makes, and one that a server has', async () => {
    const { find, dataDir } = setUp()
    const file = path.join(path.dirname(dataDir), 'a-file')
    writeFileSync(file, '')
    expect(await find('data folder', '--data-dir', file)).toEqual({
      exitCode: 1,
      state: 'fault',
      text: `'${file}' is no folder; choose another with --data-dir.`,
    })
    expect((await find('prefix cache', '--prefix-cache-dir', path.join(file, 'x'))).text).toBe(
      `'${file}' is no folder; choose another with --prefix-cache-dir.`,
    )
    const lost = path.join(dataDir, 'no', 'api.db')
    expect((await find('accounts database', '--api-db', lost)).text).toMatch(
      /cannot be made: there is no folder .*\/no\.$/,
    )

    mkdirSync(dataDir)
    const { API_DATABASE } = await import('../../storage/api-database.ts')
    const { openDatabase } = await import('../../storage/sqlite/open-database.ts')
    const database = await openDatabase(path.join(dataDir, 'api.db'), API_DATABASE, { isServer: true })
    const inUse = await find('accounts database')
    await database.destroy()
    expect(inUse).toMatchObject({ exitCode: 0, state: 'warning' })
    expect(inUse.text).toContain(`is in use by another server of this process (${process.pid})`)
    expect(await find('accounts database')).toMatchObject({ state: 'ok' })
  })

  it('warns of values of the file that the environment replaces', async () => {
    const { find, dataDir } = setUp({ SLUICE_SHUTDOWN_TIMEOUT: '30', SLUICE_LOG_LEVEL: 'warn' })
    mkdirSync(dataDir)
    const config = path.join(dataDir, 'sluice.yaml')
    writeFileSync(config, 'shutdownTimeout: 5\nlogLevel: warn\n')

    expect(await find('options', '--config', config)).toEqual({
      exitCode: 0,
      state: 'warning',
      text: `${config} has other values than the environment, which wins: SLUICE_SHUTDOWN_TIMEOUT.`,
    })
    expect(await find('options')).toMatchObject({ state: undefined })
  })

  it('looks at every model of the configuration, and at every port', async () => {
    const { run, model, dataDir } = setUp()
    mkdirSync(dataDir)
    const config = path.join(dataDir, 'config.json')
    const models = [
      { id: 'tiny', checkpoint: model },
      { id: 'lost', checkpoint: '/no/such.gguf' },
      { id: 'adapted', base: 'tiny', adapter: '/no/such-adapter.gguf' },
      { id: 'far', endpoints: ['http://127.0.0.1:1/v1'], engine: 'openai' },
    ]
    writeFileSync(config, JSON.stringify({ models }))
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo

    const { printed, exitCode } = await run('--json', '--config', config, '--port-knock', `${port},1,2`)

    const { findings } = JSON.parse(printed) as { findings: Finding[] }
    const seen = (subject: string) =>
      findings.filter((finding) => finding.subject === subject).map(({ state }) => state)
    expect(exitCode).toBe(1)
    expect(seen('model')).toEqual(['ok', 'fault'])
    expect([seen('adapter'), seen('upstream')]).toEqual([['fault'], ['warning']])
    expect(seen('port knock')[0]).toBe('warning')
  })

  it('counts what the models of a start need together', async () => {
    const { run, model, dataDir } = setUp()
    mkdirSync(dataDir)
    const config = path.join(dataDir, 'config.json')
    const copies = ['first', 'second', 'third', 'later'].map((id) => ({ id, checkpoint: model }))
    const models = copies.map((one) => (one.id === 'later' ? { ...one, load: 'request' } : one))
    writeFileSync(config, JSON.stringify({ models }))
    const examine = async (kvCacheTokens: number, replicas = 1) => {
      const length = ['--max-seq-len', '1048576', '--max-batch-size', '256']
      const kvCache = [...length, '--kv-cache-tokens', String(kvCacheTokens)]
      const words = [...kvCache, '--replicas', String(replicas)]
      const { printed } = await run('--json', '--prefix-cache-mb', '0', '--config', config, ...words)
      const { findings } = JSON.parse(printed) as { findings: Finding[] }
      return findings.filter(({ subject }) => subject === 'model')
    }
    const megabytes = (text: string, number: RegExp) => Number(number.exec(text)?.[1])
    const small = await examine(1_048_576)
    expect(small.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect(small[2]?.text).toMatch(/ that are free, beside \d+ MB for those before it\./)
    expect([small[0]?.text, small[3]?.text].join()).not.toContain('beside')
    const neededMb = megabytes(small[0]?.text ?? '', /needs (\d+) MB/)

    // Two have room.
    const tokens = Math.floor((1_048_576 / neededMb) * (availableMemoryBytes() / 1e6) * 0.4)
    const replicas = Math.ceil(tokens / 2 ** 27)
    const [first, second, third, later] = await examine(Math.floor(tokens / replicas), replicas)
    expect([first?.state, second?.state, later?.state]).toEqual(['ok', 'ok', 'ok'])
    expect(third).toMatchObject({
      state: 'warning',
      text: expect.stringMatching(
        /^Its first request loads it, and has others unloaded: 'tiny' needs .*, beside \d+ MB for those that load, but /,
      ),
    })
  })

  it('tells a port that a server of Sluice has from one that another program has', async () => {
    const { find } = setUp()
    const { listen } = createTestApp()
    const port = await listen()
    expect(await find('port', '--port', String(port))).toMatchObject({
      state: 'ok',
      text: `A server of Sluice listens on 127.0.0.1:${port}.`,
    })
    const other = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const taken = (other.address() as AddressInfo).port
    expect(await find('port', '--port', String(taken))).toEqual({
      exitCode: 1,
      state: 'fault',
      text: `127.0.0.1:${taken} is in use by another program; choose another with --port.`,
    })
  })

  it('knows a server of Sluice that speaks TLS, whatever name its certificate has', async () => {
    const { find } = setUp()
    const { app, listen } = createTestApp()
    const files = pairOf('first')
    const certificate = await readCertificate(files, new VirtualClock(VALID_UNIX_SECONDS))
    const secure = new SecureConnections(app.server, {
      certificate,
      log: createLog({ destination: { write: () => {} } }),
    })
    onTestFinished(() => secure.close())
    const port = await listen()
    const { certfile, keyfile } = files
    const words = ['--tls-certfile', certfile, '--tls-keyfile', keyfile, '--port', String(port)]
    expect(await find('port', ...words)).toMatchObject({
      state: 'ok',
      text: `A server of Sluice listens on 127.0.0.1:${port}.`,
    })
  })

  it('asks an upstream as the server does, with /v1 or without it', async () => {
    const { find } = setUp()
    const upstream = createHttpServer(({ url }, response) => {
      response.writeHead(url === '/v1/models' ? 200 : 404).end('{}')
    })
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void upstream.close())
    const root = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    for (const endpoint of [root, `${root}/`, `${root}/v1`, `dns+${root}/v1/`])
      expect(await find('upstream', '--upstream', endpoint)).toMatchObject({
        state: 'ok',
        text: `${endpoint} answers.`,
      })
    expect(await find('upstream', '--upstream', `${root}/other`)).toMatchObject({ state: 'warning' })
  })

  it('warns of an upstream that does not answer, and finds a certificate that cannot be used', async () => {
    const { find } = setUp()
    expect(await find('upstream', '--upstream', 'http://127.0.0.1:1/v1')).toMatchObject({
      exitCode: 0,
      state: 'warning',
    })
    const files = ['--tls-certfile', '/no/cert.pem', '--tls-keyfile', '/no/key.pem']
    expect(await find('certificate', ...files)).toMatchObject({ exitCode: 1, state: 'fault' })
  })

  it('needs Node 20.19, and advises more than a few open files', () => {
    expect(['18.20.0', '20.18.3', '20.19.0', '24.1.0'].map((version) => checkNode(version).state)).toEqual([
      ...['fault', 'fault', 'ok', 'ok'],
    ])
    expect([1024, 4096, Number.POSITIVE_INFINITY].map((limit) => checkOpenFiles(limit).state)).toEqual([
      ...['warning', 'ok', 'ok'],
    ])
  })
})
