/**
 * What is measured of the endpoints of remote models, by model and endpoint. Made before the engines, which tell it what becomes of each
 * request; `Metrics` renders it. In a service with workers each of them measures its own requests.
 */
import { Counter, Gauge, Histogram } from 'prom-client'

const OUTCOMES = ['answered', 'refused', 'failed', 'left'] as const

/**
 * How a request to an endpoint went until the first byte of its answer: `refused` with a status, `failed` without one, `left` by its
 * client.
 */
export type UpstreamOutcome = (typeof OUTCOMES)[number]

/** Of one endpoint. */
interface EndpointState {
  /** Whether its health probe was answered and its circuit breaker lets requests pass. */
  readonly takesWork: boolean
  /** Requests whose answers have not ended. */
  readonly outstanding: number
}

/** Takes what becomes of the requests of one model. */
export interface EndpointObserver {
  /** Returns what must be called when the endpoint is gone. */
  readonly onOpen: (endpoint: string, state: () => EndpointState) => () => void
  readonly onAnswer: (endpoint: string, outcome: UpstreamOutcome, seconds: number) => void
}

const LABELS = ['model', 'endpoint'] as const

type EndpointLabels = Readonly<Record<(typeof LABELS)[number], string>>

const FIRST_BYTE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export class UpstreamMetrics {
  readonly #states = new Map<() => EndpointState, EndpointLabels>()
  readonly #requests = new Counter({
    name: 'sluice_upstream_requests_total',
    help: 'Requests to an endpoint of a remote model until the first byte of the answer: `answered`, `refused` (a status other than 200), `failed` (none) or `left` by its client; one that another endpoint answered in the end counts at both.',
    labelNames: [...LABELS, 'outcome'],
    registers: [],
  })
  readonly #firstByte = new Histogram({
    name: 'sluice_upstream_first_byte_seconds',
    help: 'From the sending of a request to the first byte of its answer.',
    labelNames: LABELS,
    buckets: FIRST_BYTE_SECONDS,
    registers: [],
  })
  /** For a registry. */
  readonly all: readonly (Counter | Gauge | Histogram)[]

  constructor() {
    const states = this.#states
    const up = new Gauge({
      name: 'sluice_upstream_up',
      help: '1 while an endpoint answers its health probe and its circuit breaker is closed.',
      labelNames: LABELS,
      registers: [],
      aggregator: 'min',
      collect() {
        this.reset()
        for (const [state, labels] of states) this.set(labels, state().takesWork ? 1 : 0)
      },
    })
    const running = new Gauge({
      name: 'sluice_upstream_requests_running',
      help: 'Requests to an endpoint whose answers have not ended.',
      labelNames: LABELS,
      registers: [],
      collect() {
        this.reset()
        for (const [state, labels] of states) this.inc(labels, state().outstanding)
      },
    })
    this.all = [this.#requests, this.#firstByte, up, running]
  }

  of(model: string): EndpointObserver {
    return {
      onOpen: (endpoint, state) => {
        this.#states.set(state, { model, endpoint })
        return () => {
          this.#states.delete(state)
          this.#forget({ model, endpoint })
        }
      },
      onAnswer: (endpoint, outcome, seconds) => {
        if (!this.#isOpen({ model, endpoint })) return
        this.#requests.inc({ model, endpoint, outcome })
        if (outcome === 'answered') this.#firstByte.observe({ model, endpoint }, seconds)
      },
    }
  }

  /** A name whose addresses come and go would leave the series of each address that ever was. */
  #forget(labels: EndpointLabels): void {
    if (this.#isOpen(labels)) return
    for (const outcome of OUTCOMES) this.#requests.remove({ ...labels, outcome })
    this.#firstByte.remove(labels)
  }

  #isOpen({ model, endpoint }: EndpointLabels): boolean {
    for (const open of this.#states.values())
      if (open.model === model && open.endpoint === endpoint) return true
    return false
  }
}
