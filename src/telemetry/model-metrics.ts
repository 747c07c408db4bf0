/**
 * The state of models, their sequences and their engines, read for each rendering. In a service with workers the supervisor has the
 * engines, and each worker its own sequences: what they say is added up, except what they have in common.
 */
import { Counter, Gauge } from 'prom-client'
import { TIER_LIMITS, TIERS } from '../core/tiers.ts'
import { type ProcessUsage, readProcessUsage } from './process-usage.ts'

/** What the sequences of a model do in this process. */
interface ModelSequences {
  readonly model: string
  readonly waiting: number
  readonly running: number
  readonly heldTokens: number
  readonly capacityTokens: number | null
  readonly queriedTokens: number
  readonly cachedTokens: number
  readonly restoredTokens: number
}

interface ModelState {
  readonly id: string
  readonly state: string
  readonly engineDeaths: number
  readonly prefixCacheBytes: number
  readonly preemptions: number
  readonly info: { readonly engine: string; readonly maxBatchSize: number } | null
}

export interface ModelStates {
  list(): readonly ModelState[]
  /** Sequences of a priority class that wait. */
  waitingOf(priorityClass: number): number
  sequences(): readonly ModelSequences[]
  /** Of the engines of this process. */
  engineProcesses(): readonly { readonly model: string; readonly pid: number }[]
}

/** Of a process that serves none. */
export const NO_MODEL_STATES: ModelStates = {
  list: () => [],
  waitingOf: () => 0,
  sequences: () => [],
  engineProcesses: () => [],
}

type ModelMetric = Counter | Gauge

const MODEL = ['model'] as const

/** For a registry. */
export function createModelMetrics(models: ModelStates): readonly ModelMetric[] {
  return [...stateMetrics(models), ...sequenceMetrics(models), ...engineMetrics(models)]
}

function stateMetrics(models: ModelStates): readonly ModelMetric[] {
  return [
    new Gauge({
      name: 'sluice_model_state',
      aggregator: 'max',
      help: '1 for the state that a model is in.',
      labelNames: [...MODEL, 'state'],
      registers: [],
      collect() {
        this.reset()
        for (const { id, state } of models.list()) this.set({ model: id, state }, 1)
      },
    }),
    new Gauge({
      name: 'sluice_slots',
      aggregator: 'max',
      help: 'Sequences that a model runs at once, in all its engines; not of remote models.',
      labelNames: MODEL,
      registers: [],
      collect() {
        this.reset()
        for (const { id, info } of models.list())
          if (info !== null && info.engine !== 'openai') this.set({ model: id }, info.maxBatchSize)
      },
    }),
    new Gauge({
      name: 'sluice_queue_waiting',
      aggregator: 'max',
      help: 'Sequences that find no free slot, or wait for a first load.',
      labelNames: ['tier'],
      registers: [],
      collect() {
        for (const tier of TIERS) this.set({ tier }, models.waitingOf(TIER_LIMITS[tier].priorityClass))
      },
    }),
  ]
}

function sequenceMetrics(models: ModelStates): readonly ModelMetric[] {
  const gauge = (name: string, help: string, valueOf: (sequences: ModelSequences) => number | null) =>
    new Gauge({
      ...{ name, help, labelNames: MODEL, registers: [] },
      collect() {
        this.reset()
        for (const sequences of models.sequences()) {
          const value = valueOf(sequences)
          if (value !== null) this.set({ model: sequences.model }, value)
        }
      },
    })
  const counter = (name: string, help: string, valueOf: (sequences: ModelSequences) => number) =>
    new Counter({
      ...{ name, help, labelNames: MODEL, registers: [] },
      collect() {
        this.reset()
        for (const sequences of models.sequences())
          if (sequences.capacityTokens !== null) this.inc({ model: sequences.model }, valueOf(sequences))
      },
    })
  return [
    gauge('sluice_requests_running', 'Sequences that are computed now.', ({ running }) => running),
    gauge(
      'sluice_requests_waiting',
      'Sequences that were accepted and have not begun: they wait for a slot, are tokenized, or wait for the first byte of a remote model.',
      ({ waiting }) => waiting,
    ),
    gauge(
      'sluice_kv_cache_tokens',
      'Tokens that running sequences hold in the KV cache; not of remote models.',
      ({ heldTokens, capacityTokens }) => (capacityTokens === null ? null : heldTokens),
    ),
    gauge(
      'sluice_kv_cache_usage_ratio',
      'The share of the KV cache that running sequences hold, 0 to 1.',
      ({ heldTokens, capacityTokens }) => (capacityTokens === null ? null : heldTokens / capacityTokens),
    ),
    new Gauge({
      name: 'sluice_kv_cache_capacity_tokens',
      aggregator: 'max',
      help: 'Tokens that the KV cache has room for, in all engines of a model.',
      labelNames: MODEL,
      registers: [],
      collect() {
        this.reset()
        for (const { model, capacityTokens } of models.sequences())
          if (capacityTokens !== null) this.set({ model }, capacityTokens)
      },
    }),
    counter(
      'sluice_prefix_cache_queries_total',
      'Tokens of prompts that were looked for in the prefix cache; not of remote models.',
      ({ queriedTokens }) => queriedTokens,
    ),
    counter(
      'sluice_prefix_cache_hits_total',
      'Tokens of prompts that were found in the prefix cache, and not computed.',
      ({ cachedTokens }) => cachedTokens,
    ),
    counter(
      'sluice_prefix_cache_restored_tokens_total',
      'Tokens of prompts that were copied back from host memory, of those found in the prefix cache.',
      ({ restoredTokens }) => restoredTokens,
    ),
    new Gauge({
      name: 'sluice_prefix_cache_host_bytes',
      aggregator: 'max',
      help: 'What conversations without a slot hold in host memory, in all engines of a model.',
      labelNames: MODEL,
      registers: [],
      collect() {
        this.reset()
        for (const { id, info, prefixCacheBytes } of models.list())
          if (info !== null && info.engine !== 'openai') this.set({ model: id }, prefixCacheBytes)
      },
    }),
  ]
}

interface EngineUsage extends ProcessUsage {
  readonly model: string
  /** The number of the replica, from 0. */
  readonly replica: string
}

async function readEngines(models: ModelStates): Promise<readonly EngineUsage[]> {
  const numbers = new Map<string, number>()
  const engines = models.engineProcesses().map(({ model, pid }) => {
    const replica = numbers.get(model) ?? 0
    numbers.set(model, replica + 1)
    return { model, pid, replica: String(replica) }
  })
  // The supervisor has the passthrough model in its own process.
  const others = engines.filter(({ pid }) => pid !== process.pid)
  const usages = await Promise.all(
    others.map(async ({ model, replica, pid }) => {
      const usage = await readProcessUsage(pid)
      return usage === null ? [] : [{ model, replica, ...usage }]
    }),
  )
  return usages.flat()
}

function engineMetrics(models: ModelStates): readonly ModelMetric[] {
  const labelNames = [...MODEL, 'replica']
  return [
    new Counter({
      name: 'sluice_engine_deaths_total',
      help: 'Engine processes of a model that have died and were started again; from 0 again when the model is replaced.',
      labelNames: MODEL,
      registers: [],
      collect() {
        this.reset()
        for (const { id, engineDeaths } of models.list()) this.inc({ model: id }, engineDeaths)
      },
    }),
    new Counter({
      name: 'sluice_preemptions_total',
      help: 'Sequences that lost their slot because the KV cache was full, and went on later; from 0 again when an engine is started again.',
      labelNames: MODEL,
      registers: [],
      collect() {
        this.reset()
        for (const { id, info, preemptions } of models.list())
          if (info !== null && info.engine !== 'openai') this.inc({ model: id }, preemptions)
      },
    }),
    new Counter({
      name: 'sluice_engine_cpu_seconds_total',
      help: 'CPU time of an engine process, user and system; from 0 again when it is started again. On Linux.',
      labelNames,
      registers: [],
      async collect() {
        const engines = await readEngines(models)
        this.reset()
        for (const { model, replica, cpuSeconds } of engines) this.inc({ model, replica }, cpuSeconds)
      },
    }),
    new Gauge({
      name: 'sluice_engine_resident_memory_bytes',
      help: 'Memory of an engine process that is in RAM, mapped weights included. On Linux.',
      labelNames,
      registers: [],
      async collect() {
        const engines = await readEngines(models)
        this.reset()
        for (const { model, replica, residentBytes } of engines) this.set({ model, replica }, residentBytes)
      },
    }),
  ]
}
