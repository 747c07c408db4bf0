/**
 * The metrics of a running server in Prometheus's text format. A request's log line and its observations come from the
 * same timeline at the same moment, so the two never disagree. Labels have low cardinality by construction: route
 * patterns, model ids, rules of guards; never a key, an address or a requested path.
 */
import { AggregatorRegistry, Counter, Histogram, Registry } from 'prom-client'
import { createModelMetrics, type ModelStates } from './model-metrics.ts'
import { processMetrics } from './process-metrics.ts'
import type { RequestTimeline } from './request-timeline.ts'
import { createServiceGauges, type ServiceSources } from './service-gauges.ts'
import type { UpstreamMetrics } from './upstream-metrics.ts'

export interface EndedRequest {
  readonly method: string
  /** Its pattern; null for one that matched none. */
  readonly route: string | null
  readonly status: number
  /** Of its error; null where it had none. */
  readonly code: string | null
  readonly timeline: RequestTimeline
}

/** What a metric is, for its documentation. */
export interface MetricDefinition {
  readonly name: string
  readonly type: string
  /** Markdown. */
  readonly help: string
  readonly labels: readonly string[]
}

/** One rule of a guard that refused, cut or cleaned something. */
export interface GuardHit {
  /** `firewall`, `prompt`, `output`, … */
  readonly guard: string
  /** The rule's id. */
  readonly rule: string
}

export interface MetricsSources extends ServiceSources {
  readonly models: ModelStates
  /** Of remote models. @default there are none */
  readonly upstreams?: Pick<UpstreamMetrics, 'all'>
  /** The metrics of all processes of the service. @default this one is all */
  readonly renderService?: () => Promise<string>
}

const REQUEST_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
const TOKEN_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1]

/** Requests that match no route share one value, so that a path scan creates no new series. */
const NO_ROUTE = 'none'

/** Methods that have routes; all others share one value. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

/** Values of one process, for the sum over several. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** In the text format; a gauge of what the processes share is taken once. */
export function renderSum(processes: readonly MetricValues[]): Promise<string> {
  return aggregate(processes).metrics()
}

export async function sumOf(processes: readonly MetricValues[]): Promise<MetricValues> {
  return await aggregate(processes).getMetricsAsJSON()
}

/** Without gauges, which end with their process. */
export function countsOf(values: MetricValues): MetricValues {
  return values.filter(({ type }) => COUNTS.has(String(type)))
}

const COUNTS: ReadonlySet<string> = new Set(['counter', 'histogram'])

function aggregate(processes: readonly MetricValues[]) {
  // The library changes what it is given.
  return AggregatorRegistry.aggregate(structuredClone([...processes]))
}

export class Metrics {
  readonly #registry = new Registry()
  readonly #registers = [this.#registry]
  readonly #render: () => Promise<string>
  #rendering: Promise<string> | null = null

  readonly #requests = new Counter({
    name: 'sluice_requests_total',
    help: 'Requests that have ended; status 499 is a client that left.',
    labelNames: ['method', 'route', 'status'],
    registers: this.#registers,
  })
  readonly #errors = new Counter({
    name: 'sluice_request_errors_total',
    help: 'Requests that ended with an error, by its code; failed streams included.',
    labelNames: ['code'],
    registers: this.#registers,
  })
  readonly #duration = new Histogram({
    name: 'sluice_request_duration_seconds',
    help: 'From the head of a request to the end of its answer, a stream included.',
    labelNames: ['route'],
    buckets: REQUEST_SECONDS,
    registers: this.#registers,
  })
  readonly #queueTime = this.#modelHistogram(
    'sluice_queue_time_seconds',
    'From the entry of a sequence into the queue until it got its slot; the longest of a request.',
  )
  readonly #timeToFirstToken = this.#modelHistogram(
    'sluice_time_to_first_token_seconds',
    'From the head of a request to its first generated token.',
  )
  readonly #interTokenLatency = this.#modelHistogram(
    'sluice_inter_token_latency_seconds',
    'From the first token of a request to the end of its last sequence, divided by its tokens less one.',
    TOKEN_SECONDS,
  )
  readonly #promptTokens = this.#modelCounter(
    'sluice_prompt_tokens_total',
    'Tokens of prompts that got a slot.',
  )
  readonly #completionTokens = this.#modelCounter(
    'sluice_completion_tokens_total',
    'Generated tokens, those of clients that left included.',
  )
  readonly #draftTokens = this.#modelCounter(
    'sluice_draft_tokens_total',
    'Tokens that were guessed from the text so far, of sequences that have ended.',
  )
  readonly #acceptedDraftTokens = this.#modelCounter(
    'sluice_accepted_draft_tokens_total',
    'Guessed tokens that were right, of sequences that have ended.',
  )
  readonly #guardHits = new Counter({
    name: 'sluice_guard_hits_total',
    help: 'Times that a rule of a guard was hit.',
    labelNames: ['guard', 'rule'],
    registers: this.#registers,
  })

  constructor(sources: MetricsSources) {
    const { models, upstreams, renderService } = sources
    this.#render = renderService ?? (() => this.#registry.metrics())
    const read = [
      ...processMetrics(),
      ...createModelMetrics(models),
      ...createServiceGauges(sources),
      ...(upstreams?.all ?? []),
    ]
    for (const metric of read) this.#registry.registerMetric(metric)
  }

  /** Call once for each request, when it has ended. */
  observeRequest({ method, route, status, code, timeline }: EndedRequest): void {
    if (code !== null) this.#errors.inc({ code })
    const pattern = route ?? NO_ROUTE
    const knownMethod = KNOWN_METHODS.has(method) ? method : 'other'
    this.#requests.inc({ method: knownMethod, route: pattern, status: String(status) })
    this.#duration.observe({ route: pattern }, timeline.elapsedMs() / 1000)
    const summary = timeline.summary()
    if (summary === null) return
    const { model, promptTokens, completionTokens, queueMs, ttftMs, e2eMs } = summary
    const label = { model }
    this.#promptTokens.inc(label, promptTokens)
    this.#completionTokens.inc(label, completionTokens)
    const { draftedTokens, acceptedTokens } = timeline.drafts
    this.#draftTokens.inc(label, draftedTokens)
    this.#acceptedDraftTokens.inc(label, acceptedTokens)
    if (queueMs !== null) this.#queueTime.observe(label, queueMs / 1000)
    if (ttftMs !== null) this.#timeToFirstToken.observe(label, ttftMs / 1000)
    if (ttftMs !== null && e2eMs !== null && completionTokens > 1) {
      this.#interTokenLatency.observe(label, (e2eMs - ttftMs) / 1000 / (completionTokens - 1))
    }
  }

  countGuardHit({ guard, rule }: GuardHit, hits = 1): void {
    this.#guardHits.inc({ guard, rule }, hits)
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** Of all that a rendering may hold. */
  definitions(): readonly MetricDefinition[] {
    return this.#registry.getMetricsAsArray().map((metric) => ({
      name: metric.name,
      type: String(metric.type),
      help: metric.help,
      labels: 'labelNames' in metric ? (metric.labelNames as readonly string[]) : [],
    }))
  }

  /** Of this process alone. */
  values(): Promise<MetricValues> {
    return this.#registry.getMetricsAsJSON()
  }

  /** All metrics in the text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
  render(): Promise<string> {
    // Reading the system's tables blocks the event loop for milliseconds: requests meanwhile get the same text.
    this.#rendering ??= this.#render().finally(() => (this.#rendering = null))
    return this.#rendering
  }

  #modelCounter(name: string, help: string): Counter<'model'> {
    return new Counter({ name, help, labelNames: ['model'], registers: this.#registers })
  }

  #modelHistogram(name: string, help: string, buckets = REQUEST_SECONDS): Histogram<'model'> {
    return new Histogram({ name, help, labelNames: ['model'], buckets, registers: this.#registers })
  }
}
