/**
 * The engines of one model as one: a request goes to the replica with the fewest running sequences, among those that
 * serve. One that waits in a replica which dies goes to another, or waits for the next process where there is none.
 * Owns the replicas; each is started again by itself when it dies.
 */
import { InvariantError, ServiceError } from '../../../core/errors.ts'
import type { AdapterOptions, NumberedAdapter } from '../../../protocol/adapter.ts'
import type { Placement } from '../../../protocol/compute-device.ts'
import type {
  EmbeddingRequest,
  Engine,
  EngineRequest,
  EngineStatus,
  SharedEngine,
  TokenizedText,
  TokenizeRequest,
  TokenPrompt,
} from '../../../protocol/engine.ts'
import type { AnswerEvent } from '../../../protocol/engine-events.ts'
import type { ModelInfo } from '../../../protocol/model-info.ts'

import { AdapterEngine } from './adapter-engine.ts'

/** The best one first. */
const STATES: readonly EngineStatus['state'][] = ['ready', 'restarting', 'failed']

/** An engine process, or a client of one. */
export interface ReplicaEngine extends Engine {
  /** Resolves when it has the adapter, as every later process of it will. @throws ServiceError as `Engine.openAdapter` */
  loadAdapter?(adapter: NumberedAdapter, signal: AbortSignal): Promise<void>
  freeAdapter?(adapterId: number): void
}

interface Replica {
  readonly engine: ReplicaEngine
  /** Sequences of requests that have not ended. */
  load: number
}

export class ReplicatedEngine implements Engine {
  readonly #replicas: readonly Replica[]
  #nextAdapterId = 1

  /** At least one; they must serve the same model. */
  constructor(engines: readonly ReplicaEngine[]) {
    this.#replicas = engines.map((engine) => ({ engine, load: 0 }))
  }

  async *generate(
    request: EngineRequest | EmbeddingRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly AnswerEvent[], void, void> {
    const tries = new Tries(this.#replicas)
    const sequences = request.prompts.length * ('choices' in request ? (request.choices ?? 1) : 1)
    for (;;) {
      const replica = tries.next()
      let hasStarted = false
      replica.load += sequences
      try {
        for await (const events of replica.engine.generate(request, signal)) {
          hasStarted = true
          yield events
        }
        return
      } catch (error) {
        if (hasStarted || !tries.mayTryAgain(replica, error)) throw error
      } finally {
        replica.load -= sequences
      }
    }
  }

  tokenize(request: TokenizeRequest, signal: AbortSignal): Promise<TokenizedText> {
    return this.#ask((engine) => engine.tokenize(request, signal))
  }

  detokenize(tokenIds: TokenPrompt['tokenIds'], signal: AbortSignal): Promise<string> {
    return this.#ask((engine) => engine.detokenize(tokenIds, signal))
  }

  /** Work with one answer: nothing of it has been passed on when it fails. */
  async #ask<Answer>(work: (engine: Engine) => Promise<Answer>): Promise<Answer> {
    const tries = new Tries(this.#replicas)
    for (;;) {
      const replica = tries.next()
      try {
        return await work(replica.engine)
      } catch (error) {
        if (!tries.mayTryAgain(replica, error)) throw error
      }
    }
  }

  /** Loads the adapter into every replica, or into none. */
  async openAdapter(options: AdapterOptions, signal: AbortSignal): Promise<Engine> {
    const { modelId, path, scale, parameters, sizeBytes } = options
    const adapterId = this.#nextAdapterId++
    const free = (): void => {
      for (const { engine } of this.#replicas) engine.freeAdapter?.(adapterId)
    }
    const loads = this.#replicas.map(async ({ engine }) => {
      if (engine.loadAdapter === undefined) throw new InvariantError('A replica takes no adapters.')
      await engine.loadAdapter({ adapterId, modelId, path, scale }, signal)
    })
    const failed = (await Promise.allSettled(loads)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') {
      free()
      throw failed.reason
    }
    return new AdapterEngine({ base: this, adapter: { adapterId, parameters, sizeBytes }, onClose: free })
  }

  /** Of the model, with the slots and the memory of all replicas. */
  info(): ModelInfo {
    const infos = this.#replicas.map(({ engine }) => engine.info())
    const [first] = infos
    if (first === undefined) throw new RangeError('A model has at least one replica.')
    const memory = infos.map(({ memoryBytes }) => memoryBytes)
    const placement = leastOffloaded(infos)
    const kvCacheTokens = infos.reduce((sum, { kvCacheTokens: tokens = 0 }) => sum + tokens, 0)
    return {
      ...first,
      maxBatchSize: infos.reduce((sum, { maxBatchSize }) => sum + maxBatchSize, 0),
      ...(kvCacheTokens > 0 && { kvCacheTokens }),
      ...(placement !== undefined && { placement }),
      memoryBytes: memory.reduce((sum, bytes) => (sum === null || bytes === null ? null : sum + bytes), 0),
    }
  }

  /** As good as the best replica. */
  status(): EngineStatus {
    const statuses = this.#replicas.map(({ engine }) => engine.status())
    const best = STATES.map((state) => statuses.find((status) => status.state === state)).find(
      (status) => status !== undefined,
    )
    if (best === undefined) throw new RangeError('A model has at least one replica.')
    const ready = statuses.filter(({ state }) => state === 'ready').length
    const deaths = statuses.reduce((sum, status) => sum + (status.deaths ?? 0), 0)
    const prefixCacheBytes = statuses.reduce((sum, status) => sum + (status.prefixCacheBytes ?? 0), 0)
    const preemptions = statuses.reduce((sum, status) => sum + (status.preemptions ?? 0), 0)
    const cache = {
      ...(prefixCacheBytes > 0 && { prefixCacheBytes }),
      ...(preemptions > 0 && { preemptions }),
    }
    return { ...best, replicas: { all: statuses.length, ready }, deaths, ...cache }
  }

  replicas(): readonly SharedEngine[] {
    return this.#replicas.flatMap(({ engine }) => engine.replicas?.() ?? [])
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map(({ engine }) => engine.close()))
  }
}

/** Of one replica, as the weights are: the one with the fewest layers on GPUs. */
function leastOffloaded(infos: readonly ModelInfo[]): Placement | undefined {
  const placements = infos.flatMap(({ placement }) => placement ?? [])
  return placements.toSorted((one, other) => one.layers - other.layers)[0]
}

/** The tries of one request that has not started. */
class Tries {
  readonly #replicas: readonly Replica[]
  readonly #refusing = new Set<Replica>()
  #hasBeenRerun = false

  constructor(replicas: readonly Replica[]) {
    this.#replicas = replicas
  }

  /** The least loaded of those that have not refused. */
  next(): Replica {
    const candidates = this.#replicas.filter((replica) => !this.#refusing.has(replica))
    const [best] = candidates.toSorted(
      (one, other) => stateRank(one) - stateRank(other) || one.load - other.load,
    )
    if (best === undefined) throw new RangeError('A model has at least one replica.')
    return best
  }

  /** Whether another replica, or the next process of this one, may still do it. */
  mayTryAgain(replica: Replica, error: unknown): boolean {
    if (!(error instanceof ServiceError)) return false
    if (error.code === 'engine_unavailable' && this.#refusing.size + 1 < this.#replicas.length) {
      this.#refusing.add(replica)
      return true
    }
    // What never started is innocent of the death, but only once: it might be the cause after all.
    if (error.code !== 'engine_failed' || this.#hasBeenRerun) return false
    this.#hasBeenRerun = true
    return true
  }
}

/**
 * All or none: when one cannot be started, those that start are given up, and the started ones are closed.
 * @throws what the first one that could not be started throws
 */
export async function startReplicas(
  starts: readonly ((signal: AbortSignal) => Promise<ReplicaEngine>)[],
  signal: AbortSignal,
): Promise<ReplicatedEngine> {
  const failing = new AbortController()
  const starting = starts.map((start) => start(AbortSignal.any([signal, failing.signal])))
  try {
    return new ReplicatedEngine(await Promise.all(starting))
  } catch (error) {
    failing.abort()
    for (const settled of await Promise.allSettled(starting)) {
      if (settled.status === 'fulfilled') await settled.value.close()
    }
    throw error
  }
}

function stateRank({ engine }: Replica): number {
  return STATES.indexOf(engine.status().state)
}
