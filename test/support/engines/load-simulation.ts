/**
 * Clients of several tiers at a scheduler whose model and clock are simulated: who gets how many tokens, and how long each
 * waits for its slot and for its first token. A step takes as long as its tokens cost on a small model.
 */
import { VirtualClock } from '../../../src/core/clock.ts'
import type { StepPlan } from '../../../src/protocol/model-runner.ts'
import {
  ContinuousBatchScheduler,
  type SchedulerOptions,
} from '../../../src/scheduler/continuous-batch-scheduler.ts'
import type { ScheduledRequest } from '../../../src/scheduler/sequence.ts'
import { answer } from './sequences.ts'

const TOKEN = 7
const STEP_MS = 2
const DECODE_TOKEN_MS = 1
const PROMPT_TOKEN_MS = 0.25

/** An account that keeps so many requests open, or sends them in blocks when the last one has ended. */
export interface SimulatedClient {
  readonly accountId: string
  readonly priorityClass: number
  readonly open: number
  readonly isBlock?: boolean
  readonly promptTokens?: number
  readonly maxNewTokens: number
  readonly numBeams?: number
  readonly priority?: number
  /** How many tokens its texts have. @default as many as they may */
  readonly textTokens?: number
  readonly startsAtMs?: number
  /** Between the end of a request and the next one. */
  readonly pauseMs?: number
}

export interface ClientFigures {
  tokens: number
  readonly waitsMs: number[]
  readonly firstTokenMs: number[]
  /** Since when its longest-waiting request waits; null when none does. */
  waitingSinceMs: number | null
}

interface OpenRequest {
  readonly client: SimulatedClient
  readonly sentMs: number
  newTokens: number
  hasStarted: boolean
}

export class LoadSimulation {
  readonly clock = new VirtualClock()
  readonly scheduler: ContinuousBatchScheduler
  readonly figures = new Map<string, ClientFigures>()
  readonly #clients: readonly SimulatedClient[]
  readonly #servedClasses: readonly number[]
  readonly #open = new Map<number, OpenRequest>()
  readonly #openCounts = new Map<SimulatedClient, number>()
  readonly #pausedUntilMs = new Map<string, number>()
  #nextReqId = 0

  constructor(clients: readonly SimulatedClient[], options: Partial<SchedulerOptions> = {}) {
    this.#clients = clients
    this.#servedClasses = [...new Set(clients.map(({ priorityClass }) => priorityClass))]
    for (const { accountId } of clients) {
      this.figures.set(accountId, { tokens: 0, waitsMs: [], firstTokenMs: [], waitingSinceMs: null })
    }
    this.scheduler = new ContinuousBatchScheduler({
      maxBatchSize: 8,
      maxSeqLen: 4096,
      schedulePolicy: 'priority',
      clock: this.clock,
      ...options,
    })
  }

  run(forMs: number): this {
    const untilMs = this.clock.nowMs() + forMs
    while (this.clock.nowMs() < untilMs) {
      for (const client of this.#clients) this.#send(client)
      this.#step()
    }
    for (const [accountId, figures] of this.figures) {
      const waiting = [...this.#open.values()].filter(
        (request) => request.client.accountId === accountId && !request.hasStarted,
      )
      figures.waitingSinceMs = waiting.length === 0 ? null : Math.min(...waiting.map(({ sentMs }) => sentMs))
    }
    return this
  }

  of(accountId: string): ClientFigures {
    const figures = this.figures.get(accountId)
    if (figures === undefined) throw new Error(`there is no client ${accountId}`)
    return figures
  }

  /** Forgets the tokens so far: what was started before everyone waited. */
  resetTokens(): this {
    for (const figures of this.figures.values()) figures.tokens = 0
    return this
  }

  /** Each client's part of all tokens. */
  shares(): Record<string, number> {
    const all = [...this.figures.values()].reduce((sum, { tokens }) => sum + tokens, 0)
    return Object.fromEntries([...this.figures].map(([accountId, { tokens }]) => [accountId, tokens / all]))
  }

  #send(client: SimulatedClient): void {
    const nowMs = this.clock.nowMs()
    const {
      accountId,
      priorityClass,
      priority = 0,
      startsAtMs = 0,
      isBlock = false,
      promptTokens = 8,
    } = client
    if (nowMs < startsAtMs || nowMs < (this.#pausedUntilMs.get(accountId) ?? 0)) return
    const held = this.#openCounts.get(client) ?? 0
    if (held === client.open || (isBlock && held > 0)) return
    this.#openCounts.set(client, client.open)
    const requests = Array.from({ length: client.open - held }, (): ScheduledRequest => {
      const reqId = this.#nextReqId++
      this.#open.set(reqId, { client, sentMs: nowMs, newTokens: 0, hasStarted: false })
      const ids = Array.from({ length: promptTokens }, (_, index) => reqId * 10_000 + index)
      const place = { accountId, priorityClass, priority, servedClasses: this.#servedClasses }
      const numBeams = client.numBeams ?? 1
      return { ids, reqId, maxNewTokens: client.maxNewTokens, numBeams, place }
    })
    this.scheduler.addBlock(requests)
  }

  #step(): void {
    const plan = this.scheduler.plan()
    if (plan === null) {
      this.clock.advance(STEP_MS)
      return
    }
    let decodes = 0
    let prompts = 0
    for (const { tokenIds } of plan.runs)
      if (tokenIds.length === 1) decodes++
      else prompts += tokenIds.length
    const beams = plan.beams?.groups.reduce((sum, { runs }) => sum + runs.length, 0) ?? 0
    const times = { decodeMs: decodes * DECODE_TOKEN_MS, promptMs: prompts * PROMPT_TOKEN_MS }
    this.clock.advance(STEP_MS + times.decodeMs + times.promptMs + beams * DECODE_TOKEN_MS)
    const started = this.scheduler.takeEvents()
    const output = { ...answer(plan, TOKEN), times, beamChoices: beamChoices(plan) }
    for (const event of [...started, ...this.scheduler.update(output)]) {
      const request = this.#open.get(event.reqId)
      if (request === undefined) continue
      const { client } = request
      const figures = this.of(client.accountId)
      if (event.type === 'sequence-start') {
        request.hasStarted = true
        figures.waitsMs.push(event.queueMs)
        figures.tokens += event.promptTokens
      } else if (event.type === 'text-delta') {
        if (request.newTokens === 0) figures.firstTokenMs.push(this.clock.nowMs() - request.sentMs)
        request.newTokens += event.tokenIds.length
        figures.tokens += event.tokenIds.length
        if (request.newTokens < (client.textTokens ?? Infinity)) continue
        this.scheduler.abort(event.reqId)
        this.#end(event.reqId, client)
      } else this.#end(event.reqId, client)
    }
  }

  #end(reqId: number, client: SimulatedClient): void {
    this.#open.delete(reqId)
    this.#openCounts.set(client, (this.#openCounts.get(client) ?? 0) - 1)
    this.#pausedUntilMs.set(client.accountId, this.clock.nowMs() + (client.pauseMs ?? 0))
  }
}

function beamChoices({ beams }: StepPlan) {
  return (beams?.groups ?? [])
    .filter((group) => group.beams.length > 0)
    .map((group) =>
      Array.from({ length: group.candidates }, (_, rank) => {
        const beam = rank % group.beams.length
        return { beam, tokenId: TOKEN + rank, score: (group.beams[beam]?.score ?? 0) - 1 - rank / 100 }
      }),
    )
}
