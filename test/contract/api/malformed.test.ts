/** Bytes that are no proper request, over a real socket, on both servers: always our JSON body, never Node's. */
import { once } from 'node:events'
import { METHODS } from 'node:http'
import { describe, expect, it } from 'vitest'
import { MAX_BODY_BYTES } from '../../../src/net/requests/read-body.ts'
import { exchange, openSocket, readAnswer, type RawAnswer } from '../../support/net/raw-http.ts'
import { SERVERS } from '../../support/servers/both-servers.ts'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

function expectError(answer: RawAnswer, status: number, code: string): void {
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer.headers['x-error-code']).toBe(code)
  // It quotes what was asked for.
  expect(answer.headers['x-content-type-options']).toBe('nosniff')
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
  const server = shared(() => start())
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
      ['nested without end', withBody('['.repeat(60_000)), 'malformed_json'],
      ['nested without end, and large', withBody('['.repeat(200_000)), 'invalid_request'],
      ['of too many values', withBody(`{"prompt":"a","x":[${'{},'.repeat(50_000)}0]}`), 'invalid_request'],
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
      [
        'that is empty and chunked, of a type that is none',
        `${POST}content-type: nonsense\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
        'invalid_request',
      ],
    ])('%s is 400', async (_, bytes, code) => {
      expectError(await exchange(server().port, bytes), 400, code)
    })

    it.each([
      [50, 200],
      [100, 200],
      [101, 400],
      [10_000, 400],
      [1_000_000, 400],
    ])('of %i levels, in a field nobody knows, is %i', async (levels, status) => {
      const [open, close] = ['['.repeat(levels - 1), ']'.repeat(levels - 1)]
      const answer = await exchange(server().port, withBody(`{"prompt":"a","x":${open}${close}}`))

      expect(answer.status).toBe(status)
      if (status === 400) expect(answer.headers['x-error-code']).toBe('invalid_request')
    })

    it.each([
      ['temperature', '1e999', 400],
      ['temperature', '-1e999', 400],
      ['max_new_tokens', '1e999', 400],
      ['temperature', '-0', 400],
      ['temperature', '1e-999', 400],
      ['top_p', '-0', 200],
      ['top_k', '-0', 200],
      ['max_new_tokens', '1e0', 200],
      ['max_new_tokens', '9007199254740993', 400],
      ['anything', '1e999', 200],
    ])('with the number %s %s is %i', async (field, number, status) => {
      const body = `{"prompt":"a","${field}":${number}}`

      expect((await exchange(server().port, withBody(body))).status).toBe(status)
    })

    it('that names a field twice counts by the last', async () => {
      const port = server().port

      const last = await exchange(port, withBody('{"prompt":"first","prompt":"last"}'))
      const wrong = await exchange(port, withBody('{"prompt":"first","prompt":7}'))

      expect(JSON.parse(last.body).generated_text).toBe('last')
      expect(wrong.status).toBe(400)
    })

    it.each(['{"__proto__":{"prompt":"a"}}', '{"constructor":{"prototype":{"prompt":"a"}}}'])(
      'gives no object what it does not have: %s',
      async (body) => {
        const port = server().port

        expectError(await exchange(port, withBody(body)), 400, 'invalid_request')
        expect(({} as { prompt?: string }).prompt).toBeUndefined()
        const also = await exchange(port, withBody(`{"prompt":"a","x":${body},${body.slice(1)}`))
        expect(also.status).toBe(200)
      },
    )

    it.each(['"\\ud800"', '"a\\udc00b"', '"\\udc00\\ud800"'])(
      'with the lone surrogate %s is 400',
      async (text) => {
        const port = server().port

        expectError(await exchange(port, withBody(`{"prompt":${text}}`)), 400, 'invalid_request')
      },
    )

    it('with a prompt of 1 MB is answered', async () => {
      const port = server().port
      const body = JSON.stringify({ prompt: 'é'.repeat(500_000), max_new_tokens: 1 })

      const answer = await exchange(port, withBody(body))

      expect(answer.status).toBe(200)
      expect(JSON.parse(answer.body).prompt_tokens).toBe(1_000_000)
    })

    it('over 8 MiB is 400', async () => {
      const port = server().port

      expectError(await exchange(port, withBody('x'.repeat(MAX_BODY_BYTES + 1))), 400, 'body_too_large')
    })

    it('over 8 MiB in chunks is 400', async () => {
      const socket = await openSocket(server().port)
      const answer = readAnswer(socket)

      socket.write(`${POST}${JSON_TYPE}transfer-encoding: chunked\r\n\r\n`)
      const size = 1024 * 1024
      for (let sent = 0; sent <= MAX_BODY_BYTES; sent += size)
        socket.write(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`)
      socket.write('0\r\n\r\n')

      expectError(await answer, 400, 'body_too_large')
    })

    it('of exactly 8 MiB is read', async () => {
      const port = server().port
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
      ['two Hosts', 'GET /v1/health HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n'],
      ['two Hosts that agree', 'GET /v1/health HTTP/1.1\r\nhost: x\r\nHost: x\r\n\r\n'],
      ['two credentials', `GET /v1/models HTTP/1.1\r\nhost: x\r\n${AUTH}authorization: Bearer other\r\n\r\n`],
      ['two lengths that agree', withBody('{"prompt":"a"}', `${JSON_TYPE}content-length: 14\r\n`)],
      ['a list of lengths', `${POST}${JSON_TYPE}content-length: 2, 2\r\n\r\n{}`],
      ['a length with a sign', `${POST}${JSON_TYPE}content-length: +2\r\n\r\n{}`],
      ['a length in hex', `${POST}${JSON_TYPE}content-length: 0x2\r\n\r\n{}`],
      ['a header over two lines', 'GET /v1/health HTTP/1.1\r\nhost: x\r\na: b\r\n c\r\n\r\n'],
      ['bare line feeds', 'GET /v1/health HTTP/1.1\nhost: x\n\n'],
      ['a control character in the path', 'GET /v1/\x01health HTTP/1.1\r\nhost: x\r\n\r\n'],
      ['3,000 headers', `GET /v1/health HTTP/1.1\r\nhost: x\r\n${'abc: d\r\n'.repeat(3000)}\r\n`],
      ['two lengths', `${POST}content-length: 1\r\ncontent-length: 2\r\n\r\n`],
      ['a length and chunks', `${POST}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
      ['a bad chunk', `${POST}${JSON_TYPE}transfer-encoding: chunked\r\n\r\nzz\r\n`],
      ['a bad escape in the path', `GET /v1/models/%zz HTTP/1.1\r\nhost: x\r\n${AUTH}\r\n`],
      ['a star before a path', 'GET *v1/health HTTP/1.1\r\nhost: x\r\n\r\n'],
      ['a star for a path', 'GET * HTTP/1.1\r\nhost: x\r\n\r\n'],
      ['a fragment', 'GET /v1/health# HTTP/1.1\r\nhost: x\r\n\r\n'],
      ['a fragment that is a file', 'GET /v1/health#.png HTTP/1.1\r\nhost: x\r\n\r\n'],
      ['a fragment behind a query', 'GET /v1/health?x=1#y HTTP/1.1\r\nhost: x\r\n\r\n'],
    ])('%s is 400', async (_, bytes) => {
      expectError(await exchange(server().port, bytes), 400, 'malformed_request')
    })

    const CHUNKED = 'transfer-encoding: chunked\r\n'

    it.each([
      ['a length before chunks', `content-length: 6\r\n${CHUNKED}`],
      ['a length after chunks', `${CHUNKED}content-length: 6\r\n`],
      ['chunks twice', CHUNKED + CHUNKED],
      ['chunks, then none', `${CHUNKED}transfer-encoding: identity\r\n`],
      ['chunks in a list', 'transfer-encoding: identity, chunked\r\n'],
      ['chunks that are compressed', 'transfer-encoding: gzip, chunked\r\n'],
      ['chunks that are not the last', 'transfer-encoding: chunked, identity\r\n'],
      ['chunks in another word', 'transfer-encoding: xchunked\r\n'],
      ['chunks behind a control character', 'transfer-encoding: \x0bchunked\r\n'],
      ['a space before the colon', 'transfer-encoding : chunked\r\n'],
      ['no encoding', 'transfer-encoding: identity\r\n'],
    ])('%s is 400, and what follows is no request', async (_, headers) => {
      const socket = await openSocket(server().port)
      let received = ''
      socket.on('data', (chunk) => (received += chunk.toString()))

      socket.write(`${POST}${JSON_TYPE}${headers}\r\n0\r\n\r\nGET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n`)
      await once(socket, 'close')

      expect(received).toMatch(/^HTTP\/1\.1 400 /)
      expect(received).not.toContain('HTTP/1.1 200')
    })

    it.each(['0.9', '2.0'])('HTTP/%s in the form of HTTP/1.1 is 400', async (version) => {
      const answer = await exchange(server().port, `GET /v1/health HTTP/${version}\r\nhost: x\r\n\r\n`)

      expectError(answer, 400, 'malformed_request')
    })

    it('HTTP/2 is 400, and is told the version', async () => {
      const answer = await exchange(server().port, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

      expectError(answer, 400, 'malformed_request')
      expect(JSON.parse(answer.body).detail).toContain('its version is HTTP/2.0,')
    })

    it('CONNECT is told at most 200 characters of what it asked for', async () => {
      const answer = await exchange(server().port, `CONNECT ${'x'.repeat(300)}:1 HTTP/1.1\r\nhost: x\r\n\r\n`)

      expectError(answer, 404, 'not_found')
      expect(JSON.parse(answer.body).detail).toMatch(/ CONNECT x{200}[^x]+$/)
    })

    it('chunks with HTTP/1.0 are 400', async () => {
      const bytes = `POST /v1/generate HTTP/1.0\r\n${AUTH}${JSON_TYPE}${CHUNKED}\r\n0\r\n\r\n`

      expectError(await exchange(server().port, bytes), 400, 'malformed_request')
    })

    it('a body that breaks off is 400', async () => {
      const port = server().port
      const bytes = withBody('{"prompt":"a"}')

      expectError(await exchange(port, bytes.subarray(0, -3), { end: true }), 400, 'malformed_request')
    })

    it('a request that does not arrive in time is 400', async () => {
      const { port, httpServer } = server()
      const timedOut = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      httpServer.once('connection', (socket) => void httpServer.emit('clientError', timedOut, socket))

      const answer = await exchange(port, 'GET /v1/')

      expectError(answer, 400, 'malformed_request')
      expect(JSON.parse(answer.body).detail).toContain('in time')
    })

    it('does not disturb the server', async () => {
      const port = server().port
      await exchange(port, 'nonsense\r\n\r\n')

      expect((await exchange(port, 'GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n')).status).toBe(200)
    })
  })

  describe('methods', () => {
    it.each(METHODS.filter((method) => !['GET', 'HEAD'].includes(method)))(
      '%s /v1/health is 404',
      async (method) => {
        const port = server().port

        const answer = await exchange(
          port,
          `${method} /v1/health HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`,
        )

        expectError(answer, 404, 'not_found')
      },
    )

    it.each(['BREW', 'FOO-BAR'])('%s, which nobody knows, is 404', async (method) => {
      const port = server().port

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
      expect((await exchange(server().port, bytes)).status).toBe(200)
    })
  })

  describe('a broken request to a route shaped like OpenAI’s', () => {
    it.each([
      ['an unknown method', `BREW /v1/models HTTP/1.1\r\nhost: x\r\nx-request-id: mine-1\r\n\r\n`],
      ['CONNECT', `CONNECT /v1/models HTTP/1.1\r\nhost: x\r\nx-request-id: mine-1\r\n\r\n`],
    ])('%s has the error object and keeps its id', async (_, bytes) => {
      expectOpenAiError(await exchange(server().port, bytes), 404)
    })
  })
})

it('a bad chunk for a route shaped like OpenAI’s has the error object and keeps its id', async () => {
  const bytes =
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n` +
    'x-request-id: mine-1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'

  expectOpenAiError(await exchange(await createTestApp().listen(), bytes), 400)
})
