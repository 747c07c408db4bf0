/**
 * The second llama.cpp context of a model, in which beams run: one KV cache that all seats share, so that a beam forks
 * by noting a second owner of its cells. Made on first use, because most servers never need it, and while the slots go on.
 * Invariant: a seat's cells are those of its beam's prompt and tokens, from position 0 without a gap.
 */
import { InvariantError, ServiceError } from '../../core/errors.ts'
import type { BeamChoice, BeamPlan, BeamRoom, BeamRun } from '../../protocol/model-runner.ts'
import { BeamSampler } from './sampling/beam-sampling.ts'
import { lateTokensOf } from './sampling/logit-adjustments.ts'
import type { Bindings } from './ffi/bindings.ts'
import type { Candidates } from './sampling/candidates.ts'
import { Context, type ContextOptions } from './context.ts'
import { availableMemoryBytes } from '../../checkpoints/memory/available-memory.ts'
import { kvCacheBytes, slotTokens } from '../../checkpoints/memory/memory-need.ts'
import type { Model } from './model.ts'

/** The most beams of one search, and of all searches together beside the reserve. */
const MAX_BEAMS = 8
/** Seats that the scheduler keeps for higher tiers: a search of theirs need not wait for the end of another. */
const RESERVED_SEATS = MAX_BEAMS

interface BeamContextOptions extends Omit<ContextOptions, 'sharedTokens'> {
  readonly isOnCpu: boolean
  readonly endTokenIds: readonly number[]
}

/** Never more tokens than the slots hold, and in the reserve as many as one sequence may reach. */
export function createBeamRoom({
  maxSeqLen,
  maxBatchSize,
}: Pick<ContextOptions, 'maxSeqLen' | 'maxBatchSize'>): Required<BeamRoom> {
  const tokens = slotTokens(maxSeqLen)
  return {
    seats: MAX_BEAMS,
    tokens: tokens * Math.min(maxBatchSize, MAX_BEAMS),
    reserve: { seats: RESERVED_SEATS, tokens },
  }
}

export class BeamContext {
  readonly #context: Context
  /** By a group's first seat; null before its first group. */
  readonly #samplers: (BeamSampler | null)[] = Array.from({ length: MAX_BEAMS + RESERVED_SEATS }, () => null)

  readonly #endTokenIds: readonly number[]

  private constructor(context: Context, endTokenIds: readonly number[]) {
    this.#context = context
    this.#endTokenIds = endTokenIds
  }

  /** @throws ServiceError `beams_unavailable` when there is no memory for it. */
  static async open(api: Bindings, model: Model, options: BeamContextOptions): Promise<BeamContext> {
    const { seats, tokens, reserve } = createBeamRoom(options)
    const sharedTokens = tokens + reserve.tokens
    const neededBytes = kvCacheBytes(sharedTokens * model.kvElementsPerToken, options.kvCacheType)
    const availableBytes = availableMemoryBytes()
    // Checked here: an allocation that fails would end the engine and all its requests.
    if (options.isOnCpu && neededBytes > availableBytes) {
      throw unavailable(
        `it needs ${toMegabytes(neededBytes)}, and ${toMegabytes(availableBytes)} is available.`,
      )
    }
    try {
      const maxBatchSize = seats + reserve.seats
      const context = await Context.openAsync(api, model, { ...options, maxBatchSize, sharedTokens })
      return new BeamContext(context, options.endTokenIds)
    } catch (error) {
      throw unavailable(`llama.cpp cannot make room for ${sharedTokens} tokens.`, error)
    }
  }

  /** Returns the choices of each group that has beams, in the order of the plan. */
  execute({ drops, starts, forks, groups }: BeamPlan, scratch: Candidates): BeamChoice[][] {
    for (const seat of drops) this.#empty(seat)
    for (const { seat, sampling, promptTokenIds, endRules } of starts) {
      const lateTokens = lateTokensOf(endRules, this.#endTokenIds)
      this.#samplers[seat] = new BeamSampler(sampling, promptTokenIds, lateTokens)
    }
    for (const { from, to } of forks) this.#context.copySlot(from, to)
    // The seats are the slots of this context.
    this.#context.decode(
      groups.flatMap(({ runs }) => runs.map(({ seat, ...run }) => ({ ...run, slotId: seat }))),
    )

    const choosing = groups.filter(({ beams }) => beams.length > 0)
    if (choosing.length === 0) return []
    const logits = this.#context.logits()
    let row = 0
    return choosing.map((group) => {
      const rows = logits.slice(row, row + group.beams.length)
      row += group.beams.length
      return this.#choose(group, rows, scratch)
    })
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
