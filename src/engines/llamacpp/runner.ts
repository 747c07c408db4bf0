/**
 * The ModelRunner over llama.cpp: applies a step's starts to the slots, computes its runs in one batch, samples. The
 * scheduler drives it from the step loop of an engine process; it plans nothing.
 * Invariant: a slot's KV cache holds exactly the tokens its runs put there, less the guesses that were wrong, from
 * position 0 without a gap.
 */
import { InvariantError } from '../../core/errors.ts'
import type { ModelInfo } from '../../protocol/engine.ts'
import {
  isDecodeRun,
  type BeamRoom,
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
import type { LoadProgress, RunnerOptions } from '../../protocol/runner-options.ts'
import { GrammarPool } from '../constraints/grammar-pool.ts'
import { type ActiveAdapter, Adapters } from './lora/adapters.ts'
import { BaseRunner, type BaseRunnerOptions } from './base-runner.ts'
import { BeamContext, createBeamRoom } from './beam-context.ts'
import { type LoadPlan, loadWithPlan, placementOf } from './devices/load-plan.ts'
import { loadLlama, type Bindings } from './ffi/bindings.ts'
import { HostCopies, hostRoomOf, type SlotSizes } from './host-copies.ts'
import { createCandidates, type Candidates } from './sampling/candidates.ts'
import { Context } from './context.ts'
import { defaultThreads } from './cpu-cores.ts'
import { type VerifiedDraft, verifyDraft } from './sampling/draft-verification.ts'
import { checkGguf, type GgufSummary } from './gguf-check.ts'
import { checkKvCacheType } from './kv-cache.ts'
import { availableMemoryBytes } from '../../checkpoints/memory/available-memory.ts'
import { onHost } from '../../checkpoints/memory/host-need.ts'
import { type KvRoom, kvRoomOf, servedSeqLen, slotTokens } from '../../checkpoints/memory/kv-room.ts'
import { checkMemory, memoryNeed, neededBytes } from '../../checkpoints/memory/memory-need.ts'
import { openModel, type Model } from './model.ts'
import { lateTokensOf } from './sampling/logit-adjustments.ts'
import { LogprobMeter } from './sampling/logprobs.ts'
import { Sampler } from './sampling/sampling.ts'
import { TokenMask } from './sampling/token-mask.ts'
import { CopyFolder } from './stored/copy-folder.ts'
import { shapeManifestOf } from './stored/shape-manifest.ts'
import { StoredCopies } from './stored/stored-copies.ts'
import type { StepWork } from './thread-governor.ts'

/** In a step of more than 16 tokens a token hardly costs less than in one of 16. */
const MAX_DRAFT_TOKENS = 15
const WARM_UP_TOKEN_IDS = [0, 0, 0]

/**
 * Opens a model; the process is blocked while it loads. `onNote` takes what the operator should know of its files, then and later.
 * @throws StartError in one sentence when the file, the libraries or the memory do not allow it.
 */
export async function openLlamaRunner(
  options: RunnerOptions,
  onProgress: LoadProgress,
  onNote: (note: string) => void = () => {},
): Promise<ModelRunner> {
  const api = loadLlama(options.gpu)
  const summary = checkGguf(api, options.modelPath)
  const opened = await loadWithPlan(api, options, (plan) =>
    openOnce(api, { options, summary, plan, onProgress, onNote }),
  )
  try {
    return new LlamaRunner(api, opened)
  } catch (error) {
    opened.context.close()
    opened.model.close()
    throw error
  }
}

interface OpenWork {
  readonly options: RunnerOptions
  readonly summary: GgufSummary
  readonly plan: LoadPlan | null
  readonly onProgress: LoadProgress
  readonly onNote: (note: string) => void
}

interface OpenedModel {
  readonly model: Model
  readonly context: Context
  readonly options: LlamaRunnerOptions
}

function openOnce(api: Bindings, work: OpenWork): OpenedModel {
  const { options, summary, plan, onProgress, onNote } = work
  const { modelPath } = options
  const { architecture, putsSpaceAtStart } = summary
  const memory = { availableBytes: availableMemoryBytes(), servingBytes: 0, loadingBytes: 0 }
  const weights = { weightBytes: summary.fileBytes, kvCacheBytes: 0, replicas: 1, sourceBytes: 0 }
  checkMemory(modelPath, onHost(weights, plan?.plan ?? null), memory)
  const model = openModel(api, { ...options, architecture, putsSpaceAtStart, plan }, onProgress)
  try {
    checkKvCacheType(model, options)
    const maxSeqLen = servedSeqLen(options, model.trainContextTokens)
    const need = memoryNeed({ ...model, maxSeqLen }, options)
    const hostNeed = onHost(need, plan?.plan ?? null)
    checkMemory(modelPath, hostNeed, memory)
    const opened: LlamaRunnerOptions = {
      ...options,
      ...roomOf(model, { ...options, maxSeqLen }),
      maxSeqLen,
      maxThreads: options.threads ?? defaultThreads(model.sizeBytes),
      memoryBytes: neededBytes(need),
      onNote,
      usesGpu: plan !== null && plan.devices.length > 0,
      hostKvShare: hostNeed.kvCacheBytes / Math.max(1, need.kvCacheBytes),
      maxDraftTokens: options.speculation === 'off' ? 0 : MAX_DRAFT_TOKENS,
    }
    const context = Context.open(api, model, opened)
    const placement = placementOf(api, plan)
    return { model, context, options: { ...opened, ...(placement !== undefined && { placement }) } }
  } catch (error) {
    model.close()
    throw error
  }
}

/** What one run gave. */
interface SampledRun extends VerifiedDraft {
  readonly logprobs: readonly SampledLogprob[]
}

/** Runs that are computed in one decode. */
interface RunGroup {
  readonly adapter: ActiveAdapter | null
  readonly runs: readonly SlotRun[]
}

interface LlamaRunnerOptions extends BaseRunnerOptions, KvRoom {
  readonly onNote: (note: string) => void
  readonly usesGpu: boolean
  readonly maxDraftTokens: number
  /** Of the KV cache, what is in the machine's own memory: 0 to 1. */
  readonly hostKvShare: number
}

class LlamaRunner extends BaseRunner implements ModelRunner {
  readonly maxStepTokens: number
  readonly canCopySlots: boolean
  readonly canReusePrefixes: boolean
  readonly canContinueSlots = true
  readonly maxDraftTokens: number
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
  /** Null before the first beam search. */
  #beamContext: BeamContext | null = null
  /** Null while none is made. */
  #openingBeams: Promise<void> | null = null
  #isClosed = false
  readonly #info: ModelInfo
  readonly #scratch: Candidates
  /** By slot; null before its first sequence. */
  readonly #samplers: (Sampler | null)[]
  /** By slot; of sequences that ask for log probabilities. */
  readonly #meters = new Map<number, LogprobMeter>()
  /** By slot; null where its text has no constraint. */
  readonly #masks: (TokenMask | null)[] = []
  /** By slot; absent where its sequence has none. */
  readonly #slotAdapters = new Map<number, ActiveAdapter>()

  constructor(api: Bindings, { model, context, options }: OpenedModel) {
    super(api, model, options)
    this.#api = api
    this.#options = options
    this.#model = model
    this.#context = context
    const { sharedTokens } = options
    this.sharedTokens = sharedTokens
    this.#scratch = createCandidates(model.vocabSize)
    this.#samplers = Array.from({ length: options.maxBatchSize }, () => null)
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
    this.#info = {
      ...this.describe(options),
      maxBatchSize: options.maxBatchSize,
      kvCacheTokens: options.tokens,
      ...(sharedTokens !== null && { sharesKvCache: true }),
      chatTemplate: model.chatTemplate,
      canConstrain: true,
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

  execute({ cuts = [], starts, runs, beams }: StepPlan): StepOutput {
    const saved = [...cuts.flatMap((cut) => this.#cut(cut)), ...starts.flatMap((start) => this.#start(start))]
    const output = { ...this.#compute(runs), ...(saved.length > 0 && { saved }) }
    if (beams === undefined) return output
    if (this.#beamContext === null) throw new InvariantError('Beams run before there is a KV cache for them.')
    const beamChoices = this.#beamContext.execute(beams, { scratch: this.#scratch, adapters: this.adapters })
    return { ...output, beamChoices }
  }

  /**
   * Runs of one adapter and one length at a time. A decode has one adapter for all its tokens; and llama.cpp would cut a mixed batch into such parts too, but then all of them pay for the
   * longest context among them, a stream's token for the long prompt beside it.
   */
  #compute(runs: StepPlan['runs']): StepOutput {
    const sampled = new Map<SlotRun, SampledRun>()
    const times = { decodeMs: 0, promptMs: 0 }
    for (const { adapter, runs: equals } of this.#groups(runs)) {
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
      ...(this.#meters.size > 0 && { logprobs: inOrder.map(({ logprobs }) => logprobs) }),
      times,
    }
  }

  /** Those of the adapter that the step before ended with come first: a change takes time. */
  #groups(runs: readonly SlotRun[]): readonly RunGroup[] {
    if (this.#slotAdapters.size === 0) return groupsOf(null, runs)
    const byAdapter = new Map<ActiveAdapter | null, SlotRun[]>([[this.#context.adapter, []]])
    for (const run of runs) {
      const adapter = this.#slotAdapters.get(run.slotId) ?? null
      const group = byAdapter.get(adapter)
      if (group === undefined) byAdapter.set(adapter, [run])
      else group.push(run)
    }
    return [...byAdapter].flatMap(([adapter, own]) => groupsOf(adapter, own))
  }

  #decode(runs: readonly SlotRun[], isGeneration: boolean): void {
    if (this.#options.usesGpu || this.#dependsOnThreads(runs)) return this.#context.decode(runs)
    const startedMs = performance.now()
    this.#context.decode(runs, this.governor.threads)
    if (isGeneration) this.governor.observe(workOf(runs), performance.now() - startedMs)
  }

  /**
   * Whether the next token must not depend on how busy the machine is, and would: llama.cpp splits the attention of a
   * single row between the threads, which rounds otherwise with another number of them.
   */
  #dependsOnThreads([run, ...others]: readonly SlotRun[]): boolean {
    return others.length === 0 && run?.tokenIds.length === 1 && this.#samplers[run.slotId]?.isSeeded === true
  }

  /** Adds the next token of each run that wants one; the runs are those decoded last. */
  #sampleEach(runs: readonly SlotRun[], sampled: Map<SlotRun, SampledRun>): void {
    const wanting = runs.filter(({ wantsToken }) => wantsToken)
    const logits = wanting.length === 0 ? [] : this.#context.logits()
    let rows = 0
    for (const run of wanting) {
      const firstRow = rows
      const logprobs: SampledLogprob[] = []
      const verified = verifyDraft(run, (index) => this.#sample(run, logits[firstRow + index], logprobs))
      this.#dropRejected(run, verified.accepted)
      sampled.set(run, { ...verified, logprobs })
      rows += 1 + (run.draftTokens ?? 0)
    }
    this.constraints.wake()
  }

  /** What comes next; adds a token's log probability where its sequence asks for them. */
  #sample({ slotId }: SlotRun, logits: Float32Array | undefined, logprobs: SampledLogprob[]): number | null {
    const sampler = this.#samplers[slotId]
    if (!sampler || !logits) throw new InvariantError(`Slot ${slotId} wants a token but has no sequence.`)
    const mask = this.#masks[slotId] ?? null
    const masked = mask?.apply(logits) ?? null
    if (masked !== null) return masked.instead
    const tokenId = sampler.sample(logits, this.#scratch)
    mask?.record(tokenId)
    const meter = this.#meters.get(slotId)
    if (meter !== undefined) logprobs.push(meter.measure(logits, tokenId, this.#scratch))
    return tokenId
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
    const { slotId, promptTokenIds, newTokenIds, sampling, endRules, topLogprobs, matcherId } = start
    const { adapterId, cachedTokens, copyFromSlotId, host, cuts = [] } = start
    const saved = cuts.flatMap((cut) => this.#cut(cut))
    const own = host === undefined ? null : this.#copies.apply(slotId, this.#inMemory(host))
    if (own !== null) saved.push(own)
    if (copyFromSlotId !== null) this.#copySlot(copyFromSlotId, slotId)
    this.#trim(slotId, cachedTokens)
    const lateTokens = lateTokensOf(endRules, this.vocabulary.endTokenIds)
    const sampler = new Sampler(sampling, promptTokenIds, lateTokens)
    this.#samplers[slotId] = newTokenIds === undefined ? sampler : sampler.resume(newTokenIds)
    if (topLogprobs === undefined) this.#meters.delete(slotId)
    else this.#meters.set(slotId, new LogprobMeter(topLogprobs, sampling.temperature))
    if (adapterId === undefined) this.#slotAdapters.delete(slotId)
    else this.#slotAdapters.set(slotId, this.adapters.get(adapterId))
    this.#masks[slotId] = matcherId === undefined ? null : new TokenMask(this.constraints.start(matcherId))
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

/** A state of fixed size for each slot takes no tokens. */
function roomOf(
  { kvElementsPerToken }: Model,
  options: RunnerOptions & { readonly maxSeqLen: number },
): KvRoom {
  if (kvElementsPerToken > 0) return kvRoomOf(options)
  return { tokens: options.maxBatchSize * slotTokens(options.maxSeqLen), sharedTokens: null }
}

/** By length, the shortest first, so that the streams' tokens come before prompts. */
function groupsOf(adapter: ActiveAdapter | null, runs: readonly SlotRun[]): readonly RunGroup[] {
  const groups = new Map<number, SlotRun[]>()
  for (const run of runs) {
    const group = groups.get(run.tokenIds.length)
    if (group === undefined) groups.set(run.tokenIds.length, [run])
    else group.push(run)
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => ({ adapter, runs: group }))
}

function workOf(runs: readonly SlotRun[]): StepWork {
  let rows = 0
  let contextTokens = 0
  for (const { position, tokenIds } of runs) {
    rows += tokenIds.length
    contextTokens += position + tokenIds.length
  }
  return { rows, contextTokens }
}
