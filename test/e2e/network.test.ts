/** The network's guards in the built program: how it starts, what it refuses to start with, what it does meanwhile. */
import { lookup } from 'node:dns/promises'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePorts } from '../support/net/free-ports.ts'
import { knockAll, statusFrom } from '../support/net/knocking.ts'
import {
  enginePids,
  KEY,
  logged,
  post,
  type RunningServerProcess,
  spawnServer,
  startDemoServer,
  startServer,
} from '../support/servers/server-process.ts'
import { certificateOf, secureFetch } from '../support/net/tls-client.ts'
import { createTlsFolder, fixture, pairOf, type TlsFolder } from '../support/net/tls-files.ts'

const REPLACED = 'the TLS certificate was replaced'
const KEPT = 'the TLS files cannot be used; the certificate from before goes on serving'

const tlsWords = ({ certfile, keyfile }: Pick<TlsFolder, 'certfile' | 'keyfile'>) => [
  '--tls-certfile',
  certfile,
  '--tls-keyfile',
  keyfile,
]

const portOf = ({ address }: RunningServerProcess) => Number(new URL(address).port)

/** Starts it in vain; gives the one line it says. */
async function refusal(...words: string[]): Promise<{ code: number | null; line: string }> {
  const { ended, stdout, stderr } = spawnServer(['--api-keys', KEY, ...words])
  const { code } = await ended
  expect(stdout).toEqual([])
  expect(stderr).toHaveLength(1)
  return { code, line: stderr[0] ?? '' }
}

describe('a start that is refused', () => {
  it('says which option is wrong', async () => {
    expect(await refusal('--port', '7001', '--port-knock', '7000,7001')).toEqual({
      code: 2,
      line: 'sluice: --port-knock must not name 7001, which is the --port of the server.',
    })
  })

  it('names the certificate that cannot be used', async () => {
    const { certfile, keyfile } = pairOf('first')
    const other = pairOf('second').keyfile
    const expired = fixture('expired.crt')

    expect(await refusal(...tlsWords({ certfile, keyfile: other }))).toEqual({
      code: 1,
      line: `sluice: --tls-keyfile '${other}' is not the key of the certificate in --tls-certfile '${certfile}'.`,
    })
    expect(await refusal(...tlsWords({ certfile: expired, keyfile }))).toEqual({
      code: 1,
      line: `sluice: --tls-certfile '${expired}' has expired: it ended Feb  1 00:00:00 2020 GMT.`,
    })
  })

  it('names the knock port that is in use', async () => {
    const other = createServer()
    onTestFinished(() => void other.close())
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo

    expect(await refusal('--port-knock', String(port))).toEqual({
      code: 1,
      line: `sluice: --port-knock: the port ${port} is in use by another program; choose another.`,
    })
  })
})

describe('SIGHUP', () => {
  it('ends neither a server without TLS nor its engine', async () => {
    const server = await startDemoServer()
    const before = enginePids(server)

    server.child.kill('SIGHUP')
    for (const pid of before) process.kill(pid, 'SIGHUP')
    const answer = await post(server, '/v1/generate', { body: { prompt: 'Once', max_new_tokens: 4 } })

    expect(answer.status).toBe(200)
    expect(enginePids(server)).toEqual(before)
  })

  it('takes another admin key beside the first, then alone, and keeps it where the file cannot be used', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sluice-admin-keys-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'keys')
    const [first, second] = ['the-first-admin-key', 'the-second-admin-key']
    const write = (...keys: string[]) => writeFileSync(file, keys.map((key) => `${key}\n`).join(''))
    write(first)
    const server = await startServer(['--admin-key', `@${file}`])
    const statuses = async () =>
      await Promise.all(
        [first, second].map(async (key) => {
          const headers = { authorization: `Bearer ${key}` }
          return (await fetch(`${server.address}/v1/admin/keys`, { headers })).status
        }),
      )
    expect(await statuses()).toEqual([200, 401])

    write(first, second)
    server.child.kill('SIGHUP')
    await logged(server, 'the admin keys were replaced', ({ count }) => count === 2)
    expect(await statuses()).toEqual([200, 200])

    write(second)
    server.child.kill('SIGHUP')
    await logged(server, 'the admin keys were replaced', ({ count }) => count === 1)
    expect(await statuses()).toEqual([401, 200])

    write()
    server.child.kill('SIGHUP')
    const { problem } = await logged(server, 'the admin keys cannot be read; those from before stay valid')
    expect(problem).toBe('--admin-key names a file after @, but it holds no secret.')
    expect(await statuses()).toEqual([401, 200])
  })

  it('takes a new certificate, and keeps the old one rather than a wrong one', async () => {
    const tls = createTlsFolder()
    const secret = 'admin-key-of-this-test'
    const server = await startServer([...tlsWords(tls), '--admin-key', secret])
    const port = portOf(server)
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
    const status = JSON.parse((await secureFetch({ port, path: '/v1/admin/status', secret })).text)
    expect(status).toMatchObject({ certificate_expires_at: Date.parse('2120-01-01T00:00:00Z') / 1000 })
  })
})

describe('a server with TLS', () => {
  it('replaces its certificate under eight running streams and loses none', async () => {
    const tls = createTlsFolder()
    const server = await startDemoServer(tlsWords(tls))
    const port = portOf(server)
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

    tls.replace('cert', fixture('second.crt'))
    tls.replace('key', fixture('second.key'))
    await logged(server, REPLACED)
    expect(ended).toBe(0)
    expect(await certificateOf(port)).toBe('sluice test second')
    process.kill(engine, 'SIGCONT')

    for (const { status, text } of await Promise.all(streams)) {
      expect(status).toBe(200)
      expect(text).toMatch(/"finish_reason":"(?:stop|length)"[^]*data: \[DONE\]\n\n$/)
    }
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })
})

describe('a server that wants knocking', () => {
  it('lets in who has knocked, also on TLS, and nobody else', async () => {
    const ports = await freePorts(3)
    const server = await startServer([...tlsWords(pairOf('first')), '--port-knock', ports.join(',')])
    const port = portOf(server)
    const call = { port, path: '/v1/health', localAddress: '127.0.0.2' }

    await expect(secureFetch(call)).rejects.toThrow()
    await knockAll(ports, '127.0.0.2')

    expect((await secureFetch(call)).status).toBe(200)
    await expect(secureFetch({ ...call, localAddress: '127.0.0.3' })).rejects.toThrow()
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  it('is closed at every address that its host stands for', async () => {
    const ports = await freePorts(1)
    const server = await startServer(['--host', 'localhost', '--port-knock', ports.join(',')])
    const port = portOf(server)

    for (const { address } of await lookup('localhost', { all: true })) {
      const received = await new Promise<string>((resolve) => {
        let text = ''
        const socket = connect(port, address, () =>
          socket.write('GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n'),
        )
        socket.on('data', (chunk) => {
          text += chunk.toString('latin1')
        })
        socket.on('error', () => {})
        socket.once('close', () => resolve(text))
      })
      expect(received).toBe('')
    }
  })
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
