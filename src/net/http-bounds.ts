/** Time-outs and sizes of connections, the same for both servers. */
import type { ServerOptions } from 'node:http'
import { OPEN_FILE_LIMIT } from '../core/open-file-limit.ts'
import { JoinedRequest } from './requests/joined-request.ts'

export interface HttpBounds {
  /** For the line and the headers of a request, from its first byte; of a new connection, from its opening. */
  readonly headersTimeoutMs: number
  /** For a whole request, its body included. */
  readonly requestTimeoutMs: number
  /** An idle connection between two requests. */
  readonly keepAliveTimeoutMs: number
  /** How often the first two are looked at. */
  readonly checkingIntervalMs: number
  /** A client that has something to read and takes nothing of it. */
  readonly slowReaderMs: number
  /** For the rest of a body after its request was answered: closing at once would lose the client the answer. */
  readonly lingerMs: number
  readonly maxConnections: number
}

/** More would be memory without a use: eight engines' full queues do not need as many. */
const MAX_CONNECTIONS = 10_000

/** Files that the server needs beside its connections: databases, models, engines, the log. */
const RESERVED_FILES = 256
const MIN_CONNECTIONS = 64

export const HTTP_BOUNDS: HttpBounds = Object.freeze({
  // A head is at most 16 KiB: a longer time is a client that sends slowly on purpose.
  headersTimeoutMs: 20_000,
  // 8 MiB at 70 kB/s.
  requestTimeoutMs: 120_000,
  // Longer than the 60 s after which common proxies drop theirs, so that none of them meets a closed one.
  keepAliveTimeoutMs: 72_000,
  checkingIntervalMs: 5000,
  slowReaderMs: 30_000,
  lingerMs: 30_000,
  maxConnections: Math.max(MIN_CONNECTIONS, Math.min(MAX_CONNECTIONS, OPEN_FILE_LIMIT - RESERVED_FILES)),
})

/** Connections that may wait to be accepted. With Node's 511 a burst makes others wait a second for their next try. */
export const LISTEN_BACKLOG = 4096

/** Node's parser refuses a larger head. */
export const MAX_HEAD_BYTES = 16 * 1024

export function serverOptions(bounds: HttpBounds) {
  return {
    headersTimeout: bounds.headersTimeoutMs,
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveTimeoutMs,
    connectionsCheckingInterval: bounds.checkingIntervalMs,
    maxHeaderSize: MAX_HEAD_BYTES,
    // Even where Node runs with --insecure-http-parser.
    insecureHTTPParser: false,
    // Node's own check answers without a body; `request-head.ts` has ours.
    requireHostHeader: false,
    IncomingMessage: JoinedRequest,
  } as const satisfies ServerOptions<typeof JoinedRequest>
}
