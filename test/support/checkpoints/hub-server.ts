/**
 * A server that speaks the routes of the Hugging Face Hub, and another that keeps the large files, as the Hub has them
 * elsewhere. A test says what is wrong with them.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { whenUnused } from '../shared.ts'

export const COMMIT = 'c0ffee'.padEnd(40, '0')

export interface HubRequest {
  readonly server: 'hub' | 'storage'
  readonly method: string
  readonly path: string
  readonly range: string | null
  readonly authorization: string | null
  readonly accept: string
}

export interface HubBehaviour {
  repo: string
  commit: string
  /** A gated repository asks for it. */
  token: string | null
  /** Status and error code of every answer, for a Hub that refuses. */
  refusal: { status: number; code?: string; message?: string } | null
  /** Files above this are kept elsewhere and listed with their SHA-256. */
  largeBytes: number
  /** What is listed in place of a file. */
  spoilEntry: (entry: object) => object
  /** What is sent in place of a file. */
  spoil: (path: string, content: Buffer) => Buffer
  /** Whether the connection breaks before there is an answer, as a kept one does that the Hub has just closed. */
  dropsRequest: (request: HubRequest) => boolean
  /** After how many bytes the connection breaks; null sends all. */
  breakAfter: (request: HubRequest) => number | null
  /** Waited for before any bytes of a large file are sent. */
  beforeSending: (request: HubRequest) => Promise<void>
  /** Whether parts can be asked for where the large files are. */
  hasRanges: boolean
  /** The name under which it is found, when `repo` is an old one. */
  renamedTo: string | null
  /** Whether large files are described as Xet-backed to who takes that. */
  isXet: boolean
  /** Whether small files are redirected to a cache on the same server, as the Hub does. */
  redirectsSmall: boolean
}

export interface HubServer {
  readonly endpoint: string
  readonly behaviour: HubBehaviour
  readonly requests: HubRequest[]
  /** Requests for the bytes of a large file, apart from those that ask what it is. */
  readonly downloads: () => HubRequest[]
}

/** From which byte on each was asked for. */
export function startsOf(requests: readonly HubRequest[]): number[] {
  return requests.map(({ range }) => Number(/^bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0))
}

export type HubFiles = Readonly<Record<string, Buffer | string>>

export async function startHub(files: HubFiles, given: Partial<HubBehaviour> = {}): Promise<HubServer> {
  const behaviour: HubBehaviour = {
    repo: 'acme/tiny',
    commit: COMMIT,
    token: null,
    refusal: null,
    largeBytes: 500,
    spoilEntry: (entry) => entry,
    spoil: (_, content) => content,
    dropsRequest: () => false,
    breakAfter: () => null,
    beforeSending: () => Promise.resolve(),
    hasRanges: true,
    renamedTo: null,
    isXet: false,
    redirectsSmall: false,
    ...given,
  }
  const requests: HubRequest[] = []
  const contents = new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]))
  const record = (server: HubRequest['server'], request: IncomingMessage): HubRequest => {
    const { method = '', url = '', headers } = request
    const recorded = {
      server,
      method,
      path: decodeURIComponent(url.split('?')[0] ?? ''),
      range: headers.range ?? null,
      authorization: headers.authorization ?? null,
      accept: headers.accept ?? '',
    }
    requests.push(recorded)
    return recorded
  }
  const storage = await listen((request, response) => {
    const recorded = record('storage', request)
    const name = recorded.path.slice(1)
    void send(response, { recorded, behaviour, name, content: contents.get(name) ?? Buffer.alloc(0) })
  })
  const endpoint = await listen((request, response) => {
    const recorded = record('hub', request)
    if (behaviour.dropsRequest(recorded)) return void request.destroy()
    answer(response, { recorded, behaviour, contents, storage })
  })
  const downloads = () =>
    requests.filter(({ server, range }) => server === 'storage' && range !== 'bytes=0-0')
  return { endpoint, behaviour, requests, downloads }
}

interface Answer {
  readonly recorded: HubRequest
  readonly behaviour: HubBehaviour
  readonly contents: ReadonlyMap<string, Buffer>
  readonly storage: string
}

function answer(response: ServerResponse, { recorded, behaviour, contents, storage }: Answer): void {
  const { repo, commit, token, refusal, largeBytes, renamedTo } = behaviour
  const refuse = (status: number, code = '', message = '') =>
    response
      .writeHead(status, {
        'x-error-code': code,
        'x-error-message': message,
        'content-type': 'application/json',
      })
      .end('{"error":"no"}')
  if (refusal !== null) return void refuse(refusal.status, refusal.code, refusal.message)
  if (token !== null && recorded.authorization !== `Bearer ${token}`) return void refuse(401, 'GatedRepo')
  const current = renamedTo ?? repo
  if (renamedTo !== null && recorded.path.includes(`/${repo}/`)) {
    const location = recorded.path.replace(`/${repo}/`, `/${renamedTo}/`)
    return void response.writeHead(307, { location }).end(`Temporary Redirect. Redirecting to ${location}`)
  }
  const api = `/api/models/${current}`
  const json = (body: unknown) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (recorded.path.startsWith(`${api}/revision/`)) {
    const revision = recorded.path.slice(`${api}/revision/`.length)
    if (revision !== 'main' && revision !== commit) return void refuse(404, 'RevisionNotFound')
    return void json({
      _id: '1',
      id: current,
      sha: commit,
      private: false,
      lastModified: '2026-01-01T00:00:00Z',
    })
  }
  if (recorded.path === `${api}/tree/${commit}`) {
    return void json(
      [...contents].map(([path, content]) => behaviour.spoilEntry(treeEntry(path, content, largeBytes))),
    )
  }
  const resolve = `/${current}/resolve/${commit}/`
  const cached = `/api/resolve-cache/models/${current}/${commit}/`
  const isCached = recorded.path.startsWith(cached)
  if (!isCached && !recorded.path.startsWith(resolve)) return void refuse(404, 'RepoNotFound')
  const name = recorded.path.slice((isCached ? cached : resolve).length)
  const content = contents.get(name)
  if (content === undefined) return void refuse(404, 'EntryNotFound')
  if (content.length <= largeBytes) {
    if (isCached || !behaviour.redirectsSmall)
      return void send(response, { recorded, behaviour, name, content })
    return void response.writeHead(307, { location: cached + encodeURIComponent(name) }).end('redirecting')
  }
  if (behaviour.isXet && recorded.accept.includes('application/vnd.xet-fileinfo+json')) {
    return void response
      .writeHead(200, {
        'content-type': 'application/vnd.xet-fileinfo+json; charset=utf-8',
        'x-linked-size': content.length,
        'x-linked-etag': `"${digest('sha256', content)}"`,
        'x-xet-hash': 'f'.repeat(64),
        link: `<${storage}/xet-read-token>; rel="xet-auth", <${storage}/v1/reconstructions/f>; rel="xet-reconstruction-info"`,
      })
      .end('{"hash":"f"}')
  }
  response
    .writeHead(302, {
      location: `${storage}/${encodeURIComponent(name)}`,
      'x-repo-commit': commit,
      'x-linked-etag': `"${digest('sha256', content)}"`,
      'x-linked-size': content.length,
    })
    .end()
}

function treeEntry(path: string, content: Buffer, largeBytes: number): object {
  const size = content.length
  const oid = digest('sha1', Buffer.concat([Buffer.from(`blob ${size}\0`), content]))
  const lfs = { oid: digest('sha256', content), size, pointerSize: 130 }
  return { type: 'file', path, size, oid, ...(size > largeBytes ? { lfs } : {}) }
}

interface Sending {
  readonly recorded: HubRequest
  readonly behaviour: HubBehaviour
  readonly name: string
  readonly content: Buffer
}

async function send(
  response: ServerResponse,
  { recorded, behaviour, name, content }: Sending,
): Promise<void> {
  const sent = behaviour.spoil(name, content)
  const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(recorded.range ?? '') ?? []
  const isProbe = recorded.range === 'bytes=0-0'
  const isPart = recorded.range !== null && (behaviour.hasRanges || isProbe)
  const part = isPart ? sent.subarray(Number(from), to === '' ? undefined : Number(to) + 1) : sent
  const range = `bytes ${from}-${Number(from) + part.length - 1}/${sent.length}`
  response.writeHead(isPart ? 206 : 200, {
    etag: `"${digest('sha1', content)}"`,
    'content-length': part.length,
    ...(isPart ? { 'content-range': range } : {}),
  })
  const end = isProbe ? null : behaviour.breakAfter(recorded)
  if (!isProbe) await behaviour.beforeSending(recorded)
  if (end === null || end >= part.length) return void response.end(part)
  // Only once the bytes are on their way, or they would be lost with the connection.
  response.write(part.subarray(0, end), () => setTimeout(() => response.destroy(), 20))
}

export function digest(algorithm: 'sha1' | 'sha256', content: Buffer): string {
  return createHash(algorithm).update(content).digest('hex')
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenUnused(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
