/** Traces, as a receiver of OTLP gets them. */
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { diag, DiagLogLevel } from '@opentelemetry/api'
import { expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { openTracing } from '../../../src/telemetry/tracing.ts'
import { sayOk, ScriptedEngine } from '../../support/engines/scripted-engine.ts'
import { walkImports } from '../../support/import-graph.ts'
import { createTestApp } from '../../support/servers/test-app.ts'
import { whenUnused } from '../../support/shared.ts'

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface SpanData {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
}

interface TraceExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly SpanData[] }[]
  }[]
}

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const CALLER = `00-${TRACE_ID}-b7ad6b7169203331-01`

async function createTracedApp() {
  const received: TraceExport[] = []
  const receiver = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => void pieces.push(piece))
    request.on('end', () => {
      if (request.url === '/v1/traces')
        received.push(JSON.parse(Buffer.concat(pieces).toString()) as TraceExport)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  whenUnused(() => void receiver.close())
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const log = createLog({ level: 'silent' })
  const tracing = openTracing({ endpoint, version: '0.0.0', clock: systemClock, log })
  const engine = new ScriptedEngine(sayOk)
  const world = createTestApp({ engine, tracing })
  /** All that was sent, once it has been. */
  const spans = async (count: number) => {
    await expect.poll(() => world.logLines.filter(({ msg }) => msg === 'request')).toHaveLength(count)
    await tracing.close()
    return received.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    )
  }
  return { ...world, engine, received, spans }
}

const attributesOf = ({ attributes }: SpanData) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

it('have a span for a request and below it those of its generation, in the trace of the caller', async () => {
  const { post, call, engine, received, spans } = await createTracedApp()
  const headers = { traceparent: CALLER, 'x-request-id': 'r-1' }
  await call({ method: 'POST', url: '/v1/generate', headers, payload: { prompt: 'secret-text' } })
  await post('/v1/generate', { prompt: 7 })
  await call('/v1/health')

  const all = await spans(2)
  const request = all.find(
    ({ traceId, parentSpanId }) => traceId === TRACE_ID && parentSpanId === CALLER.slice(36, 52),
  )
  const below = all.filter(({ parentSpanId }) => parentSpanId === request?.spanId)
  const refused = all.filter(({ traceId }) => traceId !== TRACE_ID)

  expect(request?.name).toBe('POST /v1/generate')
  expect(request && attributesOf(request)).toMatchObject({
    'http.route': '/v1/generate',
    'http.response.status_code': 200,
    'sluice.request_id': 'r-1',
    'gen_ai.response.model': 'default',
  })
  expect(below.map(({ name }) => name)).toEqual(['queue', 'prefill', 'decode'])
  const times = below.flatMap((span) => [span.startTimeUnixNano, span.endTimeUnixNano]).map(BigInt)
  expect(times).toEqual(times.toSorted((one, other) => Number(one - other)))
  expect(refused.map(attributesOf)).toMatchObject([{ 'error.type': 'invalid_request' }])
  expect(received[0]?.resourceSpans[0]?.resource.attributes).toContainEqual({
    key: 'service.name',
    value: { stringValue: 'sluice' },
  })
  expect(JSON.stringify(received)).not.toContain('secret-text')
  // What a remote engine sends on is the request's own span.
  expect(engine.requests[0]?.traceparent).toBe(`00-${TRACE_ID}-${request?.spanId}-01`)
})

const ANSWER = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'

it.each<{ name: string; answer?: (socket: Socket) => void; answers?: boolean }>([
  { name: 'takes the connection and says nothing', answer: (socket) => void socket.resume() },
  {
    name: 'knows nothing of them',
    answer: (socket) => void socket.once('data', () => socket.end(ANSWER)),
    answers: true,
  },
  { name: 'is not there' },
])(
  'hold up the end of the server for a second at most where the collector $name',
  async ({ answer, answers = false }) => {
    const silent = createTcpServer(answer)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    if (answer) whenUnused(() => void silent.close())
    else await new Promise((resolve) => silent.close(resolve))
    const lines: string[] = []
    const log = createLog({ level: 'warn', destination: { write: (line) => void lines.push(line) } })
    const tracing = openTracing({
      endpoint: `http://127.0.0.1:${port}`,
      version: '0.0.0',
      clock: systemClock,
      log,
    })
    const world = createTestApp({ engine: new ScriptedEngine(sayOk), tracing })
    await world.call({ method: 'POST', url: '/v1/generate', payload: { prompt: 'a' } })
    await expect.poll(() => world.logLines.some(({ msg }) => msg === 'request')).toBe(true)

    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const closed = tracing.close()
    if (!answers) await vi.advanceTimersByTimeAsync(1000)
    await closed
    vi.useRealTimers()

    expect(lines.join('')).toContain('traces cannot be sent')
  },
)

it("leave OpenTelemetry's own diagnostics to the application", async () => {
  const said: string[] = []
  const say = (message: string): void => void said.push(message)
  diag.setLogger({ error: say, warn: say, info: say, debug: say, verbose: say }, DiagLogLevel.ERROR)
  onTestFinished(() => diag.disable())
  const log = createLog({ level: 'silent' })
  const tracing = openTracing({ endpoint: 'http://127.0.0.1:9', version: '0.0.0', clock: systemClock, log })
  await tracing.close()

  diag.error('of the application')

  expect(said).toEqual(['of the application'])
})

it("are kept in the caller's trace by a server that makes none", async () => {
  const engine = new ScriptedEngine(sayOk)
  const { call } = createTestApp({ engine })
  for (const traceparent of [CALLER, 'not-a-trace'])
    await call({ method: 'POST', url: '/v1/generate', headers: { traceparent }, payload: { prompt: 'a' } })
  expect(engine.requests.map((request) => request.traceparent)).toEqual([CALLER, undefined])
})

it('load nothing where none are sent', () => {
  const librariesOf = (entry: string) =>
    [...walkImports(entry).others].filter((name) => name.startsWith('@opentelemetry/'))
  expect(librariesOf('telemetry/tracing.ts')).not.toEqual([])
  for (const entry of ['cli/main.ts', 'app/open-service.ts', 'app/workers/worker-main.ts'])
    expect(librariesOf(entry)).toEqual([])
})
