/**
 * The draft model's part of the plans: which sequences it proposes tokens for, how many, and what it computes to keep up with
 * their texts. Owned by the running batch. Pure; `DraftGain` decides by what was measured.
 * All proposals of a step are equally long, so that one native call verifies them all.
 * Invariant: what the draft model's cache holds of a slot is the beginning of its sequence's text.
 */
import {
  isDecodeRun,
  withProposal,
  type DraftRoom,
  type DraftRun,
  type StepOutput,
  type StepTimes,
} from '../../protocol/model-runner.ts'
import { checkRule, type Sequence } from '../sequence.ts'
import type { PlannedRun } from '../slots/slot-runs.ts'
import { DraftCache } from './draft-cache.ts'
import { DraftGain, type DecodeLoad } from './draft-gain.ts'

/** A text of which the draft model lacks no more than this is proposed for in the same step. */
const MOST_BEHIND = 8
/** Tokens that are made up for in a step: before it is known how long one takes, and the least and most of any step. */
const FIRST_CATCH_UP_TOKENS = 64
const LEAST_CATCH_UP_TOKENS = 16
const MOST_CATCH_UP_TOKENS = 256

export interface ModelDraftsOptions {
  readonly room: DraftRoom
  readonly maxSeqLen: number | null
  /** Whether a text may go on from what another account's left in the draft model's cache. */
  readonly isShared: boolean
  /** Tokens that the KV cache has room for beside those that must be computed. */
  readonly freeTokens: () => number
  /** Tokens in the KV cache of the sequence's slot. */
  readonly computedTokenIds: (sequence: Sequence) => readonly number[]
}

/** A sequence that may be drafted, and what the draft model lacks of its text. */
interface Candidate {
  readonly sequence: Sequence
  readonly slotId: number
  /** With its last token. */
  readonly textTokens: number
  readonly heldTokens: number
  readonly rate: number
}

interface PlannedStep {
  readonly sequences: number
  readonly drafts: readonly DraftRun[]
}

/** How many proposals of a sequence were right. */
export interface DraftOutcome {
  readonly sequence: Sequence
  readonly accepted: number
}

const NONE: readonly DraftRun[] = []

export class ModelDrafts {
  readonly #options: ModelDraftsOptions
  readonly #gain: DraftGain
  readonly #cache: DraftCache
  /** Of right guesses, by sequence. */
  readonly #rates = new WeakMap<Sequence, number>()
  #step: PlannedStep | null = null

  constructor(options: ModelDraftsOptions) {
    this.#options = options
    this.#gain = new DraftGain(options.room)
    this.#cache = new DraftCache(options.isShared)
  }

  /** What the draft model computes in a step of these runs. */
  plan(planned: readonly PlannedRun[]): readonly DraftRun[] {
    const decodes = planned.filter(({ sequence, run }) => !sequence.isPrefilling && isDecodeRun(run))
    const hasDrafts = decodes.some(({ run }) => (run.draftTokens ?? 0) > 0)
    this.#step = null
    if (decodes.length === 0 || hasDrafts) return NONE
    const candidates = decodes.flatMap((one) => this.#candidateOf(one) ?? [])
    const drafts = this.#planDrafts(decodes.length, candidates)
    this.#step = { sequences: decodes.length, drafts }
    return drafts
  }

  /** The planned runs as the runner computed them, with the proposals behind their tokens. */
  withProposals(
    planned: readonly PlannedRun[],
    proposals: readonly ArrayLike<number>[],
  ): readonly PlannedRun[] {
    const bySlot = new Map(this.#step?.drafts.map(({ slotId }, index) => [slotId, proposals[index] ?? []]))
    return planned.map((one) => {
      const proposal = bySlot.get(one.run.slotId) ?? []
      return proposal.length === 0 ? one : { ...one, run: withProposal(one.run, proposal), isByModel: true }
    })
  }

  /** Records what came of the step. @param outcomes by slot; of those whose sequence was not aborted meanwhile */
  settle(
    { proposals = [], times }: Pick<StepOutput, 'proposals' | 'times'>,
    outcomes: ReadonlyMap<number, DraftOutcome>,
  ): void {
    const { sequences, drafts } = this.#step ?? { sequences: 0, drafts: NONE }
    let made = sequences
    for (const [index, { slotId, position, tokenIds }] of drafts.entries()) {
      const outcome = outcomes.get(slotId)
      if (outcome === undefined) continue
      const proposal = Array.from(proposals[index] ?? [])
      const { sequence, accepted } = outcome
      // The last proposal was not computed.
      const kept = proposal.slice(0, Math.min(accepted, proposal.length - 1))
      this.#cache.record(slotId, position, [...Array.from(tokenIds), ...kept])
      if (proposal.length === 0) continue
      made += accepted
      const rate = this.#rateOf(sequence)
      this.#rates.set(sequence, this.#gain.observeProposal({ drafted: proposal.length, accepted }, rate))
    }
    if (times !== undefined && sequences > 0) this.#observeTimes({ sequences, drafts }, made, times)
    this.#step = null
  }

  #observeTimes({ sequences, drafts }: PlannedStep, made: number, { decodeMs, draft }: StepTimes): void {
    const catchUps = drafts.filter(({ proposes }) => proposes === 0)
    this.#gain.observeStep({
      sequences,
      proposes: drafts.find(({ proposes }) => proposes > 0)?.proposes ?? 0,
      made,
      ms: decodeMs + (draft?.proposalsMs ?? 0),
      catchUpTokens: catchUps.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
      catchUpMs: draft?.catchUpMs ?? 0,
    })
  }

  /** @throws InvariantError when the books do not agree. */
  checkIntegrity(running: Iterable<Sequence>): void {
    for (const sequence of running) {
      if (sequence.slotId === null) continue
      const held = this.#cache.findTokenIds(sequence.slotId, sequence) ?? []
      const text = this.#options.computedTokenIds(sequence)
      // After a preemption its text is computed again, and the draft model is ahead of that.
      const known = sequence.isPrefilling ? sequence.prefillTokenIds : [...text, sequence.lastTokenId]
      checkRule(
        held.every((tokenId, place) => tokenId === known[place]),
        "the draft model's cache holds a beginning of the text",
      )
    }
  }

  #planDrafts(sequences: number, candidates: readonly Candidate[]): readonly DraftRun[] {
    const load = loadOf(sequences, candidates)
    if (!this.#gain.beginStep(load)) return NONE
    const near = candidates.filter((candidate) => missingOf(candidate) <= MOST_BEHIND)
    return [...this.#propose(sequences, near), ...this.#catchUp(load, candidates)]
  }

  #propose(sequences: number, near: readonly Candidate[]): DraftRun[] {
    const length = near.reduce((most, candidate) => Math.max(most, missingOf(candidate)), 0)
    const level = near.filter(({ textTokens }) => textTokens >= length)
    const proposes = this.#gain.tokensFor(loadOf(sequences, level))
    const fitting = level.filter(({ textTokens }) => textTokens + proposes < this.#maxTokens)
    if (proposes === 0) return []
    const most = Math.max(0, Math.floor(this.#options.freeTokens() / proposes))
    return fitting.slice(0, most).map((candidate) => this.#draftRun(candidate, { length, proposes }))
  }

  /** The longest-running first; as much as takes as long as a step's tokens do. */
  #catchUp(load: DecodeLoad, candidates: readonly Candidate[]): DraftRun[] {
    const tokens = this.#gain.catchUpTokens(load.sequences) ?? FIRST_CATCH_UP_TOKENS
    let left = Math.min(MOST_CATCH_UP_TOKENS, Math.max(LEAST_CATCH_UP_TOKENS, tokens))
    const proposes = this.#gain.tokensFor(load)
    const runs: DraftRun[] = []
    for (const candidate of candidates) {
      const missing = missingOf(candidate)
      if (missing <= MOST_BEHIND || left <= 0) continue
      const { sequence, rate } = candidate
      const leftTokens = sequence.maxNewTokens - sequence.newTokens
      if (missing > this.#gain.affordableTokens(load, { proposes, leftTokens, rate })) continue
      const chunk = Math.min(missing - 1, left)
      runs.push(this.#draftRun(candidate, { length: missing, tokens: chunk, proposes: 0 }))
      left -= chunk
    }
    return runs
  }

  #draftRun(
    { sequence, slotId, textTokens }: Candidate,
    { length, tokens = length, proposes }: { length: number; tokens?: number; proposes: number },
  ): DraftRun {
    const position = textTokens - length
    const tokenIds = this.#options.computedTokenIds(sequence).slice(position, position + tokens)
    if (position + tokens === textTokens && sequence.lastTokenId !== null) tokenIds.push(sequence.lastTokenId)
    return { slotId, position, tokenIds, proposes }
  }

  #candidateOf({ sequence, run: { slotId } }: PlannedRun): Candidate | null {
    // Whether it is drafted depends on measured times, and a seeded text must not.
    if (sequence.sampling.seed !== null || sequence.totalTokens + 1 >= this.#maxTokens) return null
    const textTokens = this.#options.computedTokenIds(sequence).length + 1
    const heldTokens = this.#cache.heldTokenIds(slotId, sequence).length
    return { sequence, slotId, textTokens, heldTokens, rate: this.#rateOf(sequence) }
  }

  get #maxTokens(): number {
    const { maxSeqLen, room } = this.#options
    return maxSeqLen === null ? room.maxSeqLen : Math.min(maxSeqLen, room.maxSeqLen)
  }

  #rateOf(sequence: Sequence): number {
    return this.#rates.get(sequence) ?? this.#gain.rate
  }
}

function loadOf(sequences: number, candidates: readonly Candidate[]): DecodeLoad {
  return {
    sequences,
    rates: candidates.map(({ rate }) => rate),
    missingTokens: candidates.reduce((sum, candidate) => sum + missingOf(candidate), 0),
  }
}

/** At least the last token, which is known only since the step before. */
function missingOf({ textTokens, heldTokens }: Candidate): number {
  return textTokens - heldTokens
}
