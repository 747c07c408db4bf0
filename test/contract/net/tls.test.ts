/** TLS in front of the app: who gets in, who does not, and that a new certificate costs nobody the connection. */
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../src/core/clock.ts'
import { GracefulClose } from '../../../src/net/connections/graceful-close.ts'
import { readCertificate } from '../../../src/net/tls/certificate.ts'
import { SecureConnections, type SecureConnectionsOptions } from '../../../src/net/tls/secure-connections.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { openSocket, postBytes, readAnswer } from '../../support/net/raw-http.ts'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'
import { certificateOf, openSecureSocket, secureFetch } from '../../support/net/tls-client.ts'
import { pairOf, VALID_UNIX_SECONDS, type PairName } from '../../support/net/tls-files.ts'

const readPair = (name: PairName) => readCertificate(pairOf(name), new VirtualClock(VALID_UNIX_SECONDS))

async function createSecureApp(options: Partial<SecureConnectionsOptions> = {}) {
  const testApp = createTestApp()
  const graceful = new GracefulClose(testApp.app.server)
  const logLines: Record<string, unknown>[] = []
  const secure = new SecureConnections(testApp.app.server, {
    certificate: await readPair('first'),
    log: createLog({ destination: { write: (line) => void logLines.push(JSON.parse(line)) } }),
    ...options,
  })
  const port = await testApp.listen()
  return { ...testApp, graceful, secure, logLines, port }
}

const HEALTH = 'GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n'

/** Everything that comes until the connection is closed. */
function readToClose(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    socket.once('close', () => resolve(received))
  })
}

describe('a server with TLS', () => {
  it('answers requests, and errors of HTTP itself, over TLS', async () => {
    const { port } = await createSecureApp()

    const answer = await secureFetch({ port, path: '/v1/generate', secret: KEY, body: { prompt: 'hi' } })
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, { generated_text: 'hi' }])
    expect((await secureFetch({ port, path: '/v1/nothing' })).status).toBe(404)
    for (const bytes of ['garbage\r\n\r\n', 'GET / HTTP/1.1\r\nbad header\r\n\r\n']) {
      const socket = await openSecureSocket(port)
      const malformed = readAnswer(socket)
      socket.write(bytes)
      expect(await malformed).toMatchObject({ status: 400, headers: { 'x-error-code': 'malformed_request' } })
    }
  })

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('speaks %s, and HTTP/1.1 in it', async (version) => {
    const { port } = await createSecureApp()

    const socket = await openSecureSocket(port, {
      minVersion: version,
      maxVersion: version,
      ALPNProtocols: ['h2', 'http/1.1'],
    })

    expect([socket.getProtocol(), socket.alpnProtocol]).toEqual([version, 'http/1.1'])
  })

  it('refuses older versions', async () => {
    const { port } = await createSecureApp()

    await expect(
      openSecureSocket(port, {
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT:@SECLEVEL=0',
      }),
    ).rejects.toThrow()
  })

  it('closes a connection that speaks no TLS, without a word of HTTP or a line of the log', async () => {
    const { port, logLines, secure } = await createSecureApp()

    for (const bytes of [
      HEALTH,
      '\r\n',
      '\u0016\u0003\u0001\u00ff\u00ff'.repeat(1000),
      '\0'.repeat(100_000),
    ]) {
      const socket = await openSocket(port)
      const received = readToClose(socket)
      socket.write(Buffer.from(bytes, 'latin1'))
      socket.end()
      expect(await received).not.toContain('HTTP')
    }

    expect(logLines).toEqual([])
    expect((await secureFetch({ port, path: '/v1/health' })).status).toBe(200)
    expect(secure.handshakeCount).toBe(0)
  })

  it('closes a connection that says nothing, or never finishes to shake hands', async () => {
    const { app, port, secure } = await createSecureApp({ handshakeTimeoutMs: 50 })
    const closedHere: Promise<unknown>[] = []
    app.server.on('connection', (socket: Socket) => {
      closedHere.push(new Promise((resolve) => socket.once('close', resolve)))
    })
    const silent = await openSocket(port)
    const slow = await openSocket(port)
    const closed = [readToClose(silent), readToClose(slow)]
    slow.write(Buffer.from([0x16, 0x03, 0x01]))

    expect(await Promise.all(closed)).toEqual(['', ''])
    await Promise.all(closedHere)
    expect(secure.handshakeCount).toBe(0)
  })

  it('forgets the handshake of a connection that is through, or gone', async () => {
    const { port, secure, app } = await createSecureApp({ handshakeTimeoutMs: 600_000 })
    const accepted = () => new Promise((resolve) => void app.server.once('connection', resolve))

    const isAccepted = accepted()
    const gone = await openSocket(port)
    const raw = (await isAccepted) as Socket
    expect(secure.handshakeCount).toBe(1)
    const isClosed = new Promise((resolve) => raw.once('close', resolve))
    gone.destroy()
    await isClosed
    expect(secure.handshakeCount).toBe(0)

    for (let i = 0; i < 20; i++) await secureFetch({ port, path: '/v1/health' })
    expect(secure.handshakeCount).toBe(0)
  })

  it('closes without waiting for those that still shake hands', async () => {
    const { port, secure, app, graceful } = await createSecureApp({ handshakeTimeoutMs: 600_000 })
    const isAccepted = new Promise((resolve) => void app.server.once('connection', resolve))
    const silent = await openSocket(port)
    const closed = readToClose(silent)
    const idle = await openSecureSocket(port)
    await isAccepted

    secure.close()
    await graceful.drain(1000)
    await graceful.close()

    expect(await closed).toBe('')
    expect(idle.destroyed || (await readToClose(idle)) === '').toBe(true)
  })
})

describe('a certificate that is replaced', () => {
  it('is shown to new connections, while those that stand go on', async () => {
    const { port, secure } = await createSecureApp()
    const socket = await openSecureSocket(port)
    socket.write(HEALTH)
    expect((await readAnswer(socket)).status).toBe(200)
    expect(await certificateOf(port)).toBe('sluice test first')

    secure.use(await readPair('second'))

    expect(await certificateOf(port)).toBe('sluice test second')
    socket.write(HEALTH)
    expect((await readAnswer(socket)).status).toBe(200)
    expect(socket.getPeerCertificate().subject.CN).toBe('sluice test first')
  })

  it('loses no byte of an answer that is under way, nor a request that is half sent', async () => {
    const { port, secure } = await createSecureApp()
    const prompt = 'a story '.repeat(2000)
    const bytes = postBytes('/v1/generate', { prompt }, KEY)
    const half = await openSecureSocket(port)
    half.write(bytes.slice(0, 5000))
    const replaced: Promise<void>[] = []
    const streams = Array.from({ length: 8 }, () =>
      secureFetch({ port, path: '/v1/generate/stream', secret: KEY, body: { prompt } }, () => {
        if (replaced.length === 0) replaced.push(readPair('second').then((pair) => secure.use(pair)))
      }),
    )

    const answers = await Promise.all(streams)
    await Promise.all(replaced)
    const answer = readAnswer(half)
    half.write(bytes.slice(5000))

    for (const { text } of answers)
      expect(text).toMatch(/"finish_reason":"(?:stop|length)"[^]*data: \[DONE\]\n\n$/)
    expect((await answer).status).toBe(200)
    expect(await certificateOf(port)).toBe('sluice test second')
  })
})
