/** A server with OpenAI's API that answers as a test wrote, also as no server should. Listens on a free port. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface UpstreamCall {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
  /** Resolves when the connection of the call has closed. */
  readonly closed: Promise<void>
}

type Answer = (response: ServerResponse, call: UpstreamCall) => Promise<void> | void

export class FaultyUpstream implements AsyncDisposable {
  readonly calls: UpstreamCall[] = []
  readonly url: string
  /** Of its health probe. */
  health = 200
  /** What it lists. */
  model = { id: 'up', max_model_len: 512 }
  readonly #server: ReturnType<typeof createServer>

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  }

  /** @param answer of each POST; it may be changed by closing over a variable */
  static async start(answer: Answer): Promise<FaultyUpstream> {
    const server = createServer((request, response) => {
      void handle(upstream, answer, { request, response }).catch(() => response.destroy())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const upstream = new FaultyUpstream(server)
    return upstream
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

async function handle(
  upstream: FaultyUpstream,
  answer: Answer,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const path = request.url ?? ''
  if (request.method === 'GET') {
    const body = path === '/v1/models' ? JSON.stringify({ data: [upstream.model] }) : '{}'
    response.writeHead(path === '/health' ? upstream.health : 200).end(body)
    return
  }
  const pieces: Uint8Array[] = []
  for await (const piece of request as AsyncIterable<Uint8Array>) pieces.push(piece)
  const body = JSON.parse(Buffer.concat(pieces).toString()) as UpstreamCall['body']
  const closed = new Promise<void>((resolve) => response.once('close', resolve))
  const call = { path, headers: request.headers, body, closed }
  upstream.calls.push(call)
  await answer(response, call)
}

/** One event of a chat's stream. */
export function chatEvent(delta: object, more: object = {}): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`
}

/** One event of a completion's stream. */
export function completionEvent(text: string): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, text, finish_reason: null }] })}\n\n`
}

/** The events behind the text: the end, what it used, and `[DONE]`. */
export function chatEnd(usage: object | null = { prompt_tokens: 7, completion_tokens: 5 }): string {
  const last = usage === null ? '' : `data: ${JSON.stringify({ choices: [], usage })}\n\n`
  return `${chatEvent({}, { finish_reason: 'stop' })}${last}data: [DONE]\n\n`
}

export function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
}

/** Answers each chat with this text in pieces. */
export const sayPieces =
  (...pieces: readonly string[]): Answer =>
  (response) => {
    openStream(response)
    for (const piece of pieces) response.write(chatEvent({ content: piece }))
    response.end(chatEnd())
  }
