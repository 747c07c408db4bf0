import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ServerConfig } from '../config/server-config.ts'
import { VirtualClock } from '../core/clock.ts'
import { StartError } from '../core/errors.ts'
import { run } from './run.ts'
import type { CreateServer, ServedServer } from './commands/serve.ts'
import type { Terminal } from './terminal/terminal.ts'

interface Scene {
  readonly env?: Readonly<Record<string, string>>
  readonly defaults?: Partial<ServerConfig>
  readonly createServer?: CreateServer
  /** @default at once */
  readonly loaded?: Promise<void>
}

/** A promise that is resolved from outside. */
function createGate() {
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** A terminal whose signals are sent by hand, and a run in it. */
function createScene({ env = {}, defaults = {}, createServer, loaded = Promise.resolve() }: Scene = {}) {
  const printed: string[] = []
  const complaints: string[] = []
  const exits: number[] = []
  const configs: ServerConfig[] = []
  const clock = new VirtualClock()
  let handler = () => {}
  let hangUpHandler: (() => void) | null = null
  let reloads = 0
  const adminKeys: ServerConfig['adminKey'][] = []
  let notifications = 0
  const closing = createGate()
  const listening = createGate()
  const server: ServedServer = {
    address: 'http://127.0.0.1:1234',
    operatorKey: null,
    consoleUrl: null,
    withoutOperatorKey: 'api-keys',
    loaded,
    replaceWorkers: null,
    reloadCertificate: async () => void reloads++,
    reloadAdminKeys: (read) => void adminKeys.push(read()),
    close: () => closing.opened,
  }
  const terminal: Terminal = {
    env,
    print: (line) => {
      printed.push(line)
      if (line.includes('listening')) listening.open()
    },
    complain: (line) => void complaints.push(line),
    showProgress: () => {},
    onSignal: (given) => {
      handler = given
    },
    onHangUp: (given) => {
      hangUpHandler = given
    },
    onReplace: () => {},
    notifyReady: () => void notifications++,
    exit: (code) => void exits.push(code),
  }
  const standard: CreateServer = (config) => {
    configs.push(config)
    return Promise.resolve(server)
  }
  return {
    printed,
    complaints,
    exits,
    configs,
    clock,
    listening: listening.opened,
    signal: () => handler(),
    hangUp: () => hangUpHandler?.(),
    isHangUpHandled: () => hangUpHandler !== null,
    reloads: () => reloads,
    adminKeys,
    notifications: () => notifications,
    finishClosing: () => closing.open(),
    run: (...words: string[]) =>
      run(words, { terminal, clock, defaults, createServer: createServer ?? standard }),
  }
}

function failWith(error: unknown): CreateServer {
  return async () => {
    throw error
  }
}

describe('run', () => {
  it('ends with 2 and one line before anything listens when an option is wrong', async () => {
    const scene = createScene({ env: { SLUICE_API_KEYS: '@/no/such/file' } })
    expect(await scene.run('--port', '1')).toBe(2)
    expect(scene.complaints).toEqual(['sluice: SLUICE_API_KEYS names a file after @, but it does not exist.'])
    expect(scene.configs).toEqual([])
  })

  it.each([
    [
      ['--cidr-deny', '10.0.0.0/8,0x7f.1'],
      "--cidr-deny must be an address or a CIDR such as 10.0.0.0/8, but was '0x7f.1'.",
    ],
    [
      ['--cidr-allow', 'fe80::1%eth0'],
      "--cidr-allow must be an address or a CIDR such as 10.0.0.0/8, but was 'fe80::1%eth0'.",
    ],
    [
      ['--trusted-proxies', '10.0.0.0/08'],
      "--trusted-proxies must be an address or a CIDR such as 10.0.0.0/8, but was '10.0.0.0/08'.",
    ],
    [['--port-knock', '7000,8000,7000'], '--port-knock must name each port once, but 7000 comes twice.'],
    [
      ['--port', '7001', '--port-knock', '7000,7001'],
      '--port-knock must not name 7001, which is the --port of the server.',
    ],
    [['--tls-certfile', 'c.pem'], '--tls-certfile needs --tls-keyfile: give both or neither.'],
  ])('ends with 2 and one line because %j is a wrong option', async (words, line) => {
    const scene = createScene()
    expect(await scene.run(...words)).toBe(2)
    expect(scene.complaints).toEqual([`sluice: ${line}`])
    expect(scene.configs).toEqual([])
  })

  it('prints help and version and ends with 0', async () => {
    const scene = createScene()
    expect(await scene.run('--help')).toBe(0)
    expect(scene.printed.join('\n')).toContain('--max-batch-size <n>')
    expect(scene.configs).toEqual([])
  })

  it('serves what was given, prints the address, and ends with 0 once the first signal has drained it', async () => {
    const scene = createScene({ env: { SLUICE_PORT: '0' }, defaults: { checkpoint: 'demo', port: 5 } })
    const exitCode = scene.run('--model-id', 'mine')
    await scene.listening
    expect(scene.printed).toEqual(['sluice: listening on http://127.0.0.1:1234'])
    expect(scene.configs).toMatchObject([{ port: 0, checkpoint: 'demo', modelId: 'mine' }])
    scene.signal()
    scene.finishClosing()
    expect(await exitCode).toBe(0)
    expect(scene.exits).toEqual([])
  })

  it('says which values of the file the environment replaces with others, and shows none', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sluice-run-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'sluice.yaml')
    writeFileSync(
      file,
      "port: 9000\nhost: 127.0.0.1\nmodelId: of-the-file\nadminKey: secret-of-the-file\ntrustedProxies: ['::1']\nmaxQueue: many\nlogLevel:\n",
    )
    const env = {
      SLUICE_CONFIG: file,
      SLUICE_PORT: '8080',
      SLUICE_HOST: '127.0.0.1',
      SLUICE_MODEL_ID: 'of-the-environment',
      SLUICE_ADMIN_KEY: 'secret-of-the-environment',
      SLUICE_TRUSTED_PROXIES: '::1',
      SLUICE_MAX_QUEUE: '5',
      SLUICE_LOG_LEVEL: 'warn',
    }
    const scene = createScene({ env, defaults: { checkpoint: 'demo' } })
    const exitCode = scene.run('--model-id', 'given')
    await scene.listening
    scene.signal()
    scene.finishClosing()
    expect(await exitCode).toBe(0)
    expect(scene.complaints.filter((line) => line.includes(file))).toEqual([
      `sluice: warning: ${file} has other values than the environment, which wins: SLUICE_PORT, SLUICE_ADMIN_KEY, SLUICE_MAX_QUEUE.`,
    ])
  })

  it('says at the start which variables belong to no option', async () => {
    const scene = createScene({ env: { SLUICE_PROT: '80' } })
    const exitCode = scene.run()
    await scene.listening
    scene.signal()
    scene.finishClosing()
    expect(await exitCode).toBe(0)
    expect(scene.complaints).toContain(
      'sluice: warning: no option has this variable, which is ignored: SLUICE_PROT (did you mean SLUICE_PORT?).',
    )
  })

  it('shows the key that was made for this run', async () => {
    const scene = createScene({
      createServer: () =>
        Promise.resolve({
          address: 'http://127.0.0.1:1',
          operatorKey: 'sk-svc-made',
          consoleUrl: null,
          withoutOperatorKey: null,
          loaded: Promise.resolve(),
          replaceWorkers: null,
          reloadCertificate: () => Promise.resolve(),
          reloadAdminKeys: () => {},
          close: () => Promise.resolve(),
        }),
    })
    const exitCode = scene.run()
    await scene.listening
    scene.signal()
    expect(await exitCode).toBe(0)
    expect(scene.printed.slice(1).join('\n')).toContain('sk-svc-made')
  })

  it('ends at once with 130 at a second signal', async () => {
    const scene = createScene()
    const exitCode = scene.run()
    await scene.listening
    scene.signal()
    scene.clock.advance(2000)
    scene.signal()
    expect(scene.exits).toEqual([130])
    scene.finishClosing()
    await exitCode
  })

  it('takes a signal that npm passes on for the one the terminal sent', async () => {
    const scene = createScene()
    const exitCode = scene.run()
    await scene.listening
    scene.signal()
    scene.clock.advance(20)
    scene.signal()
    expect(scene.exits).toEqual([])
    scene.finishClosing()
    expect(await exitCode).toBe(0)
  })

  it('reads the certificate again at SIGHUP, which ends nothing, and takes no harm from one before it serves', async () => {
    const starting = createGate()
    const scene = createScene()
    const early = createScene({
      createServer: async () => {
        await starting.opened
        throw new StartError('Never started.', 1)
      },
    })
    const exitCode = scene.run()
    const earlyExitCode = early.run()
    await scene.listening
    scene.hangUp()
    scene.hangUp()
    expect([early.isHangUpHandled(), early.hangUp()]).toEqual([true, undefined])
    expect([scene.reloads(), early.reloads(), scene.exits]).toEqual([2, 0, []])
    starting.open()
    scene.signal()
    scene.finishClosing()
    expect([await exitCode, await earlyExitCode]).toEqual([0, 1])
  })

  it('reads the admin keys again at SIGHUP, from where they came', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sluice-run-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'admin-keys')
    writeFileSync(file, 'the-first-admin-key\n')
    const scene = createScene({ env: { SLUICE_ADMIN_KEY: `@${file}` } })
    const exitCode = scene.run()
    await scene.listening

    writeFileSync(file, 'the-first-admin-key\nthe-second-admin-key\n')
    scene.hangUp()
    expect(scene.adminKeys).toEqual([['the-first-admin-key', 'the-second-admin-key']])
    scene.signal()
    scene.finishClosing()
    expect(await exitCode).toBe(0)
  })

  it('notifies the service manager once, when the models are loaded', async () => {
    const loading = createGate()
    const scene = createScene({ loaded: loading.opened })
    const exitCode = scene.run()
    await scene.listening
    expect(scene.notifications()).toBe(0)
    loading.open()
    await vi.waitFor(() => expect(scene.notifications()).toBe(1))
    scene.signal()
    scene.finishClosing()
    expect(await exitCode).toBe(0)
  })

  it('closes and ends with 1 when the model turns out not to load', async () => {
    let isClosed = false
    const scene = createScene({
      createServer: () =>
        Promise.resolve({
          address: 'http://127.0.0.1:1',
          operatorKey: null,
          consoleUrl: null,
          withoutOperatorKey: 'api-keys',
          loaded: Promise.reject(new StartError('Cannot open the checkpoint x: it is broken.', 1)),
          replaceWorkers: null,
          reloadCertificate: () => Promise.resolve(),
          reloadAdminKeys: () => {},
          close: () => {
            isClosed = true
            return Promise.resolve()
          },
        }),
    })
    expect(await scene.run()).toBe(1)
    expect(isClosed).toBe(true)
    expect(scene.complaints).toEqual(['sluice: Cannot open the checkpoint x: it is broken.'])
  })

  it('tells an unexpected error in one line, and the stack only when debugging', async () => {
    const error = new Error('broken\nin two lines')
    const scene = createScene({ createServer: failWith(error) })
    expect(await scene.run()).toBe(1)
    expect(scene.complaints).toEqual(['sluice: unexpected error: broken (SLUICE_LOG_LEVEL=debug shows more)'])
    const debugging = createScene({ createServer: failWith(error) })
    expect(await debugging.run('--log-level', 'debug')).toBe(1)
    expect(debugging.complaints.join('\n')).toContain('run.test.ts')
  })
})
