/**
 * The second llama.cpp context of a model, in which beams run: one KV cache that all seats share, so that a beam forks
 * by noting a second owner of its cells. Made on first use, because most servers never need it, and while the slots go on.
 * Invariant: a seat's cells are those of its beam's prompt and tokens, from position 0 without a gap.
 */
import { InvariantError, ServiceError } from '../../core/errors.ts'
import type { BeamChoice, BeamPlan, BeamRoom, BeamRun } from '../../protocol/model-runner.ts'
import { BeamSampler } from './sampling/beam-sampling.ts'
import { lateTokensOf } from './sampling/logit-adjustments.ts'
import type { ActiveAdapter, Adapters } from './lora/adapters.ts'
import type { Bindings } from './ffi/bindings.ts'
import type { Candidates } from './sampling/candidates.ts'
import { Context, type ContextOptions } from './context.ts'
import { availableMemoryBytes } from '../../checkpoints/memory/available-memory.ts'
import { slotTokens } from '../../checkpoints/memory/kv-room.ts'
import { kvCacheBytes } from '../../checkpoints/memory/memory-need.ts'
import type { Model } from './model.ts'

/** The most beams of one search, and of all searches together beside the reserve. */
const MAX_BEAMS = 8
/** Seats that the scheduler keeps for higher tiers: a search of theirs need not wait for the end of another. */
const RESERVED_SEATS = MAX_BEAMS

/** What the runner's slots use too. */
interface BeamTools {
  readonly scratch: Candidates
  readonly adapters: Pick<Adapters, 'get'>
}

/** `sharedTokens` are those of the slots. */
interface BeamContextOptions extends ContextOptions {
  /** Of a KV cache, what is in the machine's own memory: 0 to 1. */
  readonly hostKvShare: number
  readonly endTokenIds: readonly number[]
}

/** Never more tokens than the slots hold, and in the reserve as many as one sequence may reach. */
export function createBeamRoom({
  maxSeqLen,
  maxBatchSize,
  sharedTokens,
}: Pick<ContextOptions, 'maxSeqLen' | 'maxBatchSize' | 'sharedTokens'>): Required<BeamRoom> {
  const tokens = slotTokens(maxSeqLen)
  return {
    seats: MAX_BEAMS,
    tokens: Math.min(tokens * Math.min(maxBatchSize, MAX_BEAMS), sharedTokens ?? Number.POSITIVE_INFINITY),
    reserve: { seats: RESERVED_SEATS, tokens },
  }
}

export class BeamContext {
  readonly #context: Context
  /** By a group's first seat; null before its first group. */
  readonly #samplers: (BeamSampler | null)[] = Array.from({ length: MAX_BEAMS + RESERVED_SEATS }, () => null)

  /** By a group's first seat; absent where it has none. */
  readonly #adapters = new Map<number, ActiveAdapter>()
  readonly #endTokenIds: readonly number[]

  private constructor(context: Context, endTokenIds: readonly number[]) {
    this.#context = context
    this.#endTokenIds = endTokenIds
  }

  /** @throws ServiceError `beams_unavailable` when there is no memory for it. */
  static async open(api: Bindings, model: Model, options: BeamContextOptions): Promise<BeamContext> {
    const { seats, tokens, reserve } = createBeamRoom(options)
    const sharedTokens = tokens + reserve.tokens
    const cacheBytes = kvCacheBytes(sharedTokens * model.kvElementsPerToken, options.kvCacheType)
    const neededBytes = cacheBytes * options.hostKvShare
    const availableBytes = availableMemoryBytes()
    // Checked here: an allocation that fails would end the engine and all its requests.
    if (neededBytes > availableBytes) {
      throw unavailable(
        `it needs ${toMegabytes(neededBytes)}, and ${toMegabytes(availableBytes)} is available.`,
      )
    }
    try {
      const maxBatchSize = seats + reserve.seats
      const context = await Context.openAsync(api, model, {
        ...{ ...options, maxBatchSize, sharedTokens },
        maxDraftTokens: 0,
      })
      return new BeamContext(context, options.endTokenIds)
    } catch (error) {
      throw unavailable(`llama.cpp cannot make room for ${sharedTokens} tokens.`, error)
    }
  }

  /** Returns the choices of each group that has beams, in the order of the plan. */
  execute({ drops, starts, forks, groups }: BeamPlan, { scratch, adapters }: BeamTools): BeamChoice[][] {
    for (const seat of drops) this.#empty(seat)
    for (const { seat, sampling, promptTokenIds, endRules, adapterId } of starts) {
      if (adapterId === undefined) this.#adapters.delete(seat)
      else this.#adapters.set(seat, adapters.get(adapterId))
      const lateTokens = lateTokensOf(endRules, this.#endTokenIds)
      this.#samplers[seat] = new BeamSampler(sampling, promptTokenIds, lateTokens)
    }
    for (const { from, to } of forks) this.#context.copySlot(from, to)
    const choices = new Map<BeamRun, BeamChoice[]>()
    const adapterOf = ({ seat }: BeamRun): ActiveAdapter | null => this.#adapters.get(seat) ?? null
    for (const adapter of new Set(groups.map(adapterOf))) {
      this.#context.useAdapter(adapter)
      const own = groups.filter((group) => adapterOf(group) === adapter)
      this.#decode(own, (group, rows) => choices.set(group, this.#choose(group, rows, scratch)))
    }
    return groups.flatMap((group) => {
      const own = choices.get(group)
      return own === undefined ? [] : [own]
    })
  }

  /** No group is computed with an adapter from now on until it is said again. */
  useAdapter(adapter: ActiveAdapter | null): void {
    this.#context.useAdapter(adapter)
  }

  /** Computes groups of one adapter; gives the logits of each that has beams, which are valid until the next decode. */
  #decode(
    groups: readonly BeamRun[],
    onLogits: (group: BeamRun, rows: readonly Float32Array[]) => void,
  ): void {
    // The seats are the slots of this context.
    this.#context.decode(
      groups.flatMap(({ runs }) => runs.map(({ seat, ...run }) => ({ ...run, slotId: seat }))),
    )
    const choosing = groups.filter(({ beams }) => beams.length > 0)
    if (choosing.length === 0) return
    const logits = this.#context.logits()
    let row = 0
    for (const group of choosing) {
      onLogits(group, logits.slice(row, row + group.beams.length))
      row += group.beams.length
    }
  }

  close(): void {
    this.#context.close()
  }

  #choose(
    { seat, beams, candidates }: BeamRun,
    rows: readonly Float32Array[],
    scratch: Candidates,
  ): BeamChoice[] {
    const sampler = this.#samplers[seat]
    if (!sampler) throw new InvariantError(`Seat ${seat} has beams but no group.`)
    const ranked = beams.map((beam, index) => {
      const logits = rows[index]
      if (logits === undefined) throw new InvariantError(`Beam ${index} of seat ${seat} has no logits.`)
      return { beam, logits }
    })
    return sampler.choose(ranked, candidates, scratch)
  }

  #empty(seat: number): void {
    if (!this.#context.trimSlot(seat, 0)) throw new InvariantError(`Seat ${seat} cannot be emptied.`)
  }
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('beams_unavailable', { message }, { cause })
}

function toMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}
