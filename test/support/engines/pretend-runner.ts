/**
 * A runner that computes nothing but keeps the books of both KV caches as llama.cpp does, and throws when a plan asks for
 * what they do not allow: a gap, a fork over something, a cell that nobody owns, more cells than there are, a token that
 * another adapter has computed.
 */
import { verifyDraft, type VerifiedDraft } from '../../../src/engines/llamacpp/sampling/draft-verification.ts'
import {
  withProposal,
  type BeamChoice,
  type BeamPlan,
  type BeamRoom,
  type DraftRun,
  type HostMoves,
  type HostRoom,
  type SlotCut,
  type SlotStart,
  type StepOutput,
  type StepPlan,
  type StepTimes,
} from '../../../src/protocol/model-runner.ts'

export interface PretendRunnerOptions {
  readonly slots: number
  readonly beamRoom: BeamRoom
  /** Whether a slot can be cut to a part of what it holds. @default true */
  readonly canCut?: boolean
  /** Tokens of one cache that all slots share. @default each slot has its own */
  readonly sharedTokens?: number | null
  readonly hostRoom?: HostRoom
  /** What a copy takes in host memory. @default what its tokens are reckoned to take */
  readonly savedBytes?: number
  /** The token that follows those held; for beams with the rank of the candidate. */
  readonly nextToken: (rank: number, heldTokenIds: readonly number[]) => number
  /** What the draft model says follows a text. @default there is none */
  readonly draftToken?: (heldTokenIds: readonly number[]) => number
  /** How long a step takes. @default not told */
  readonly times?: (plan: StepPlan) => StepTimes
}

/** One token in a shared cache, however many seats or slots own it. */
interface Cell {
  readonly tokenId: number
}

export class PretendRunner {
  readonly #options: PretendRunnerOptions
  readonly #slots: Cell[][]
  readonly #seats: Cell[][]
  /** By slot. */
  readonly #adapters = new Map<number, number>()
  /** What the draft model's cache holds of each slot. */
  readonly #drafted = new Map<number, number[]>()
  readonly #prompts = new Map<number, ArrayLike<number>>()
  /** What is copied to host memory. */
  readonly #copies = new Map<number, readonly number[]>()

  constructor(options: PretendRunnerOptions) {
    this.#options = options
    this.#slots = Array.from({ length: options.slots }, () => [])
    this.#seats = Array.from(
      { length: options.beamRoom.seats + (options.beamRoom.reserve?.seats ?? 0) },
      () => [],
    )
  }

  execute(plan: StepPlan): StepOutput {
    const { cuts = [], starts, runs, drafts = [], beams } = plan
    for (const cut of cuts) this.#cut(cut)
    for (const start of starts) this.#start(start)
    const verified: VerifiedDraft[] = []
    const proposals = this.#propose(drafts, runs)
    for (const planned of runs) {
      const run = withProposal(
        planned,
        proposals[drafts.findIndex(({ slotId }) => slotId === planned.slotId)] ?? [],
      )
      const { slotId, position, tokenIds, wantsToken, draftTokens = 0 } = run
      const slot = this.#slot(slotId)
      must(slot.length === position, `slot ${slotId} goes on where it stands`)
      const adapterId = this.#adapters.get(slotId) ?? 0
      slot.push(...Array.from(tokenIds, (tokenId) => ({ tokenId: cellOf(tokenId, adapterId) })))
      this.#checkCells()
      if (!wantsToken) continue
      const held = slot.map(({ tokenId }) => tokenId)
      const certain = slot.length - draftTokens
      const outcome = verifyDraft(run, (index) => this.#options.nextToken(0, held.slice(0, certain + index)))
      slot.length = certain + outcome.accepted
      verified.push(outcome)
    }
    const { savedBytes } = this.#options
    const cutting = [...cuts, ...starts.flatMap((start) => [...(start.cuts ?? []), start])]
    const saved = cutting.flatMap(({ host }) =>
      host?.save && savedBytes !== undefined ? [{ entryId: host.save.entryId, bytes: savedBytes }] : [],
    )
    const output = {
      ...(saved.length > 0 && { saved }),
      ...(drafts.length > 0 && { proposals }),
      ...(this.#options.times !== undefined && { times: this.#options.times(plan) }),
      tokenIds: verified.map(({ tokenId }) => tokenId),
      acceptedTokens: verified.map(({ accepted }) => accepted),
    }
    return beams === undefined ? output : { ...output, beamChoices: this.#executeBeams(beams) }
  }

  #cut({ slotId, tokens, host }: SlotCut): void {
    if (host !== undefined) this.#moveToHost(slotId, host)
    const slot = this.#slot(slotId)
    must(slot.length >= tokens && this.#mayCut(slot.length, tokens), `slot ${slotId} can be cut`)
    slot.length = tokens
  }

  #start(start: SlotStart): void {
    const { slotId, promptTokenIds, newTokenIds = [], cachedTokens, copyFromSlotId, host, cuts = [] } = start
    const { adapterId = 0 } = start
    for (const cut of cuts) this.#cut(cut)
    this.#adapters.set(slotId, adapterId)
    if (host !== undefined) this.#moveToHost(slotId, host)
    if (copyFromSlotId !== null) this.#slots[slotId] = [...this.#slot(copyFromSlotId)]
    this.#checkCells()
    const slot = this.#slot(slotId)
    must(slot.length >= cachedTokens, `slot ${slotId} holds its cached tokens`)
    must(this.#mayCut(slot.length, cachedTokens), `slot ${slotId} is not cut`)
    slot.length = cachedTokens
    const tokenIds = [...Array.from(promptTokenIds), ...newTokenIds]
    must(
      slot.every(({ tokenId }, i) => tokenId === cellOf(tokenIds[i] ?? -1, adapterId)),
      `slot ${slotId} holds the prompt`,
    )
  }

  #checkCells(): void {
    const { sharedTokens = null } = this.#options
    if (sharedTokens === null) return
    const cells = new Set(this.#slots.flat()).size
    must(cells <= sharedTokens, `${cells} cells of the slots find room`)
  }

  #propose(drafts: readonly DraftRun[], runs: StepPlan['runs']): number[][] {
    const proposing = drafts.filter(({ proposes }) => proposes > 0)
    must(
      new Set(proposing.map((run) => `${run.tokenIds.length}/${run.proposes}`)).size <= 1,
      'proposals are equal',
    )
    return drafts.map(({ slotId, position, tokenIds, proposes }) => {
      const held = (this.#drafted.get(slotId) ?? []).slice(0, position)
      must(held.length === position, `the draft model goes on where it stands in slot ${slotId}`)
      held.push(...Array.from(tokenIds))
      this.#drafted.set(slotId, held)
      const text = [
        ...this.#slot(slotId).map(({ tokenId }) => tokenOf(tokenId)),
        ...Array.from(runs.find((run) => run.slotId === slotId)?.tokenIds ?? []),
      ]
      must(
        String(held) === String(text.slice(0, held.length)),
        `the draft model holds the text of slot ${slotId}`,
      )
      if (proposes === 0) return []
      must(held.length === text.length, `the draft model has all of the text of slot ${slotId}`)
      const { draftToken = fail('there is a draft model') } = this.#options
      const proposal: number[] = []
      while (proposal.length < proposes) proposal.push(draftToken([...held, ...proposal]))
      held.push(...proposal.slice(0, -1))
      return proposal
    })
  }

  #moveToHost(slotId: number, { drop, save, restore }: HostMoves): void {
    for (const entryId of drop) must(this.#copies.delete(entryId), `there is a copy ${entryId} to drop`)
    if (save !== null) {
      const { entryId, tokens } = save
      must(!this.#copies.has(entryId), `copy ${entryId} is new`)
      must(this.#slot(slotId).length >= tokens, `slot ${slotId} holds what is copied`)
      must(this.#mayCut(this.#slot(slotId).length, tokens), `slot ${slotId} is not cut to be copied`)
      this.#copies.set(
        entryId,
        this.#slot(slotId)
          .slice(0, tokens)
          .map(({ tokenId }) => tokenId),
      )
    }
    const { maxBytes, copyBytes } = this.#options.hostRoom ?? fail('there is host memory')
    const bytes = [...this.#copies.values()].reduce(
      (sum, copy) => sum + (this.#options.savedBytes ?? copyBytes(copy.length)),
      0,
    )
    must(bytes <= maxBytes, `${bytes} bytes find room in host memory`)
    if (restore === null) return
    const copy = this.#copies.get(restore.entryId) ?? fail(`there is a copy ${restore.entryId}`)
    this.#slots[slotId] = copy.map((tokenId) => ({ tokenId }))
    if (restore.isForgotten) this.#copies.delete(restore.entryId)
  }

  #executeBeams({ drops, starts, forks, groups }: BeamPlan): BeamChoice[][] {
    for (const seat of drops) this.#seats[seat] = []
    for (const { seat, promptTokenIds } of starts) {
      must(this.#seat(seat).length === 0, `seat ${seat} is empty when a group begins`)
      this.#prompts.set(seat, promptTokenIds)
    }
    for (const { from, to } of forks) {
      must(this.#seat(to).length === 0, `seat ${to} is empty when it is forked to`)
      this.#seats[to] = [...this.#seat(from)]
    }
    for (const { runs } of groups) {
      for (const { seat, position, tokenIds } of runs) {
        must(this.#seat(seat).length === position, `seat ${seat} goes on where it stands`)
        for (const tokenId of Array.from(tokenIds)) this.#seat(seat).push({ tokenId })
      }
    }
    const cells = new Set(this.#seats.flat()).size
    const { tokens, reserve } = this.#options.beamRoom
    must(cells <= tokens + (reserve?.tokens ?? 0), `${cells} cells find room`)
    return groups.filter(({ beams }) => beams.length > 0).map((group) => this.#choose(group))
  }

  #choose({ seat, runs, beams, candidates }: BeamPlan['groups'][number]): BeamChoice[] {
    const prompt = Array.from(this.#prompts.get(seat) ?? [])
    for (const [index, { tokenIds }] of beams.entries()) {
      const held = this.#seat(runs[index]?.seat ?? -1).map((cell) => cell.tokenId)
      must(String(held) === String([...prompt, ...tokenIds]), `beam ${index} of seat ${seat} holds its text`)
    }
    return Array.from({ length: candidates }, (_, rank) => {
      const beam = rank % beams.length
      return {
        beam,
        tokenId: this.#options.nextToken(rank, []),
        score: (beams[beam]?.score ?? 0) - 1 - rank / 100,
      }
    })
  }

  #mayCut(heldTokens: number, tokens: number): boolean {
    const { canCut = true } = this.#options
    return canCut || tokens === 0 || tokens === heldTokens
  }

  #slot(slotId: number): Cell[] {
    return this.#slots[slotId] ?? fail(`there is a slot ${slotId}`)
  }

  #seat(seat: number): Cell[] {
    return this.#seats[seat] ?? fail(`there is a seat ${seat}`)
  }
}

const ADAPTER_CELLS = 1_000_000

function tokenOf(cell: number): number {
  return cell % ADAPTER_CELLS
}

/** What a slot holds of a token: without an adapter its own number. */
function cellOf(tokenId: number, adapterId: number): number {
  return tokenId + adapterId * ADAPTER_CELLS
}

function must(isTrue: boolean, rule: string): void {
  if (!isTrue) fail(rule)
}

function fail(rule: string): never {
  throw new Error(`It must be that ${rule}.`)
}
