/** Static files of the light server, asked for by hand: what a client library would tidy up goes out as it is written. */
import { once } from 'node:events'
import {
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULT_PUBLIC_PATHS } from '../../../src/light.ts'
import { createTestLightServer } from '../../support/servers/light-server.ts'
import { exchange, openSocket, type RawAnswer } from '../../support/net/raw-http.ts'
import { temporaryFolder } from '../../support/servers/server-process.ts'
import { shared } from '../../support/shared.ts'

const MODIFIED = 'Thu, 02 Jan 2025 03:04:05 GMT'
const BIG = 'x'.repeat(100_000)

/** A folder of files beside a secret one. */
function createFolder(): string {
  const parent = temporaryFolder()
  const folder = path.join(parent, 'public')
  mkdirSync(path.join(folder, 'sub', '.hidden'), { recursive: true })
  writeFileSync(path.join(parent, 'secret.txt'), 'secret')
  const files = {
    'index.html': '<p>é</p>',
    'a.js': '0123456789',
    'b c.txt': 'blank',
    'UPPER.PNG': 'png',
    unknown: 'bytes',
    'empty.css': '',
    'big.bin': BIG,
    'sub/index.html': 'sub',
    '.env': 'secret',
    'sub/.hidden/x.txt': 'secret',
  }
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(folder, name), text)
    utimesSync(path.join(folder, name), new Date(MODIFIED), new Date(MODIFIED))
  }
  symlinkSync('../secret.txt', path.join(folder, 'leads-out.txt'))
  symlinkSync('..', path.join(folder, 'up'))
  symlinkSync('.env', path.join(folder, 'leads-to-hidden.txt'))
  symlinkSync('a.js', path.join(folder, 'leads-inside.js'))
  symlinkSync('loop', path.join(folder, 'loop'))
  return folder
}

interface Asking {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function createFiles(options = {}) {
  const folder = createFolder()
  const light = createTestLightServer({ staticDir: folder, ...options })
  const port = await light.listen()
  const get = (target: string, { method = 'GET', headers = {} }: Asking = {}): Promise<RawAnswer> => {
    const lines = Object.entries({ host: 'x', connection: 'close', ...headers })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    return exchange(port, `${method} ${target} HTTP/1.1\r\n${head}\r\n`)
  }
  return { ...light, folder, get }
}

const files = shared(() => createFiles())

describe('a file', () => {
  it.each([
    ['/', '<p>\u00c3\u00a9</p>', 'text/html; charset=utf-8'],
    ['/index.html?v=1', '<p>\u00c3\u00a9</p>', 'text/html; charset=utf-8'],
    ['/sub/', 'sub', 'text/html; charset=utf-8'],
    ['/a.js', '0123456789', 'text/javascript; charset=utf-8'],
    ['/%61.js', '0123456789', 'text/javascript; charset=utf-8'],
    ['/b%20c.txt', 'blank', 'text/plain; charset=utf-8'],
    ['/UPPER.PNG', 'png', 'image/png'],
    ['/unknown', 'bytes', 'application/octet-stream'],
    ['/empty.css', '', 'text/css; charset=utf-8'],
    ['/big.bin', BIG, 'application/octet-stream'],
    ['/leads-inside.js', '0123456789', 'text/javascript; charset=utf-8'],
    ['http://x/a.js', '0123456789', 'text/javascript; charset=utf-8'],
  ])('at %s is served without a key', async (target, body, type) => {
    const answer = await files().get(target)

    expect(answer.status).toBe(200)
    expect(answer.body).toBe(body)
    expect(answer.headers).toMatchObject({
      'content-type': type,
      'content-length': String(body.length),
      'last-modified': MODIFIED,
      'accept-ranges': 'bytes',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    })
    expect(answer.headers['etag']).toMatch(/^"[^"]+"$/)
  })

  it('answers HEAD with the same head and nothing else', async () => {
    const { get } = files()
    const [whole, head] = [await get('/a.js'), await get('/a.js', { method: 'HEAD' }).catch(String)]

    // What is read is complete without a body, so the hand-written client waits for it until the server hangs up.
    expect(head).toContain('HTTP/1.1 200 OK')
    expect(head).toContain(`content-length: ${whole.headers['content-length']}`)
    expect(head).toMatch(/\\r\\n\\r\\n"$/)
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('is no answer to %s', async (method) => {
    expect((await files().get('/a.js', { method })).status).toBe(404)
  })

  it('comes after every route, which may need a key', async () => {
    const { get, server } = await createFiles({ publicPaths: [...DEFAULT_PUBLIC_PATHS, '/a.js'] })
    server.route('GET', '/a.js', () => 'route')
    server.route('GET', '/sub/{name}', () => 'private')

    expect((await get('/a.js')).body).toBe('"route"')
    expect((await get('/sub/index.html')).status).toBe(401)
    expect((await get('/v1/health')).status).toBe(200)
  })
})

describe('what is not for everyone', () => {
  it.each([
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/%2E%2e%2fsecret.txt',
    '/..%2fsecret.txt',
    '/..%5csecret.txt',
    '/..\\secret.txt',
    '/sub/../../secret.txt',
    '/sub/..%2f..%2fsecret.txt',
    '/sub/%2e%2e/a.js',
    '/./a.js',
    '/sub/%2e/index.html',
    '//etc/passwd',
    '/%2fetc%2fpasswd',
    '//a.js',
    '/sub//index.html',
    '/C:/a.js',
    '/a.js::$DATA',
    '/a.js%00.txt',
    '/a.js%00',
    '/a.js%20',
    '/a.js.',
    '/.env',
    '/%2eenv',
    '/sub/.hidden/x.txt',
    '/leads-out.txt',
    '/up/secret.txt',
    '/leads-to-hidden.txt',
    '/loop',
    '/sub',
    '/a.js/',
    '/a.js/x',
    '/nothing.html',
    `/${'x'.repeat(4000)}`,
  ])('is not there: %s', async (target) => {
    const { get, failures } = files()
    const answer = await get(target)

    expect([answer.status, answer.headers['x-error-code']]).toEqual([404, 'not_found'])
    expect(failures).toEqual([])
  })

  it('is a database of keys in the folder', () => {
    const folder = createFolder()
    const keyDb = path.join(folder, 'api.db')
    writeFileSync(keyDb, '')

    expect(() => createTestLightServer({ staticDir: folder, keyDb })).toThrow(
      `keyDb must not lie in staticDir, which everyone may read, but '${keyDb}' does.`,
    )
  })
})

/** How often this process has the file open. */
function countOpen(file: string): number {
  const isIt = (descriptor: string): boolean => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === file
    } catch {
      // It was that of the listing, or another part of the process has closed it.
      return false
    }
  }
  return readdirSync('/proc/self/fd').filter(isIt).length
}

// Only there a process sees what it has open.
describe.runIf(process.platform === 'linux')('a file of which nothing is sent', () => {
  it.each([
    ['HEAD', { method: 'HEAD' }, 200],
    ['a condition', { headers: { 'if-none-match': '*' } }, 304],
    ['a range beyond its end', { headers: { range: 'bytes=10-' } }, 416],
  ])('is closed again, for 50 requests with %s', async (_, asking, status) => {
    const { get, folder } = await createFiles()
    const file = realpathSync(path.join(folder, 'a.js'))

    // After a HEAD the hand-written client waits for a body, and says what it has when the server hangs up.
    const ask = () => get('/a.js', asking).then((answer) => `HTTP/1.1 ${answer.status}`, String)
    const answers = await Promise.all(Array.from({ length: 50 }, ask))

    for (const answer of answers) expect(answer).toContain(`HTTP/1.1 ${status}`)
    expect(countOpen(file)).toBe(0)
  })
})

it('that becomes shorter while it is sent ends with a broken connection', async () => {
  const { folder, listen } = await createFiles()
  const file = path.join(folder, 'long.bin')
  writeFileSync(file, '')
  // More than the system keeps for a client that does not read.
  truncateSync(file, 64_000_000)
  const socket = await openSocket(await listen())
  const head = once(socket, 'data')
  socket.write('GET /long.bin HTTP/1.1\r\nhost: x\r\n\r\n')
  await head
  socket.pause()

  truncateSync(file, 1000)
  const closed = once(socket, 'close')
  socket.resume()

  await closed
  expect(socket.bytesRead).toBeLessThan(64_000_000)
})

describe('a file that the client has', () => {
  it('is 304 by its tag, whatever the date says', async () => {
    const { get } = files()
    const etag = (await get('/a.js')).headers['etag'] ?? ''

    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const headers = { 'if-none-match': tags, 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }
      const answer = await get('/a.js', { headers })
      expect([tags, answer.status, answer.body]).toEqual([tags, 304, ''])
      expect(answer.headers['etag']).toBe(etag)
    }
    const headers = { 'if-none-match': '"other"', 'if-modified-since': MODIFIED }
    expect((await get('/a.js', { headers })).status).toBe(200)
  })

  it.each([
    [MODIFIED, 304],
    ['Fri, 03 Jan 2025 00:00:00 GMT', 304],
    ['Thu, 02 Jan 2025 03:04:04 GMT', 200],
    ['2030', 200],
    ['nonsense', 200],
  ])('from %s is %i', async (since, status) => {
    const answer = await files().get('/a.js', { headers: { 'if-modified-since': since } })

    expect(answer.status).toBe(status)
  })

  it('is sent again once it has changed', async () => {
    const { get, folder } = await createFiles()
    const etag = (await get('/a.js')).headers['etag'] ?? ''
    writeFileSync(path.join(folder, 'new'), '9876543210')
    renameSync(path.join(folder, 'new'), path.join(folder, 'a.js'))

    const answer = await get('/a.js', { headers: { 'if-none-match': etag } })

    expect([answer.status, answer.body]).toEqual([200, '9876543210'])
  })
})

describe('a range', () => {
  it.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=4-', '456789', 'bytes 4-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
    ['Bytes= 9-9 ', '9', 'bytes 9-9/10'],
  ])('%s is %j', async (range, body, contentRange) => {
    const answer = await files().get('/a.js', { headers: { range } })

    expect([answer.status, answer.body]).toEqual([206, body])
    expect(answer.headers).toMatchObject({
      'content-range': contentRange,
      'content-length': String(body.length),
    })
  })

  it.each(['bytes=0-1,3-4', 'bytes=5-2', 'bytes=-', 'bytes=a-b', 'items=0-1', 'bytes', 'bytes=1-2-3'])(
    '%s is the whole file',
    async (range) => {
      const answer = await files().get('/a.js', { headers: { range } })

      expect([answer.status, answer.body]).toEqual([200, '0123456789'])
    },
  )

  it.each(['bytes=10-', 'bytes=99-100', 'bytes=-0', `bytes=${'9'.repeat(40)}-`])(
    '%s is beyond the end',
    async (range) => {
      const answer = await files().get('/a.js', { headers: { range } })

      expect(answer.status).toBe(416)
      expect(answer.headers).toMatchObject({
        'content-range': 'bytes */10',
        'x-error-code': 'range_not_satisfiable',
      })
      expect(JSON.parse(answer.body).detail).toContain('10 bytes')
    },
  )

  it('of a large file is read from where it begins', async () => {
    const answer = await files().get('/big.bin', { headers: { range: 'bytes=10-80009' } })

    expect([answer.status, answer.body.length]).toEqual([206, 80_000])
  })

  it('of another version is the whole file', async () => {
    const { get } = files()
    const etag = (await get('/a.js')).headers['etag'] ?? ''
    const statusOf = async (ifRange: string) =>
      (await get('/a.js', { headers: { range: 'bytes=0-1', 'if-range': ifRange } })).status

    expect([await statusOf(etag), await statusOf(MODIFIED)]).toEqual([206, 206])
    expect([await statusOf('"other"'), await statusOf(`W/${etag}`), await statusOf('nonsense')]).toEqual([
      200, 200, 200,
    ])
  })
})
