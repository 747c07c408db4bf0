/**
 * Traces of requests, sent over OTLP: one span for each request and below it those of its generation. The libraries take a while to
 * load, so this file is imported only where an endpoint is configured; everything else knows its types. Spans are made of a request's
 * timeline when it has ended, so they, its log line and its metrics never disagree. Nothing that a client wrote is in them.
 */
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base'
import type { Clock } from '../core/clock.ts'
import { withResolvers } from '../core/concurrency/with-resolvers.ts'
import type { Log } from './log.ts'
import type { EndedRequest } from './metrics.ts'
import type { RequestPhases } from './request-timeline.ts'

export interface TracedHead {
  readonly method: string
  readonly traceparent: string | undefined
  readonly tracestate: string | undefined
}

interface TracedRequest extends EndedRequest {
  readonly requestId: string
}

/** The trace of one request; the caller ends it. */
export interface RequestTrace {
  /** For the server that the request is passed on to. */
  readonly traceparent: string
  end(ended: TracedRequest): void
}

export interface Tracing {
  /** Call when the head of a request has been read. */
  begin(head: TracedHead): RequestTrace
  /** Sends what waits, for a second at most: a collector that is away does not hold up the end of the process. */
  close(): Promise<void>
}

export interface TracingOptions {
  /** Of a collector, without `/v1/traces`. */
  readonly endpoint: string
  /** Of the package. */
  readonly version: string
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
}

const CLOSE_MS = 1000

const propagator = new W3CTraceContextPropagator()

export function openTracing({ endpoint, version, clock, log }: TracingOptions): Tracing {
  const warn = (message: string): void => log.warn({ problem: message }, 'traces cannot be sent')
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const exporter = new WatchedExporter(new OTLPTraceExporter({ url }), warn)
  const own = resourceFromAttributes({ 'service.name': 'sluice', 'service.version': version })
  const provider = new BasicTracerProvider({
    // What the environment says of the service (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES) counts more.
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  const tracer = provider.getTracer('sluice', version)
  return {
    begin: ({ method, ...headers }) => {
      const startMs = clock.unixSeconds() * 1000
      const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter)
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, startTime: toHrTime(startMs) }, parent)
      const own = trace.setSpan(parent, span)
      return {
        traceparent: traceparentOf(own),
        end: (ended) => {
          const { timeline } = ended
          const phase = (name: string, from: number, to: number): void =>
            tracer
              .startSpan(name, { startTime: toHrTime(startMs + from) }, own)
              .end(toHrTime(startMs + Math.max(from, to)))
          const phases = timeline.phases()
          if (phases !== null) addPhases(phases, timeline.elapsedMs(), phase)
          describe(span, ended)
          span.end(toHrTime(startMs + timeline.elapsedMs()))
        },
      }
    },
    close: async () => {
      const { promise: isOver, resolve } = withResolvers<boolean>()
      const timer = setTimeout(resolve, CLOSE_MS, false)
      const sent = provider.shutdown().then(
        () => true,
        () => false,
      )
      const isSent = await Promise.race([sent, isOver])
      clearTimeout(timer)
      if (!isSent) warn('The collector did not take the last traces before the end.')
    },
  }
}

/** Tells what could not be sent. OpenTelemetry's own diagnostics are global, so they are left to an application that embeds this. */
class WatchedExporter implements SpanExporter {
  readonly #exporter: SpanExporter
  readonly #warn: (message: string) => void

  constructor(exporter: SpanExporter, warn: (message: string) => void) {
    this.#exporter = exporter
    this.#warn = warn
  }

  export(spans: ReadableSpan[], onResult: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.FAILED)
        this.#warn(result.error?.message ?? 'The collector refused them.')
      onResult(result)
    })
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.()
  }

  async shutdown(): Promise<void> {
    await this.#exporter.shutdown()
  }
}

/** What has not come to its end ends with the request. */
function addPhases(
  { queuedMs, startedMs, firstTokenMs, lastEndMs }: RequestPhases,
  elapsedMs: number,
  add: (name: string, fromMs: number, toMs: number) => void,
): void {
  add('queue', queuedMs, startedMs)
  add('prefill', startedMs, firstTokenMs ?? lastEndMs ?? elapsedMs)
  if (firstTokenMs !== null) add('decode', firstTokenMs, lastEndMs ?? elapsedMs)
}

/** In the words of OpenTelemetry's conventions for HTTP and for generative AI. */
function describe(span: Span, { method, route, status, code, timeline, requestId }: TracedRequest): void {
  span.updateName(route === null ? method : `${method} ${route}`)
  span.setAttributes({
    'http.request.method': method,
    'http.response.status_code': status,
    'sluice.request_id': requestId,
    ...(route !== null && { 'http.route': route }),
    ...(code !== null && { 'error.type': code }),
  })
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  const summary = timeline.summary()
  if (summary === null) return
  const { model, promptTokens, completionTokens, finishReason } = summary
  span.setAttributes({
    'gen_ai.response.model': model,
    'gen_ai.usage.input_tokens': promptTokens,
    'gen_ai.usage.output_tokens': completionTokens,
    ...(finishReason !== null && { 'gen_ai.response.finish_reasons': finishReason.split(',') }),
  })
}

function traceparentOf(context: Context): string {
  const carrier: Record<string, string> = {}
  propagator.inject(context, carrier, defaultTextMapSetter)
  return carrier['traceparent'] ?? ''
}

/** Seconds and nanoseconds: a number alone may be taken for one of another clock. */
function toHrTime(unixMs: number): [number, number] {
  const seconds = Math.floor(unixMs / 1000)
  return [seconds, Math.round((unixMs - seconds * 1000) * 1e6)]
}
