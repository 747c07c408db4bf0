/**
 * The numbers of a running server in Prometheus's text format. One line of the log and one set of observations come from
 * the same timeline at the same moment, so the two never disagree. Labels take few values by construction: patterns of
 * routes, ids of models, rules of guards; never a key, an address or a path as it was asked for.
 */
import { readdir } from 'node:fs/promises'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { RequestTimeline } from './request-timeline.ts'

export interface EndedRequest {
  readonly method: string
  /** Its pattern; null for one that matched none. */
  readonly route: string | null
  readonly status: number
  readonly timeline: RequestTimeline
}

/** One rule of a guard that refused, cut or cleaned something. */
export interface GuardHit {
  /** `firewall`, `prompt`, `output`, … */
  readonly guard: string
  /** The rule's id. */
  readonly rule: string
}

export interface ModelStates {
  list(): readonly { readonly id: string; readonly state: string }[]
}

const REQUEST_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
const TOKEN_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1]

const byModel = ['model'] as const

/** They walk over every open connection, which holds up everyone else for as long. */
const SLOW_DEFAULTS = [
  ...['handles', 'resources', 'requests'].flatMap((kind) => [
    `nodejs_active_${kind}`,
    `nodejs_active_${kind}_total`,
  ]),
  'process_open_fds',
]

/** Every open file of this process, on Linux. */
const OPEN_FILES = '/proc/self/fd'

/** What matched no route shares one value, so that a scan of paths makes no new series. */
const NO_ROUTE = 'none'

/** Methods that have routes; whatever else a client makes up shares one value. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export class Metrics {
  readonly #registry = new Registry()
  #rendering: Promise<string> | null = null
  readonly #requests = this.#add(
    new Counter({
      name: 'sluice_requests_total',
      help: 'Requests that have ended; status 499 is a client that left.',
      labelNames: ['method', 'route', 'status'],
      registers: [],
    }),
  )
  readonly #duration = this.#histogram(
    'sluice_request_duration_seconds',
    'From the head of a request to the end of its answer.',
    { labelNames: ['route'], buckets: REQUEST_SECONDS },
  )
  readonly #queueTime = this.#histogram(
    'sluice_queue_time_seconds',
    'Wait of a generation for its slot, the longest of its sequences.',
    { labelNames: byModel, buckets: REQUEST_SECONDS },
  )
  readonly #timeToFirstToken = this.#histogram(
    'sluice_time_to_first_token_seconds',
    'From the head of a request to its first generated token.',
    { labelNames: byModel, buckets: REQUEST_SECONDS },
  )
  readonly #interTokenLatency = this.#histogram(
    'sluice_inter_token_latency_seconds',
    'Mean time between the tokens of one request, all its sequences together.',
    { labelNames: byModel, buckets: TOKEN_SECONDS },
  )
  readonly #promptTokens = this.#counter('sluice_prompt_tokens_total', 'Tokens of prompts.', byModel)
  readonly #completionTokens = this.#counter(
    'sluice_completion_tokens_total',
    'Generated tokens, those of clients that left included.',
    byModel,
  )
  readonly #draftTokens = this.#counter(
    'sluice_draft_tokens_total',
    'Tokens that were guessed from the text so far.',
    byModel,
  )
  readonly #acceptedDraftTokens = this.#counter(
    'sluice_accepted_draft_tokens_total',
    'Guessed tokens that were right.',
    byModel,
  )
  readonly #guardHits = this.#counter('sluice_guard_hits_total', 'Times that a rule of a guard was hit.', [
    'guard',
    'rule',
  ])

  constructor({ models, isReady }: { models: ModelStates; isReady: () => boolean }) {
    collectDefaultMetrics({ register: this.#registry })
    for (const name of SLOW_DEFAULTS) this.#registry.removeSingleMetric(name)
    if (process.platform === 'linux') {
      this.#add(
        new Gauge({
          name: 'process_open_fds',
          help: 'Number of open file descriptors.',
          registers: [],
          // Counted in another thread: the list is made anew by the system, and is as long as there are connections.
          async collect() {
            const names = await readdir(OPEN_FILES).catch(() => null)
            if (names !== null) this.set(names.length)
          },
        }),
      )
    }
    this.#add(
      new Gauge({
        name: 'sluice_model_state',
        help: '1 for the state that a model is in.',
        labelNames: ['model', 'state'],
        registers: [],
        collect() {
          this.reset()
          for (const { id, state } of models.list()) this.set({ model: id, state }, 1)
        },
      }),
    )
    this.#add(
      new Gauge({
        name: 'sluice_ready',
        help: '1 while the default model can take work.',
        registers: [],
        collect() {
          this.set(isReady() ? 1 : 0)
        },
      }),
    )
  }

  /** Called once for each request, when it is over. */
  observeRequest({ method, route, status, timeline }: EndedRequest): void {
    const pattern = route ?? NO_ROUTE
    const knownMethod = METHODS.has(method) ? method : 'other'
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

  /** All of it in the text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
  render(): Promise<string> {
    // Reading the system's tables holds up everyone else for milliseconds: who asks meanwhile gets the same.
    this.#rendering ??= this.#registry.metrics().finally(() => (this.#rendering = null))
    return this.#rendering
  }

  #add<Metric extends Counter | Gauge | Histogram>(metric: Metric): Metric {
    this.#registry.registerMetric(metric)
    return metric
  }

  #counter<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> {
    return this.#add(new Counter({ name, help, labelNames, registers: [] }))
  }

  #histogram<Label extends string>(
    name: string,
    help: string,
    { labelNames, buckets }: { labelNames: readonly Label[]; buckets: number[] },
  ): Histogram<Label> {
    return this.#add(new Histogram({ name, help, labelNames, buckets, registers: [] }))
  }
}
