/** The network's guards in the built program: how it starts, what it refuses to start with, what it does meanwhile. */
import { lookup } from 'node:dns/promises'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { freePorts } from '../support/net/free-ports.ts'
import { knockAll, statusFrom } from '../support/net/knocking.ts'
import {
  enginePids,
  KEY,
  logged,
  type RunningServerProcess,
  spawnServer,
  startDemoServer,
  startServer,
  temporaryFolder,
} from '../support/servers/server-process.ts'
import { certificateOf, openSecureSocket, secureFetch } from '../support/net/tls-client.ts'
import { createTlsFolder, fixture, pairOf, type TlsFolder } from '../support/net/tls-files.ts'
import { shared } from '../support/shared.ts'
import { until } from '../support/until.ts'

const REPLACED = 'the TLS certificate was replaced'
const KEPT = 'the TLS files cannot be used; the certificate from before goes on serving'

const tlsWords = ({ certfile, keyfile }: Pick<TlsFolder, 'certfile' | 'keyfile'>) => [
  '--tls-certfile',
  certfile,
  '--tls-keyfile',
  keyfile,
]

const portOf = ({ address }: RunningServerProcess) => Number(new URL(address).port)

it('a start with a certificate that cannot be used is refused with one line that names it', async () => {
  const { certfile } = pairOf('first')
  const { keyfile } = pairOf('second')
  const server = spawnServer(['--api-keys', KEY, ...tlsWords({ certfile, keyfile })])
  expect(await server.ended).toMatchObject({ code: 1 })
  expect(server.stdout).toEqual([])
  expect(server.stderr).toEqual([
    `sluice: --tls-keyfile '${keyfile}' is not the key of the certificate in --tls-certfile '${certfile}'.`,
  ])
})

const [FIRST_KEY, SECOND_KEY] = ['the-first-admin-key', 'the-second-admin-key']

describe('a server with TLS', () => {
  /** Of the tests down to the one that stops it. */
  const scene = shared(async () => {
    const adminKeys = path.join(temporaryFolder(), 'keys')
    const write = (...keys: string[]) => writeFileSync(adminKeys, keys.map((key) => `${key}\n`).join(''))
    write(FIRST_KEY)
    const tls = createTlsFolder()
    const server = await startDemoServer([...tlsWords(tls), '--admin-key', `@${adminKeys}`])
    return { server, tls, port: portOf(server), write }
  })
  /** What each admin key is answered. */
  const asAdmins = async () =>
    await Promise.all(
      [FIRST_KEY, SECOND_KEY].map((secret) =>
        secureFetch({ port: scene().port, path: '/v1/admin/status', secret }),
      ),
    )
  const replacements = () => scene().server.stderr.filter((line) => line.includes(REPLACED)).length

  it('takes another admin key at SIGHUP beside the first, then alone, and keeps it where the file cannot be used', async () => {
    const { server, write } = scene()
    const statuses = async () => (await asAdmins()).map(({ status }) => status)
    expect(await statuses()).toEqual([200, 401])

    write(FIRST_KEY, SECOND_KEY)
    server.child.kill('SIGHUP')
    await logged(server, 'the admin keys were replaced', ({ count }) => count === 2)
    expect(await statuses()).toEqual([200, 200])

    write(SECOND_KEY)
    server.child.kill('SIGHUP')
    await logged(server, 'the admin keys were replaced', ({ count }) => count === 1)
    expect(await statuses()).toEqual([401, 200])

    write()
    server.child.kill('SIGHUP')
    const { problem } = await logged(server, 'the admin keys cannot be read; those from before stay valid')
    expect(problem).toBe('--admin-key names a file after @, but it holds no secret.')
    expect(await statuses()).toEqual([401, 200])
  })

  it('takes a new certificate at SIGHUP, and keeps the old one rather than a wrong one', async () => {
    const { server, tls, port } = scene()
    expect(server.address).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(await certificateOf(port)).toBe('sluice test first')

    tls.replace('key', fixture('second.key'))
    server.child.kill('SIGHUP')
    const { level, problem } = await logged(server, KEPT)
    expect([level, problem]).toEqual(['warn', expect.stringMatching(/^--tls-keyfile .* is not the key /)])
    expect(await certificateOf(port)).toBe('sluice test first')

    tls.replace('cert', fixture('second.crt'))
    server.child.kill('SIGHUP')
    await logged(server, REPLACED)
    expect(await certificateOf(port)).toBe('sluice test second')
    const { text } = (await asAdmins()).find(({ status }) => status === 200) ?? { text: '{}' }
    const certificate_expires_at = Date.parse('2120-01-01T00:00:00Z') / 1000
    expect(JSON.parse(text)).toMatchObject({ certificate_expires_at })
  })

  it('replaces its certificate by itself under eight running streams and loses none', async () => {
    const { server, tls, port } = scene()
    const body = { prompt: 'Once upon a time', max_new_tokens: 1500, temperature: 0.01 }
    const begun = new Set<number>()
    let allBegun = () => {}
    const eightBegun = new Promise<void>((resolve) => {
      allBegun = resolve
    })
    let ended = 0
    const streams = Array.from({ length: 8 }, async (_, index) => {
      const answer = await secureFetch({ port, path: '/v1/generate/stream', secret: KEY, body }, () => {
        begun.add(index)
        if (begun.size === 8) allBegun()
      })
      ended++
      return answer
    })
    await eightBegun
    const [engine = 0] = enginePids(server)
    // However fast the machine is, no stream ends before the certificate is replaced.
    process.kill(engine, 'SIGSTOP')

    const before = replacements()
    const other = (await certificateOf(port)).endsWith('first') ? 'second' : 'first'
    tls.replace('cert', fixture(`${other}.crt`))
    tls.replace('key', fixture(`${other}.key`))
    await until('the certificate is replaced', () => replacements() > before)
    expect(ended).toBe(0)
    expect(await certificateOf(port)).toBe(`sluice test ${other}`)
    process.kill(engine, 'SIGCONT')

    for (const { status, text } of await Promise.all(streams)) {
      expect(status).toBe(200)
      expect(text).toMatch(/"finish_reason":"(?:stop|length)"[^]*data: \[DONE\]\n\n$/)
    }
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })
})

it('a server that wants knocking lets in who has knocked, also on TLS, and nobody else, at every address of its host', async () => {
  const ports = await freePorts(3)
  const words = ['--host', 'localhost', '--port-knock', ports.join(',')]
  const server = await startServer([...tlsWords(pairOf('first')), ...words])
  const port = portOf(server)
  const call = { port, path: '/v1/health', localAddress: '127.0.0.2' }

  for (const { address: host } of await lookup('localhost', { all: true })) {
    await expect(openSecureSocket(port, { host })).rejects.toMatchObject({ code: 'ECONNRESET' })
  }
  await expect(secureFetch(call)).rejects.toThrow()
  await knockAll(ports, '127.0.0.2')

  expect((await secureFetch(call)).status).toBe(200)
  await expect(secureFetch({ ...call, localAddress: '127.0.0.3' })).rejects.toThrow()
  server.child.kill('SIGTERM')
  expect(await server.ended).toEqual({ code: 0, signal: null })
})

describe('address rules', () => {
  it('let in who is allowed, and refuse all else, through a trusted proxy too', async () => {
    const server = await startServer([
      '--cidr-allow',
      '127.0.0.0/30,203.0.113.0/24',
      '--cidr-deny',
      '127.0.0.3',
      '--trusted-proxies',
      '127.0.0.2',
    ])
    const port = portOf(server)

    expect(await statusFrom(port, '127.0.0.1')).toBe(200)
    expect(await statusFrom(port, '127.0.0.3')).toBe(403)
    expect(await statusFrom(port, '127.0.0.4')).toBe(403)
    const through = (localAddress: string, forwardedFor: string) =>
      statusFrom(port, localAddress, `x-forwarded-for: ${forwardedFor}\r\n`)
    expect(await through('127.0.0.2', '203.0.113.7')).toBe(200)
    expect(await through('127.0.0.2', '203.0.113.7, 198.51.100.1')).toBe(403)
    expect(await through('127.0.0.4', '203.0.113.7')).toBe(403)
  })
})
