/**
 * One request as its handler sees it. The query and the client's signal are created on first use, because most handlers
 * read neither.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Credential } from '../core/credential.ts'
import { onConnectionEnd, watchClient } from '../net/connections/client-presence.ts'
import type { BodyHold } from '../net/requests/body-budget.ts'
import { keepRequestId } from '../net/requests/request-head.ts'

export interface LightRequest<Params = Readonly<Record<string, string>>> {
  /** What the pattern captured, percent-decoded. */
  readonly params: Params
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** The parsed JSON of a POST, PUT or PATCH; undefined when there is none. */
  readonly body: unknown
  /** The key's owner; null on a public path and without a key database. */
  readonly credential: Credential | null
  /** As it goes back in `x-request-id`. */
  readonly requestId: string
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
}

export class Exchange implements LightRequest {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  params: Readonly<Record<string, string>> = NO_PARAMS
  queryText = ''
  body: unknown = undefined
  credential: Credential | null = null
  /** What the body takes of the budget, until the handler has answered. */
  bodyHold: BodyHold | null = null
  #query: URLSearchParams | null = null
  #signal: AbortSignal | null = null

  constructor(incoming: IncomingMessage, response: ServerResponse) {
    this.incoming = incoming
    this.response = response
    this.requestId = keepRequestId(this.findHeader('x-request-id'))
  }

  /** Node makes them on first use. */
  get headers(): IncomingHttpHeaders {
    return this.incoming.headers
  }

  /** One header without making all of them; undefined where it is absent or repeated. */
  findHeader(name: string): string | undefined {
    const { rawHeaders } = this.incoming
    let found: string | undefined
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const given = rawHeaders[index] ?? ''
      if (given.length !== name.length || given.toLowerCase() !== name) continue
      if (found !== undefined) return undefined
      found = rawHeaders[index + 1]
    }
    return found
  }

  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(this.queryText))
  }

  get signal(): AbortSignal {
    return (this.#signal ??= watchClient(this.incoming, this.response))
  }

  /** Calls back when the connection ends; the function that it returns removes the callback. */
  onLeave(callback: () => void): () => void {
    return onConnectionEnd(this.incoming.socket, callback)
  }

  get method(): string {
    return this.incoming.method ?? ''
  }

  /** The raw target, with its query. */
  get url(): string {
    return this.incoming.url ?? ''
  }

  /** Whether the client has disconnected. */
  get hasClientLeft(): boolean {
    return this.response.destroyed || this.incoming.socket.destroyed
  }
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})
