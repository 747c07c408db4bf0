/** Bytes that are no proper request, over a real socket, on both servers: always our JSON body, never Node's. */
import { METHODS } from 'node:http'
import { describe, expect, it } from 'vitest'
import { MAX_BODY_BYTES } from '../../src/http/json-body.ts'
import { exchange, openSocket, readAnswer, type RawAnswer } from '../support/raw-http.ts'
import { SERVERS } from '../support/both-servers.ts'
import { createTestApp, KEY } from '../support/test-app.ts'

function expectError(answer: RawAnswer, status: number, code: string): void {
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer.headers['x-error-code']).toBe(code)
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{24}$/)
  expect(JSON.parse(answer.body)).toMatchObject({ detail: expect.stringMatching(/^[^\n]+$/) })
}

function expectOpenAiError(answer: RawAnswer, status: number): void {
  expect(answer.status).toBe(status)
  expect(answer.headers['x-request-id']).toBe('mine-1')
  const { detail, error } = JSON.parse(answer.body)
  expect(error).toMatchObject({ message: detail, type: 'invalid_request_error' })
}

describe.each(SERVERS)('$name', ({ key, start }) => {
  const AUTH = `authorization: Bearer ${key}\r\n`
  const POST = `POST /v1/generate HTTP/1.1\r\nhost: x\r\n${AUTH}`
  const JSON_TYPE = 'content-type: application/json\r\n'

  function withBody(body: string | Buffer, headers = JSON_TYPE): Buffer {
    const bytes = Buffer.from(body)
    return Buffer.concat([Buffer.from(`${POST}${headers}content-length: ${bytes.length}\r\n\r\n`), bytes])
  }

  describe('a body', () => {
    it.each([
      ['cut off', withBody('{"prompt":'), 'malformed_json'],
      ['with a comment', withBody('{"prompt":"a"} // x'), 'malformed_json'],
      ['that is no JSON', withBody('prompt=a'), 'malformed_json'],
      ['in bad UTF-8', withBody(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])), 'malformed_json'],
      [
        'with a cut UTF-8 character',
        withBody(Buffer.from('{"prompt":"é"}').subarray(0, 12)),
        'malformed_json',
      ],
      ['in UTF-16', withBody(Buffer.from('{"prompt":"a"}', 'utf16le')), 'malformed_json'],
      ['of NULs', withBody(Buffer.alloc(10)), 'malformed_json'],
      ['nested without end', withBody('['.repeat(200_000)), 'malformed_json'],
      [
        'of another type',
        withBody('{"prompt":"a"}', 'content-type: text/plain\r\n'),
        'unsupported_media_type',
      ],
      [
        'of a type that is none',
        withBody('{"prompt":"a"}', 'content-type: nonsense\r\n'),
        'unsupported_media_type',
      ],
      ['of no type', withBody('{"prompt":"a"}', ''), 'unsupported_media_type'],
      [
        'as a form',
        withBody('prompt=a', 'content-type: application/x-www-form-urlencoded\r\n'),
        'unsupported_media_type',
      ],
      [
        'that says it is compressed',
        withBody('{"prompt":"a"}', `${JSON_TYPE}content-encoding: gzip\r\n`),
        'malformed_request',
      ],
      ['that is empty, of another type', withBody('', 'content-type: text/plain\r\n'), 'invalid_request'],
      [
        'that is empty, of a type that is none',
        withBody('', 'content-type: nonsense\r\n'),
        'invalid_request',
      ],
      ['that is empty', withBody(''), 'invalid_request'],
      [
        'that is empty and chunked',
        `${POST}${JSON_TYPE}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
        'invalid_request',
      ],
    ])('%s is 400', async (_, bytes, code) => {
      expectError(await exchange((await start()).port, bytes), 400, code)
    })

    it('of deep nesting in a field nobody knows does no harm', async () => {
      const deep = `{"prompt":"a","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`

      expect((await exchange((await start()).port, withBody(deep))).status).toBe(200)
    })

    it('over 8 MiB is 400, after it was read', async () => {
      const port = (await start()).port

      expectError(await exchange(port, withBody('x'.repeat(MAX_BODY_BYTES + 1))), 400, 'body_too_large')
    })

    it('over 8 MiB in chunks is 400', async () => {
      const socket = await openSocket((await start()).port)
      const answer = readAnswer(socket)

      socket.write(`${POST}${JSON_TYPE}transfer-encoding: chunked\r\n\r\n`)
      const size = 1024 * 1024
      for (let sent = 0; sent <= MAX_BODY_BYTES; sent += size)
        socket.write(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`)
      socket.write('0\r\n\r\n')

      expectError(await answer, 400, 'body_too_large')
    })

    it('of exactly 8 MiB is read', async () => {
      const port = (await start()).port
      const body = JSON.stringify({ prompt: '', padding: '' })
      const padded = body.replace('"padding":""', `"padding":"${'x'.repeat(MAX_BODY_BYTES - body.length)}"`)

      expect((await exchange(port, withBody(padded))).status).toBe(200)
    })
  })

  describe('a request that cannot be parsed', () => {
    it.each([
      ['no HTTP at all', 'hello there\r\n\r\n'],
      ['a TLS hello', Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0, 0, 1, 0])],
      ['another version', 'GET /v1/health HTTP/9.9\r\nhost: x\r\n\r\n'],
      ['a header without a colon', 'GET /v1/health HTTP/1.1\r\nhost: x\r\nnonsense\r\n\r\n'],
      ['a header name with a space', 'GET /v1/health HTTP/1.1\r\nhost: x\r\na b: c\r\n\r\n'],
      ['a NUL in a header', 'GET /v1/health HTTP/1.1\r\nhost: x\r\na: b\0c\r\n\r\n'],
      ['a header of 64 kB', `GET /v1/health HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(65_536)}\r\n\r\n`],
      ['a path of 64 kB', `GET /${'x'.repeat(65_536)} HTTP/1.1\r\nhost: x\r\n\r\n`],
      ['no Host', 'GET /v1/health HTTP/1.1\r\n\r\n'],
      ['a bad length', `${POST}content-length: -1\r\n\r\n`],
      ['two lengths', `${POST}content-length: 1\r\ncontent-length: 2\r\n\r\n`],
      ['a length and chunks', `${POST}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
      ['a bad chunk', `${POST}${JSON_TYPE}transfer-encoding: chunked\r\n\r\nzz\r\n`],
      ['a bad escape in the path', `GET /v1/models/%zz HTTP/1.1\r\nhost: x\r\n${AUTH}\r\n`],
    ])('%s is 400', async (_, bytes) => {
      expectError(await exchange((await start()).port, bytes), 400, 'malformed_request')
    })

    it('a body that breaks off is 400', async () => {
      const port = (await start()).port
      const bytes = withBody('{"prompt":"a"}')

      expectError(await exchange(port, bytes.subarray(0, -3), { end: true }), 400, 'malformed_request')
    })

    it('a request that does not arrive in time is 400', async () => {
      const { port, httpServer } = await start()
      const timedOut = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      httpServer.once('connection', (socket) => void httpServer.emit('clientError', timedOut, socket))

      const answer = await exchange(port, 'GET /v1/')

      expectError(answer, 400, 'malformed_request')
      expect(JSON.parse(answer.body).detail).toContain('in time')
    })

    it('does not disturb the server', async () => {
      const port = (await start()).port
      await exchange(port, 'nonsense\r\n\r\n')

      expect((await exchange(port, 'GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n')).status).toBe(200)
    })
  })

  describe('methods', () => {
    it.each(METHODS.filter((method) => !['GET', 'HEAD'].includes(method)))(
      '%s /v1/health is 404',
      async (method) => {
        const port = (await start()).port

        const answer = await exchange(
          port,
          `${method} /v1/health HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`,
        )

        expectError(answer, 404, 'not_found')
      },
    )

    it.each(['BREW', 'FOO-BAR'])('%s, which nobody knows, is 404', async (method) => {
      const port = (await start()).port

      expectError(await exchange(port, `${method} /v1/health HTTP/1.1\r\nhost: x\r\n\r\n`), 404, 'not_found')
    })
  })

  describe('odd but proper requests', () => {
    it.each([
      ['HTTP/1.0', 'GET /v1/health HTTP/1.0\r\n\r\n'],
      ['an unknown expectation', 'GET /v1/health HTTP/1.1\r\nhost: x\r\nexpect: cake\r\n\r\n'],
      [
        'an offer to upgrade',
        'GET /v1/health HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
      ],
      ['a GET with a body', 'GET /v1/health HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc'],
      ['an accept-version', 'GET /v1/health HTTP/1.1\r\nhost: x\r\naccept-version: 9.x\r\n\r\n'],
      [
        'a JSON type in capitals',
        withBody('{"prompt":"a"}', 'Content-Type: Application/JSON; charset=UTF-8\r\n'),
      ],
    ])('%s are answered', async (_, bytes) => {
      expect((await exchange((await start()).port, bytes)).status).toBe(200)
    })
  })

  describe('a broken request to a route shaped like OpenAI’s', () => {
    it.each([
      ['an unknown method', `BREW /v1/models HTTP/1.1\r\nhost: x\r\nx-request-id: mine-1\r\n\r\n`],
      ['CONNECT', `CONNECT /v1/models HTTP/1.1\r\nhost: x\r\nx-request-id: mine-1\r\n\r\n`],
    ])('%s has the error object and keeps its id', async (_, bytes) => {
      expectOpenAiError(await exchange((await start()).port, bytes), 404)
    })
  })
})

it('a bad chunk for a route shaped like OpenAI’s has the error object and keeps its id', async () => {
  const bytes =
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n` +
    'x-request-id: mine-1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'

  expectOpenAiError(await exchange(await createTestApp().listen(), bytes), 400)
})
