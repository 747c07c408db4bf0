/**
 * The ModelRunner over llama.cpp: applies a step's starts to the slots, computes its runs in one batch, samples. The
 * scheduler drives it from the step loop of an engine process; it plans nothing.
 * Invariant: a slot's KV cache holds exactly the tokens its runs put there, less the guesses that were wrong, from
 * position 0 without a gap.
 */
import { InvariantError } from '../../core/errors.ts'
import type { DraftInfo, ModelInfo } from '../../protocol/model-info.ts'
import {
  isDecodeRun,
  type BeamRoom,
  type DraftRoom,
  type DraftRun,
  type HeldPrefix,
  type HostMoves,
  type HostRoom,
  type ModelRunner,
  type SampledLogprob,
  type SavedCopy,
  type SlotCut,
  type SlotRun,
  type SlotStart,
  type StepOutput,
  type StepPlan,
} from '../../protocol/model-runner.ts'
import { GrammarPool } from '../constraints/grammar-pool.ts'
import { type ActiveAdapter, Adapters } from './lora/adapters.ts'
import { BaseRunner, type BaseRunnerOptions } from './base-runner.ts'
import { BeamContext, createBeamRoom } from './beam-context.ts'
import type { Bindings } from './ffi/bindings.ts'
import { HostCopies, hostRoomOf, type SlotSizes } from './host-copies.ts'
import type { Context } from './context.ts'
import { DraftModel, type DraftOutput, withProposals } from './drafts/draft-model.ts'
import { groupRuns, workOf } from './slots/run-groups.ts'
import { type VerifiedDraft, verifyDraft } from './sampling/draft-verification.ts'
import type { KvRoom } from '../../checkpoints/memory/kv-room.ts'
import type { Model } from './model.ts'
import { SlotSampling } from './slots/slot-sampling.ts'
import { CopyFolder } from './stored/copy-folder.ts'
import { shapeManifestOf } from './stored/shape-manifest.ts'
import { StoredCopies } from './stored/stored-copies.ts'

const NO_DRAFTS: readonly DraftRun[] = []
const WARM_UP_TOKEN_IDS = [0, 0, 0]

/** What one run gave. */
interface SampledRun extends VerifiedDraft {
  readonly logprobs: readonly SampledLogprob[]
}

export interface OpenedWeights {
  readonly model: Model
  readonly context: Context
  readonly options: LlamaRunnerOptions
}

export interface LlamaRunnerOptions extends BaseRunnerOptions, KvRoom {
  /** Of the draft model; the runner closes them. */
  readonly draftWeights: Model | null
  readonly draftRoom: DraftRoom | null
  readonly draftInfo: DraftInfo | null
  readonly onNote: (note: string) => void
  readonly usesGpu: boolean
  readonly maxDraftTokens: number
  /** Of the KV cache, what is in the machine's own memory: 0 to 1. */
  readonly hostKvShare: number
}

export class LlamaRunner extends BaseRunner implements ModelRunner {
  readonly maxStepTokens: number
  readonly canCopySlots: boolean
  readonly canReusePrefixes: boolean
  readonly canContinueSlots = true
  readonly maxDraftTokens: number
  readonly draftRoom: DraftRoom | null
  readonly beamRoom: BeamRoom | null
  readonly sharedTokens: number | null
  readonly hostRoom: HostRoom | null
  readonly constraints: GrammarPool
  readonly adapters: Adapters
  readonly #api: Bindings
  readonly #options: LlamaRunnerOptions
  readonly #model: Model
  readonly #context: Context
  readonly #copies: HostCopies
  /** Null where nothing is kept on the disk. */
  readonly #stored: StoredCopies | null
  /** Null where there is none. */
  readonly #draftModel: DraftModel | null
  /** Null before the first beam search. */
  #beamContext: BeamContext | null = null
  /** Null while none is made. */
  #openingBeams: Promise<void> | null = null
  #isClosed = false
  readonly #info: ModelInfo
  readonly #sampling: SlotSampling
  /** By slot; absent where its sequence has none. */
  readonly #slotAdapters = new Map<number, ActiveAdapter>()

  constructor(api: Bindings, { model, context, options }: OpenedWeights) {
    super(api, model, options)
    this.#api = api
    this.#options = options
    this.#model = model
    this.#context = context
    const { sharedTokens } = options
    this.sharedTokens = sharedTokens
    this.#draftModel = this.#openDraftModel()
    this.maxStepTokens = this.#context.maxStepTokens
    this.#copies = new HostCopies(this.#context)
    this.adapters = new Adapters(api, model, () => {
      this.#context.useAdapter(null)
      this.#beamContext?.useAdapter(null)
    })
    const { canTrim, sizes } = this.#warmUp()
    this.canReusePrefixes = canTrim
    this.canCopySlots = this.canReusePrefixes && options.maxBatchSize > 1
    this.maxDraftTokens = this.canReusePrefixes ? options.maxDraftTokens : 0
    this.draftRoom = this.canReusePrefixes ? options.draftRoom : null
    this.beamRoom = this.canReusePrefixes ? createBeamRoom(options) : null
    this.#stored = this.#openStore(sizes)
    this.hostRoom = this.#createHostRoom(sizes)
    const { table } = this.vocabulary.data
    this.constraints = new GrammarPool({
      vocabulary: {
        ...{ bytes: table.bytes, offsets: table.offsets, endTokenIds: this.vocabulary.endTokenIds },
        ...{ specialTexts: table.specialTexts, specialTokenIds: table.specialTokenIds },
      },
      maxBatchSize: options.maxBatchSize,
    })
    this.#sampling = new SlotSampling({
      vocabSize: model.vocabSize,
      endTokenIds: this.vocabulary.endTokenIds,
      constraints: this.constraints,
    })
    this.#info = {
      ...this.describe(options),
      maxBatchSize: options.maxBatchSize,
      kvCacheTokens: options.tokens,
      ...(sharedTokens !== null && { sharesKvCache: true }),
      chatTemplate: model.chatTemplate,
      ...(model.toolTemplate !== null && { toolTemplate: model.toolTemplate }),
      canConstrain: true,
      ...(options.draftInfo !== null && { draft: options.draftInfo }),
      ...(this.beamRoom !== null && { maxBeams: this.beamRoom.seats }),
    }
  }

  info(): ModelInfo {
    return this.#info
  }

  tokenBytes(tokenId: number): Uint8Array {
    return this.vocabulary.tokenBytes(tokenId)
  }

  tokenText(tokenId: number): string {
    return this.vocabulary.tokenText(tokenId)
  }

  detokenize(tokenIds: ArrayLike<number>): string {
    return this.vocabulary.detokenize(tokenIds)
  }

  specialTokens(texts: readonly string[]): ReadonlyMap<number, Uint8Array> {
    return this.vocabulary.specialTokens(texts)
  }

  isEndOfGeneration(tokenId: number): boolean {
    return this.vocabulary.isEndOfGeneration(tokenId)
  }

  prepareBeams(): Promise<void> | null {
    if (this.#beamContext !== null) return null
    this.#openingBeams ??= this.#openBeams()
    return this.#openingBeams
  }

  async #openBeams(): Promise<void> {
    try {
      const { endTokenIds } = this.vocabulary
      const context = await BeamContext.open(this.#api, this.#model, { ...this.#options, endTokenIds })
      if (this.#isClosed) context.close()
      else this.#beamContext = context
    } finally {
      this.#openingBeams = null
    }
  }

  execute({ cuts = [], starts, runs, drafts = NO_DRAFTS, beams }: StepPlan): StepOutput {
    const saved = [...cuts.flatMap((cut) => this.#cut(cut)), ...starts.flatMap((start) => this.#start(start))]
    const drafted = this.#draftModel?.execute(drafts, this.governor.threads) ?? null
    const computed = this.#compute(drafted === null ? runs : withProposals(runs, drafts, drafted), drafted)
    const output = { ...computed, ...(saved.length > 0 && { saved }) }
    if (beams === undefined) return output
    if (this.#beamContext === null) throw new InvariantError('Beams run before there is a KV cache for them.')
    const tools = { scratch: this.#sampling.scratch, adapters: this.adapters }
    return { ...output, beamChoices: this.#beamContext.execute(beams, tools) }
  }

  /**
   * Runs of one adapter and one length at a time. A decode has one adapter for all its tokens; and llama.cpp would cut a
   * mixed batch into such parts too, but then all of them pay for the longest context among them, a stream's token for
   * the long prompt beside it.
   */
  #compute(runs: readonly SlotRun[], drafted: DraftOutput | null): StepOutput {
    const sampled = new Map<SlotRun, SampledRun>()
    const times = { decodeMs: 0, promptMs: 0 }
    for (const { adapter, runs: equals } of groupRuns(runs, this.#slotAdapters, this.#context.adapter)) {
      const startedMs = performance.now()
      this.#context.useAdapter(adapter)
      const isGeneration = equals.every(isDecodeRun)
      this.#decode(equals, isGeneration)
      this.#sampleEach(equals, sampled)
      times[isGeneration ? 'decodeMs' : 'promptMs'] += performance.now() - startedMs
    }
    const inOrder = runs.flatMap((run) => sampled.get(run) ?? [])
    return {
      tokenIds: inOrder.map(({ tokenId }) => tokenId),
      acceptedTokens: inOrder.map(({ accepted }) => accepted),
      ...(this.#sampling.hasLogprobs && { logprobs: inOrder.map(({ logprobs }) => logprobs) }),
      ...(drafted !== null && { proposals: drafted.proposals }),
      times: { ...times, ...(drafted !== null && { draft: drafted.times }) },
    }
  }

  #decode(runs: readonly SlotRun[], isGeneration: boolean): void {
    if (this.#options.usesGpu || this.#dependsOnThreads(runs)) return this.#context.decode(runs)
    if (!isGeneration) return this.#context.decode(runs, this.governor.threads)
    const work = workOf(runs)
    const patienceMs = this.#canRepeat(runs) ? this.governor.patienceMs(work) : Number.POSITIVE_INFINITY
    const { ms, isDone } = timed(() => this.#context.decodeWithin(patienceMs, runs, this.governor.threads))
    if (isDone) return this.governor.observe(work, ms)
    const threads = this.governor.giveUp()
    const secondTry = timed(() => this.#context.decodeWithin(Number.POSITIVE_INFINITY, runs, threads))
    this.governor.observeSecondTry({ threads, ms: secondTry.ms, firstMs: ms })
  }

  /**
   * Whether the next token must not depend on how busy the machine is, and would: llama.cpp splits the attention of a
   * single row between the threads, which rounds otherwise with another number of them.
   */
  #dependsOnThreads([run, ...others]: readonly SlotRun[]): boolean {
    return others.length === 0 && run?.tokenIds.length === 1 && this.#sampling.isSeeded(run.slotId)
  }

  /** Whether a step may be broken off: what is computed again can differ in the last digit. */
  #canRepeat(runs: readonly SlotRun[]): boolean {
    return this.canReusePrefixes && !runs.some(({ slotId }) => this.#sampling.isSeeded(slotId))
  }

  /** Adds the next token of each run that wants one; the runs are those decoded last. */
  #sampleEach(runs: readonly SlotRun[], sampled: Map<SlotRun, SampledRun>): void {
    const wanting = runs.filter(({ wantsToken }) => wantsToken)
    const logits = wanting.length === 0 ? [] : this.#context.logits()
    let rows = 0
    for (const run of wanting) {
      const firstRow = rows
      const logprobs: SampledLogprob[] = []
      const verified = verifyDraft(run, (index) =>
        this.#sampling.sample(run.slotId, logits[firstRow + index], logprobs),
      )
      this.#dropRejected(run, verified.accepted)
      sampled.set(run, { ...verified, logprobs })
      rows += 1 + (run.draftTokens ?? 0)
    }
    this.constraints.wake()
  }

  #dropRejected({ slotId, position, tokenIds, draftTokens = 0 }: SlotRun, accepted: number): void {
    const rejected = draftTokens - accepted
    if (rejected > 0) this.#trim(slotId, position + tokenIds.length - rejected)
  }

  #trim(slotId: number, tokens: number): void {
    if (this.#context.trimSlot(slotId, tokens)) return
    throw new InvariantError(`The KV cache of slot ${slotId} cannot be cut back to ${tokens} tokens.`)
  }

  override close(): void {
    this.#isClosed = true
    this.constraints.close()
    this.#beamContext?.close()
    this.#copies.close()
    this.#draftModel?.close()
    this.#context.close()
    if (this.#openingBeams === null) super.close()
    else void Promise.allSettled([this.#openingBeams]).then(() => super.close())
  }

  /** Gives what was copied to host memory before. */
  #cut({ slotId, tokens, host }: SlotCut): SavedCopy[] {
    const saved = host === undefined ? null : this.#copies.apply(slotId, this.#inMemory(host))
    this.#trim(slotId, tokens)
    return saved === null ? [] : [saved]
  }

  /** Gives what was copied to host memory before. */
  #start(start: SlotStart): SavedCopy[] {
    const { slotId, adapterId, cachedTokens, copyFromSlotId, host, cuts = [] } = start
    const saved = cuts.flatMap((cut) => this.#cut(cut))
    const own = host === undefined ? null : this.#copies.apply(slotId, this.#inMemory(host))
    if (own !== null) saved.push(own)
    if (copyFromSlotId !== null) this.#copySlot(copyFromSlotId, slotId)
    this.#trim(slotId, cachedTokens)
    if (adapterId === undefined) this.#slotAdapters.delete(slotId)
    else this.#slotAdapters.set(slotId, this.adapters.get(adapterId))
    this.#sampling.start(start)
    return saved
  }

  /** Without the copies that are on the disk only. */
  #inMemory(host: HostMoves): HostMoves {
    const stored = this.#stored
    return stored === null ? host : { ...host, drop: host.drop.filter((entryId) => !stored.drop(entryId)) }
  }

  async storePrefixes(held: () => readonly HeldPrefix[] | null): Promise<void> {
    await this.#stored?.store(held)
  }

  #copySlot(fromSlotId: number, toSlotId: number): void {
    // In a shared cache it would keep its cells beside those that it gets.
    if (this.sharedTokens !== null) this.#trim(toSlotId, 0)
    this.#context.copySlot(fromSlotId, toSlotId)
  }

  #openDraftModel(): DraftModel | null {
    const { draftWeights: weights, draftRoom: room } = this.#options
    if (weights === null || room === null) return null
    return new DraftModel(this.#api, weights, {
      ...this.#options,
      maxSeqLen: room.maxSeqLen,
      usesGpu: false,
      sharedTokens: null,
      threadsOf: this.#context,
      targetVocabSize: this.#model.vocabSize,
    })
  }

  /** Computes a few tokens, so that the first request does not wait for the weights' pages; tells what was seen of the slot. */
  #warmUp(): { readonly canTrim: boolean; readonly sizes: SlotSizes } {
    this.#context.decode([{ slotId: 0, position: 0, tokenIds: WARM_UP_TOKEN_IDS, wantsToken: true }])
    const ofThreeTokens = this.#context.slotBytes(0)
    this.#context.decode([{ slotId: 0, position: 3, tokenIds: [0], wantsToken: true }])
    const ofFourTokens = this.#context.slotBytes(0)
    const canTrim = !this.#model.isRecurrent && this.#context.trimSlot(0, 1)
    this.#context.clear()
    return { canTrim, sizes: { ofThreeTokens, ofFourTokens } }
  }

  #createHostRoom(sizes: SlotSizes): HostRoom | null {
    const { prefixCacheBytes: maxBytes = 0 } = this.#options
    if (maxBytes === 0) return null
    const windowTokens = this.#api.modelWindow(this.#model.handle)
    const room = hostRoomOf(sizes, { maxBytes, windowTokens: windowTokens > 0 ? windowTokens : null })
    const stored = this.#stored
    if (stored === null) return room
    return { ...room, stored: stored.stored, fetch: (entryId) => stored.fetch(entryId) }
  }

  #openStore({ ofThreeTokens, ofFourTokens }: SlotSizes): StoredCopies | null {
    const { prefixCacheBytes: maxReadBytes = 0, prefixCacheStore: store, onNote } = this.#options
    if (store === undefined || maxReadBytes === 0) return null
    const manifest = shapeManifestOf(this.#options, ofFourTokens - ofThreeTokens)
    const folder = CopyFolder.open(store.folder, manifest, onNote)
    return new StoredCopies({ folder, copies: this.#copies, maxBytes: store.maxBytes, maxReadBytes })
  }
}

function timed(body: () => boolean): { readonly isDone: boolean; readonly ms: number } {
  const startedMs = performance.now()
  const isDone = body()
  return { isDone, ms: performance.now() - startedMs }
}
