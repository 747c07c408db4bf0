/**
 * The running batch: sequences that run in slots, and those that wait for one. Where all slots share one KV cache, a sequence
 * may lose its slot to others and waits again. Owned by the scheduler, of whose plans and updates this is the part without beams.
 * Invariant: `checkIntegrity()` after every call.
 */
import { InvariantError } from '../core/errors.ts'
import {
  type HeldPrefix,
  NO_TOKEN,
  type SampledLogprob,
  type SlotCut,
  type SlotStart,
  type StepOutput,
  type StepPlan,
} from '../protocol/model-runner.ts'
import { addDraft, settleDraft, type DraftOptions } from './drafts/draft-runs.ts'
import { type DraftOutcome, ModelDrafts } from './drafts/model-drafts.ts'
import { endsText, mayEnd } from './end-rules.ts'
import type { PartOptions } from './scheduler-options.ts'
import { checkRule, type Sequence } from './sequence.ts'
import { type FittingStart, SharedRoom } from './slots/shared-room.ts'
import { planSlotRuns, type PlannedRun } from './slots/slot-runs.ts'
import { MIN_SHARED_TOKENS } from './slots/shared-prefix.ts'
import { SlotTable, type Slot, type SlotChoice } from './slots/slot-table.ts'
import { StepCosts } from './step-costs.ts'
import { SlotReserve } from './queue/slot-reserve.ts'
import { WaitingQueue } from './queue/waiting-queue.ts'

/** A copy between slots moves the whole memory of a slot. */
const MAX_COPIES_BESIDE_DECODES = 2
/** From this many tokens on, copies to and from host memory count as one between slots; fewer take a few milliseconds. */
const LEAST_COPIED_TOKENS = 256

export class RunningBatch {
  readonly #options: PartOptions
  readonly #waiting: WaitingQueue
  readonly #slots: SlotTable
  readonly #room: SharedRoom
  readonly #reserve: SlotReserve
  readonly #costs = new StepCosts()
  /** The longest-running first. */
  #running: Sequence[] = []
  #planned: readonly PlannedRun[] = []
  #preemptions = 0
  readonly #drafting: DraftOptions
  /** Null without a draft model. */
  readonly #modelDrafts: ModelDrafts | null

  constructor(options: PartOptions) {
    const { maxBatchSize: slots, canReusePrefixes, canCopySlots, schedulePolicy: policy, clock } = options
    const { canContinueSlots, sharedTokens, hostRoom, prefixCacheScope: scope } = options
    const cache = { canReusePrefixes, canContinueSlots, canCopySlots, sharedTokens }
    this.#options = options
    this.#waiting = new WaitingQueue({ policy, maxSeqLen: options.maxSeqLen })
    this.#reserve = new SlotReserve({ slots, clock })
    this.#slots = new SlotTable({ slots, ...cache, hostRoom, scope })
    this.#room = new SharedRoom({ slots: this.#slots, sharedTokens, hasTiers: policy === 'priority' })
    this.#drafting = {
      maxDraftTokens: canReusePrefixes ? options.maxDraftTokens : 0,
      maxSeqLen: options.maxSeqLen,
      freeTokens: () => this.#room.draftTokens(this.#running),
      computedTokenIds: (sequence) => this.#slotOf(sequence).cachedTokenIds,
    }
    const { draftRoom: room } = options
    const isShared = scope === 'shared'
    this.#modelDrafts =
      room === null || !canReusePrefixes ? null : new ModelDrafts({ ...this.#drafting, room, isShared })
  }

  get waitingCount(): number {
    return this.#waiting.size
  }

  get runningCount(): number {
    return this.#running.length
  }

  get hostBytes(): number {
    return this.#slots.hostBytes
  }

  held(): readonly HeldPrefix[] {
    return this.#slots.held()
  }

  /** How often a sequence has lost its slot to others. */
  get preemptions(): number {
    return this.#preemptions
  }

  add(sequence: Sequence): void {
    this.#waiting.add(sequence)
    this.#reserve.setClasses(sequence.place.servedClasses ?? [])
  }

  /** Forgets a sequence, waiting or running. */
  remove(sequence: Sequence): void {
    if (sequence.status === 'waiting') this.#waiting.remove(sequence)
    else if (sequence.status === 'running') {
      this.#leaveSlot(sequence)
      this.#waiting.settle(sequence, sequence.takeUsedTokens())
    }
  }

  #leaveSlot(sequence: Sequence): void {
    this.#slots.release(this.#slotOf(sequence))
    this.#running = this.#running.filter((other) => other !== sequence)
    this.#reserve.end(sequence.place.priorityClass)
  }

  /** Back to the queue, with its text so far: what its slot holds is the next that is cut. */
  #preempt(sequence: Sequence): void {
    const { cachedTokenIds } = this.#slotOf(sequence)
    this.#leaveSlot(sequence)
    sequence.preempt(cachedTokenIds)
    this.#waiting.settle(sequence, sequence.takeUsedTokens())
    this.#waiting.add(sequence)
    this.#preemptions++
  }

  plan(): Pick<StepPlan, 'cuts' | 'starts' | 'runs' | 'drafts'> {
    const grown = this.#room.grow(
      () => this.#running,
      (sequence) => this.#preempt(sequence),
    )
    const starts = this.#fillSlots()
    const cuts: readonly SlotCut[] =
      this.#running.length === 0 ? [] : [...this.#slots.takeUncounted(), ...grown]
    const planned = planSlotRuns(this.#running, {
      stepTokens: this.#options.stepTokenBudget,
      promptTokensBesideDecodes: this.#costs.promptTokensBesideDecodes(),
      promptTokensBesideHigherTier: this.#costs.promptTokensBesideHigherTier(),
      prefersHigherTiers: this.#options.prefersHigherTiers(),
    })
    this.#planned = addDraft(planned, this.#drafting)
    const runs = this.#planned.map(({ run }) => run)
    const drafts = this.#modelDrafts?.plan(this.#planned) ?? []
    return { ...(cuts.length > 0 && { cuts }), starts, runs, ...(drafts.length > 0 && { drafts }) }
  }

  /** Applies what the runner computed for the last plan. */
  update(output: Omit<StepOutput, 'beamChoices'>): void {
    const { tokenIds, acceptedTokens, logprobs, saved = [], proposals = [], times } = output
    if (times !== undefined) this.#costs.observe(this.#plannedPromptTokens(), times)
    for (const copy of saved) this.#slots.recordSaved(copy)
    const planned = this.#modelDrafts?.withProposals(this.#planned, proposals) ?? this.#planned
    const outcomes = new Map<number, DraftOutcome>()
    let index = 0
    for (const one of planned) {
      const { sequence, run } = one
      const row = run.wantsToken ? index++ : null
      // Aborted while the step was computed.
      if (sequence.slotId === null) {
        this.#slots.recordUncounted(run.slotId)
        continue
      }
      const { computed, accepted } = settleDraft(one, row === null ? 0 : acceptedTokens?.[row])
      outcomes.set(run.slotId, { sequence, accepted: accepted.length })
      this.#recordComputed(sequence, computed)
      if (row === null) continue
      const tokenId = tokenIds[row]
      const sampled = logprobs?.[row]
      for (const [place, guessed] of accepted.entries()) this.#takeToken(sequence, guessed, sampled?.[place])
      if (tokenId === null || tokenId === NO_TOKEN)
        this.#endText(sequence, tokenId === null ? 'stop' : 'error')
      else if (tokenId !== undefined) this.#takeToken(sequence, tokenId, sampled?.[accepted.length])
    }
    this.#modelDrafts?.settle(output, outcomes)
    this.#planned = []
  }

  *[Symbol.iterator](): Iterator<Sequence> {
    yield* this.#waiting
    yield* this.#running
  }

  /** @throws InvariantError when the books do not agree. */
  checkIntegrity(): void {
    const { maxBatchSize, canReusePrefixes, stepTokenBudget, maxDraftTokens } = this.#options
    const taken = this.#slots.slots.filter(({ sequence }) => sequence !== null)
    this.#slots.checkIntegrity()
    checkRule(taken.length + this.#slots.free === maxBatchSize, 'slots + free = total')
    checkRule(taken.length === this.#running.length, 'each running sequence has one slot')
    for (const sequence of this.#waiting) {
      checkRule(sequence.status === 'waiting' && sequence.slotId === null, 'a waiting sequence has no slot')
    }
    for (const sequence of this.#running) {
      const slot = this.#slotOf(sequence)
      checkRule(sequence.status === 'running' && slot.sequence === sequence, 'slot and sequence agree')
      const cachedTokens = canReusePrefixes ? slot.cachedTokenIds.length : sequence.computedTokens
      checkRule(sequence.computedTokens === cachedTokens, 'the cache holds the computed tokens')
      checkRule(sequence.computedTokens <= sequence.totalTokens, 'no token is computed before it is known')
      checkRule(sequence.newTokens < sequence.maxNewTokens, 'a full sequence has ended')
    }
    this.#modelDrafts?.checkIntegrity(this.#running)
    const runTokens = this.#planned.reduce((sum, { run }) => sum + run.tokenIds.length, 0)
    checkRule(runTokens <= stepTokenBudget, 'a plan keeps to its token budget')
    checkRule(runTokens <= this.#slots.freeTokens, 'what a plan computes finds room in the cache')
    for (const { sequence, run } of this.#planned) {
      const { draftTokens = 0 } = run
      if (draftTokens === 0) continue
      checkRule(sequence.newTokens + draftTokens < sequence.maxNewTokens, 'a draft leaves room for a token')
      checkRule(draftTokens < run.tokenIds.length && draftTokens <= maxDraftTokens, 'a draft follows a token')
    }
  }

  #plannedPromptTokens(): number {
    const prompts = this.#planned.filter(({ run }) => run.tokenIds.length - (run.draftTokens ?? 0) > 1)
    return prompts.reduce((sum, { run }) => sum + run.tokenIds.length, 0)
  }

  #fillSlots(): SlotStart[] {
    const { maxSeqLen, clock, emit, onEnd, isMatcherReady } = this.#options
    const starts: SlotStart[] = []
    /** Sequences whose turn it is but which do not start in this step. */
    const passedOver = new Set<Sequence>()
    /** Those of them for which a slot is kept, or others would overtake them forever. */
    const held: Sequence[] = []
    /** The one whose turn it is, but for which the shared cache has no room. */
    let blocked: Sequence | null = null
    const mayStart = (priorityClass: number): boolean =>
      this.#reserve.mayStart(priorityClass, held.map(classOf))
    while (this.#waiting.size > passedOver.size && this.#slots.free > held.length) {
      const sequence = this.#waiting.peek({
        nowMs: clock.nowMs(),
        except: passedOver,
        mayStart,
        before: blocked,
      })
      if (sequence === null) break
      if (sequence.matcherId !== null && !isMatcherReady(sequence.matcherId)) {
        passedOver.add(sequence)
        continue
      }
      // A prompt that fills the context leaves room for no token, so it needs no slot. Its end removes it from the queue.
      if (sequence.promptTokens === maxSeqLen) {
        emit(sequence.startEvent(clock.nowMs()))
        onEnd(sequence, 'length')
        continue
      }
      const choice = this.#slots.choose(sequence)
      if (choice === null) throw new InvariantError('a free slot could not be taken')
      const copy = this.#slots.fetch(choice)
      // There is another choice without it.
      if (copy === 'lost') continue
      if (copy === 'reading' || this.#mustWait(sequence, choice, starts)) {
        passedOver.add(sequence)
        held.push(sequence)
        continue
      }
      const admission = this.#room.admit(sequence, choice, this.#running)
      if (admission === null) {
        // Those behind it wait too, or they would take the room that it waits for; but not those of higher tiers and other accounts.
        const { priorityClass } = sequence.place
        if (blocked !== null && priorityClass <= blocked.place.priorityClass) break
        blocked = sequence
        continue
      }
      this.#waiting.take(sequence)
      starts.push(this.#start(sequence, admission))
    }
    return starts
  }

  #mustWait(sequence: Sequence, choice: SlotChoice, starts: readonly SlotStart[]): boolean {
    const { slot, copyFrom, restore, isSaved } = choice
    const movedTokens = (isSaved ? slot.cachedTokenIds.length : 0) + (restore?.cachedTokenIds.length ?? 0)
    const isMove = (copyFrom !== null && !this.#sharesCells) || movedTokens >= LEAST_COPIED_TOKENS
    return (isMove && !this.#mayMove(sequence, choice, starts)) || this.#awaitsPrefix(sequence, choice)
  }

  /** A copy delays the running streams, so a second one is made only in a step that also computes the rest of its prompt. */
  #mayMove(
    { prefillTokenIds }: Sequence,
    { cachedTokens }: SlotChoice,
    starts: readonly SlotStart[],
  ): boolean {
    const isStreaming = this.#running.some(({ isPrefilling }) => !isPrefilling)
    const copies = starts.filter((start) => this.#isMove(start))
    if (!isStreaming || copies.length === 0) return true
    const ownTokens = copies.reduce((sum, copy) => sum + copy.promptTokenIds.length - copy.cachedTokens, 0)
    const room = this.#costs.promptTokensBesideDecodes() - ownTokens
    return copies.length < MAX_COPIES_BESIDE_DECODES && prefillTokenIds.length - cachedTokens <= room
  }

  #isMove({ copyFromSlotId, host, cachedTokens }: SlotStart): boolean {
    const restoredTokens = host !== undefined && host.restore !== null ? cachedTokens : 0
    const isCopy = copyFromSlotId !== null && !this.#sharesCells
    return isCopy || (host?.save?.tokens ?? 0) + restoredTokens >= LEAST_COPIED_TOKENS
  }

  /** Whether a copy between slots moves nothing. */
  get #sharesCells(): boolean {
    return this.#options.sharedTokens !== null
  }

  /** Whether a running prompt will soon have computed more of this prompt's beginning than any slot holds now. */
  #awaitsPrefix(sequence: Sequence, { cachedTokens }: SlotChoice): boolean {
    const { canCopySlots, schedulePolicy } = this.#options
    const hasTiers = schedulePolicy === 'priority'
    if (!canCopySlots || sequence.needsFixedChunks) return false
    // A prompt of its own tier or a higher one is computed before it in any case, so waiting makes no prompt later.
    return this.#running.some(({ isPrefilling, prefillTokenIds, place, owner }) => {
      if (!isPrefilling || (hasTiers && place.priorityClass < sequence.place.priorityClass)) return false
      return this.#slots.openTokens(sequence, prefillTokenIds, owner) - cachedTokens >= MIN_SHARED_TOKENS
    })
  }

  #start(sequence: Sequence, { choice, cuts }: FittingStart): SlotStart {
    const { slot, cachedTokens, copyFrom } = choice
    const { preemptions, promptTokens, prefillTokenIds } = sequence
    const host = this.#slots.take(choice, sequence)
    sequence.status = 'running'
    sequence.slotId = slot.slotId
    sequence.computedTokens = cachedTokens
    this.#running.push(sequence)
    this.#reserve.begin(sequence.place.priorityClass)
    if (preemptions === 0) {
      sequence.cachedTokens = cachedTokens
      sequence.restoredTokens = choice.restore === null ? 0 : cachedTokens
      this.#options.emit(sequence.startEvent(this.#options.clock.nowMs()))
    }
    return {
      slotId: slot.slotId,
      promptTokenIds: sequence.promptTokenIds,
      ...(prefillTokenIds.length > promptTokens && { newTokenIds: prefillTokenIds.subarray(promptTokens) }),
      sampling: sequence.sampling,
      ...(sequence.endRules !== null && { endRules: sequence.endRules }),
      ...(sequence.topLogprobs !== null && { topLogprobs: sequence.topLogprobs }),
      ...(sequence.matcherId !== null && { matcherId: sequence.matcherId }),
      ...(sequence.adapterId !== null && { adapterId: sequence.adapterId }),
      cachedTokens,
      copyFromSlotId: copyFrom?.slotId ?? null,
      ...(host !== null && { host }),
      ...(cuts.length > 0 && { cuts }),
    }
  }

  #recordComputed(sequence: Sequence, tokenIds: ArrayLike<number>): void {
    this.#slots.recordComputed(this.#slotOf(sequence), tokenIds)
    sequence.computedTokens += tokenIds.length
  }

  #takeToken(sequence: Sequence, tokenId: number, sampled: SampledLogprob | undefined): void {
    // An earlier token of the same run has ended it.
    if (sequence.slotId === null) return
    const { emit, onEnd } = this.#options
    sequence.newTokens++
    sequence.lastTokenId = tokenId
    const read = this.#read(sequence, tokenId, sampled)
    const { finishReason } = read
    const rest = finishReason === null || sequence.stopString !== null ? '' : sequence.assembler.flush()
    const text = read.text + rest
    const logprobs = sequence.logprobs?.take(text, finishReason !== null)
    emit({
      type: 'text-delta',
      reqId: sequence.sequenceId,
      text,
      tokenIds: [tokenId],
      ...(logprobs && { logprobs }),
    })
    if (finishReason !== null) onEnd(sequence, finishReason)
  }

  /** The runner ended the text without an end token, or cannot go on with it. */
  #endText(sequence: Sequence, finishReason: 'stop' | 'error'): void {
    if (sequence.slotId === null) return
    const { emit, onEnd } = this.#options
    const text = sequence.assembler.flush()
    const logprobs = sequence.logprobs?.take(text, true)
    if (text !== '' || (logprobs ?? []).length > 0) {
      const { sequenceId: reqId } = sequence
      emit({ type: 'text-delta', reqId, text, tokenIds: [], ...(logprobs && { logprobs }) })
    }
    onEnd(sequence, finishReason)
  }

  #read(
    sequence: Sequence,
    tokenId: number,
    sampled: SampledLogprob | undefined,
  ): { text: string; finishReason: 'stop' | 'length' | null } {
    const { isEndOfGeneration, tokenBytes, maxSeqLen } = this.#options
    const { endRules, newTokens: place } = sequence
    if (endsText(endRules, { tokenId, place }, isEndOfGeneration)) return { text: '', finishReason: 'stop' }
    const { shownTokens: shown } = sequence
    const bytesOf = shown === null ? tokenBytes : (id: number) => shown.get(id) ?? tokenBytes(id)
    if (sampled) sequence.logprobs?.add({ tokenId, sampled }, bytesOf)
    const { text, stopString } = sequence.assembler.push(bytesOf(tokenId), mayEnd(endRules, place))
    sequence.stopString = stopString
    if (stopString !== null) return { text, finishReason: 'stop' }
    const isFull =
      sequence.newTokens >= sequence.maxNewTokens || (maxSeqLen !== null && sequence.totalTokens >= maxSeqLen)
    return { text, finishReason: isFull ? 'length' : null }
  }

  #slotOf(sequence: Sequence): Slot {
    const slot = sequence.slotId === null ? undefined : this.#slots.slots[sequence.slotId]
    if (slot === undefined) throw new InvariantError(`sequence ${sequence.sequenceId} has no slot`)
    return slot
  }
}

function classOf({ place }: Sequence): number {
  return place.priorityClass
}
