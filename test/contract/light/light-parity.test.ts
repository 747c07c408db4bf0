/** What both servers have in common they answer alike: one list of requests, sent to the full and to the light server. */
import { describe, expect, it } from 'vitest'
import { MAX_BODY_BYTES } from '../../../src/net/requests/read-body.ts'
import { createTestLightServer } from '../../support/servers/light-server.ts'
import { exchange, type RawAnswer } from '../../support/net/raw-http.ts'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const full = shared(async () => await createTestApp().listen())
const light = shared(async () => (await createTestLightServer().server.listen()).port)

/** Sends the same bytes to both, `<KEY>` being a key of each, and expects the same of both. */
async function expectSameAnswer(template: string | Buffer, { end = false } = {}): Promise<RawAnswer> {
  const bytes = Buffer.from(template).toString('latin1')
  const send = (port: number, key: string) =>
    exchange(port, Buffer.from(bytes.replace('<KEY>', key), 'latin1'), { end })
  const fullAnswer = await send(full(), KEY)
  const lightAnswer = await send(light(), 'sk-svc-0123')
  expect(comparable(lightAnswer)).toEqual(comparable(fullAnswer))
  return lightAnswer
}

const SHARED_HEADERS = ['content-type', 'content-length', 'www-authenticate', 'x-error-code', 'retry-after']

/** Without the headers that each writes in its own way. */
function comparable({ status, headers, body }: RawAnswer) {
  const shared = SHARED_HEADERS.map((name) => headers[name])
  return { status, shared, json: JSON.parse(body), requestIdCharacters: headers['x-request-id']?.length }
}

const AUTH = 'authorization: Bearer <KEY>\r\n'
const JSON_TYPE = 'content-type: application/json\r\n'

function request(line: string, headers = AUTH): string {
  return `${line} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`
}

function post(body: string | Buffer, headers = JSON_TYPE): Buffer {
  const bytes = Buffer.from(body)
  const length = `content-length: ${bytes.length}\r\n`
  return Buffer.concat([Buffer.from(request('POST /v1/generate', AUTH + headers + length)), bytes])
}

describe('a generate body', () => {
  const fields = {
    prompt: [null, 1, ['a'], {}, true, '', 'é', '\0', '\u{1F600}'],
    max_new_tokens: [0, 1, 2, 4096, 4097, 1.5, '10', null, true, [], {}],
    temperature: [0, 0.009, 0.01, 1, 5, 5.1, 'hot', null, [1]],
    top_k: [-2, -1, 0, 1.5, 2_147_483_647, 2_147_483_648, '1', null],
    top_p: [-0.01, 0, 1, 1.01, '1', null, false],
    model: [
      null,
      'default',
      '',
      'nobody',
      7,
      ['default'],
      'x'.repeat(1024),
      'x'.repeat(1025),
      '😀'.repeat(1024),
    ],
  }

  it.each(Object.entries(fields))('with %s', async (field, values) => {
    for (const value of values)
      await expectSameAnswer(post(JSON.stringify({ prompt: 'abc', [field]: value })))
  })

  it.each([
    '{}',
    'null',
    '[]',
    '[1]',
    '"prompt"',
    '1',
    'true',
    '{"max_new_tokens":0}',
    '{"prompt":"a","max_new_tokens":0,"temperature":9,"top_k":-1,"top_p":2,"model":7}',
    '{"prompt":"a","model":7,"top_p":2}',
    '{"prompt":"a","max_new_tokens":1e999}',
    '{"prompt":"a","temperature":-1e999}',
    '{"prompt":"a","max_new_tokens":2.0}',
    '{"prompt":"first","prompt":"second"}',
    '{"__proto__":{"prompt":"a"}}',
    '{"prompt":"a","__proto__":{"prompt":1}}',
    '{"prompt":"a","unknown":{"deep":[1]}}',
    '{"prompt":"a\\ud800"}',
    '{"prompt":"\\ud83d\\ude00"}',
    '{"prompt":"a","model":"\\udc00"}',
    `{"prompt":"a","max_new_tokens":"${'x'.repeat(65)}"}`,
  ])('%s', async (body) => {
    await expectSameAnswer(post(body))
  })
})

describe('fields that are not built', () => {
  it.each([
    '{"prompt":"a","bad_words":["x"]}',
    '{"prompt":"a","n":1,"max_tokens":5}',
    '{"prompt":1,"typical_p":0.1}',
  ])('in %s', async (body) => {
    const answer = await expectSameAnswer(post(body))

    expect(answer.headers['x-error-code']).toBe('unsupported_value')
  })

  it('in a query beside a good body', async () => {
    const bytes = post('{"prompt":"a"}').toString().replace('/v1/generate', '/v1/generate?stream=true')

    expect((await expectSameAnswer(bytes)).status).toBe(400)
  })
})

describe('bytes of a body', () => {
  it.each([
    ['cut off', post('{"prompt":')],
    ['no JSON', post('prompt=a')],
    ['bad UTF-8', post(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]))],
    ['NULs', post(Buffer.alloc(10))],
    ['endless nesting', post('['.repeat(200_000))],
    ['another type', post('{"prompt":"a"}', 'content-type: text/plain\r\n')],
    ['a type that is none', post('{"prompt":"a"}', 'content-type: nonsense\r\n')],
    ['no type', post('{"prompt":"a"}', '')],
    ['a type in capitals', post('{"prompt":"a"}', 'Content-Type: Application/JSON; charset=UTF-8\r\n')],
    ['empty', post('')],
    ['empty, of another type', post('', 'content-type: text/plain\r\n')],
    [
      'empty and chunked',
      request('POST /v1/generate', `${AUTH + JSON_TYPE}transfer-encoding: chunked\r\n`) + '0\r\n\r\n',
    ],
    ['100 levels', post(`{"prompt":"a","x":${'['.repeat(99)}${']'.repeat(99)}}`)],
    ['101 levels', post(`{"prompt":"a","x":${'['.repeat(100)}${']'.repeat(100)}}`)],
    [
      'declared over the limit',
      request('POST /v1/generate', `${AUTH + JSON_TYPE}content-length: 99999999\r\n`),
    ],
    ['one over the limit', post('x'.repeat(MAX_BODY_BYTES + 1))],
  ])('%s', async (_, bytes) => {
    expect((await expectSameAnswer(bytes)).body).toMatch(/^\{/)
  })
})

describe('a body that breaks off', () => {
  it.each([
    ['in the middle', post('{"prompt":"a"}').subarray(0, -3)],
    ['before it begins', post('{"prompt":"a"}').subarray(0, -14)],
  ])('%s', async (_, bytes) => {
    const answer = await expectSameAnswer(bytes, { end: true })

    expect(answer.headers['x-error-code']).toBe('malformed_request')
  })
})

describe('requests', () => {
  it.each([
    ['no key', request('POST /v1/generate', '')],
    ['a wrong key', request('POST /v1/generate', 'authorization: Bearer wrong\r\n')],
    ['a key of another header', request('POST /v1/generate', 'x-api-key: <KEY>\r\n')],
    ['a wrong key of another header', request('POST /v1/generate', 'x-api-key: wrong\r\n')],
    ['another scheme', request('POST /v1/generate', 'authorization: Basic <KEY>\r\n')],
    ['no such route', request('GET /v1/nothing?key=secret')],
    ['a slash too many', request('GET /v1/health/')],
    ['a very long path', request(`GET /${'x'.repeat(300)}`)],
    ['a wrong method', request('PUT /v1/generate')],
    ['an unknown method', request('BREW /v1/health')],
    ['a method for tunnels', 'CONNECT x:80 HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['all of the server', request('OPTIONS *')],
    ['a bad escape', request('GET /v1/models/%zz')],
    ['an escaped path', request('GET /v1/%68ealth')],
    ['an absolute address', request('GET http://x/v1/health')],
    ['an unknown model', request('GET /v1/models/nobody')],
    ['an id with a slash', request('GET /v1/models/org%2Fname')],
    ['the model', request('GET /v1/models/default')],
    ['the models', request('GET /v1/models')],
    ['health', request('GET /v1/health', '')],
    ['an empty query', request('GET /v1/models?&')],
    ['an unknown parameter', request('GET /v1/health?probe=1')],
    ['a parameter without a name', request('GET /v1/health?=1')],
    ['a parameter named like a property', request('GET /v1/health?__proto__=1')],
    ['health by HTTP/1.0', 'GET /v1/health HTTP/1.0\r\n\r\n'],
    ['an unknown expectation', request('GET /v1/health', 'expect: cake\r\n')],
    ['an offer to upgrade', request('GET /v1/health', 'connection: upgrade\r\nupgrade: h2c\r\n')],
    ['a GET with a body', `${request('GET /v1/health', 'content-length: 3\r\n')}abc`],
    ['no Host', `GET /v1/health HTTP/1.1\r\n\r\n`],
    ['no Host and no such route', `GET /nothing HTTP/1.1\r\n\r\n`],
    ['two Hosts', request('GET /v1/health', 'host: y\r\n')],
    ['two credentials', request('POST /v1/generate', AUTH + AUTH)],
    ['201 headers', request('GET /v1/health', 'a: b\r\n'.repeat(200))],
    ['coded chunks', request('POST /v1/generate', `${AUTH + JSON_TYPE}transfer-encoding: gzip, chunked\r\n`)],
    ['chunks by HTTP/1.0', 'POST /v1/generate HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['no HTTP', 'hello there\r\n\r\n'],
    ['a TLS hello', Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0, 0, 1, 0])],
    ['another version', 'GET /v1/health HTTP/9.9\r\nhost: x\r\n\r\n'],
    ['a header without a colon', request('GET /v1/health', 'nonsense\r\n')],
    ['a header of 64 kB', request('GET /v1/health', `a: ${'x'.repeat(65_536)}\r\n`)],
    ['a bad length', request('POST /v1/generate', `${AUTH}content-length: -1\r\n`)],
    [
      'a bad chunk',
      request('POST /v1/generate', `${AUTH + JSON_TYPE}transfer-encoding: chunked\r\n`) + 'zz\r\n',
    ],
  ])('with %s', async (_, bytes) => {
    await expectSameAnswer(bytes)
  })

  it.each(['a', 'A-1_b.c:d', 'x'.repeat(64)])('keep the id %s', async (id) => {
    const answer = await expectSameAnswer(request('GET /v1/health', `x-request-id: ${id}\r\n`))

    expect(answer.headers['x-request-id']).toBe(id)
  })

  it.each(['', 'a b', 'x'.repeat(65), '"'])('do not keep the id %j', async (id) => {
    const answer = await expectSameAnswer(request('GET /v1/health', `x-request-id: ${id}\r\n`))

    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{24}$/)
  })
})
