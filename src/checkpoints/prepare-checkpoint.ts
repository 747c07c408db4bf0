/**
 * Prepares the file that an engine opens from a model's source: downloads it from the Hub, reads its headers, checks that
 * it fits into memory, converts and quantizes it where that is configured. A model that does not fit is refused by its
 * headers, before anything is written. Starts no engine.
 */
import type { LogWriter } from '../core/log-writer.ts'
import { type ComputeDevice, type LoadedWeights, servingBytes } from '../protocol/compute-device.ts'
import type { ModelOutline } from '../protocol/model-info.ts'
import type { LocalModelSource } from '../protocol/model-source.ts'
import type { MetadataOverride, RunnerOptions } from '../protocol/runner-options.ts'
import { DAMAGED_FILE } from './cache/artifact-cache.ts'
import { checkDrafted, findDraft, type ResolvedDraft, resolveDraft } from './draft-checkpoint.ts'
import { type CheckpointOutline, isCheckpointOutline } from './checkpoint-outline.ts'
import { type GgufModel, numberValue } from './gguf/gguf-file.ts'
import { localCheckpointLogged } from './hub/local-checkpoint.ts'
import type { KnownOutlines } from './known-outlines.ts'
import { onHost } from './memory/host-need.ts'
import { scaleLayers } from './memory/layer-sizes.ts'
import {
  fittingKvTokens,
  type MemoryFit,
  type MemoryNeed,
  memoryNeed,
  prefixCacheBytes,
} from './memory/memory-need.ts'
import { offloadNeed, planOffload, shareDevices } from './memory/offload-plan.ts'
import { type ResolvedModel, resolveModelFile } from './model-file.ts'
import { ProgressSplitter } from './progress-splitter.ts'
import type { QuantizationSummary } from './quantization/quantization-plan.ts'
import {
  type CachedQuantizationOptions,
  quantizeModel,
  type Quantizer,
} from './quantization/quantize-model.ts'

const DOWNLOAD_SHARE = 0.8
/** Of converting and quantizing together. */
const WEIGHTS_SHARE = 0.9
const CONVERSION_SHARE = 0.5
const LEFT_OUT = 'the tensors that read images are left out of the conversion: the model takes text only'

export interface PrepareOptions extends Pick<
  RunnerOptions,
  'maxSeqLen' | 'maxBatchSize' | 'kvCacheType' | 'kvCacheTokens' | 'gpu' | 'gpuLayers'
> {
  /** The GPUs that may hold layers. */
  readonly findGpus: (options: Pick<RunnerOptions, 'gpu' | 'gpuLayers'>) => Promise<readonly ComputeDevice[]>
  readonly replicas: number
  readonly prefixCacheMb: number | 'auto'
  readonly dataDir: string
  readonly memory: MemoryFit
  readonly outlines: KnownOutlines
  readonly quantize: Quantizer
  readonly log: LogWriter
}

interface MemoryDemand {
  /** @throws StartError with the numbers where there is no room now */
  readonly reserve: () => Disposable
  /** Whether there would be room if other models gave back so much; `ignoresLoads` where those that load gave back theirs. */
  readonly fits: (freedBytes: number, ignoresLoads: boolean) => boolean
}

/** One load. */
export interface PrepareWork {
  readonly modelId: string
  readonly source: LocalModelSource
  /** From a reading of the headers just before; null reads them. */
  readonly outline: ModelOutline | null
  readonly onOutline: (outline: ModelOutline) => void
  /** Models that serve now. */
  readonly loaded: () => readonly LoadedWeights[]
  /** Takes room; has other models unloaded where there is none. */
  readonly makeRoom: (demand: MemoryDemand) => Promise<Disposable>
  readonly progress: ProgressSplitter
  readonly signal: AbortSignal
}

/** Holds the reservation of its memory until it is disposed, when its engine has started. */
export interface PreparedCheckpoint extends Disposable {
  readonly model: GgufModel
  readonly overrides: readonly MetadataOverride[]
  /** The model that drafts for it; null without one. */
  readonly draft: ResolvedDraft | null
  /** Null where nothing was to be quantized. */
  readonly quantized: QuantizationSummary | null
  /** As configured, or fewer than by default where memory is short; null for the default. */
  readonly kvCacheTokens: number | null
  /** Host memory for conversations that lose their slot, of all replicas. */
  readonly prefixCacheBytes: number
  /** What each replica may take of a GPU's memory, by its name. */
  readonly deviceBudgets: Readonly<Record<string, number>>
}

/** Of what is reserved already. */
const NOTHING: MemoryNeed = { weightBytes: 0, kvCacheBytes: 0, replicas: 1, sourceBytes: 0 }

/** @throws StartError with one sentence saying what is wrong. */
export async function prepareCheckpoint(
  options: PrepareOptions,
  work: PrepareWork,
): Promise<PreparedCheckpoint> {
  const { modelId, source, progress, signal } = work
  const { log } = options
  const onProgress = progress.step(DOWNLOAD_SHARE)
  const checksConfig = source.modelConfig === null
  const pulling = { modelId, log, signal, onProgress, checksConfig }
  const checkpoint = await localCheckpointLogged(source.checkpoint, pulling)
  const local = { ...work, source: { ...source, checkpoint } }
  const pull = { modelId, log, signal }
  const draft = await findDraft(source, pull)
  const [outline, gpus] = await Promise.all([readOutline(options, local), options.findGpus(options)])
  checkDrafted(source, outline)
  const shape = { ...outline, draft: draft?.outline ?? null }
  const devices = shareDevices(gpus, options.replicas)
  // How large quantized weights become is not known yet; what a GPU holds is divided anew and not made smaller.
  const isFitted = source.quantization === 'none' && devices.length === 0
  const inUse = isFitted ? options.memory.inUse(servingBytes(work.loaded())) : null
  const kvCacheTokens = fittingKvTokens(shape, options, inUse)
  const needOf = (weightBytes: number) => {
    const need = { ...memoryNeed(shape, { ...options, kvCacheTokens }), weightBytes }
    const layers = scaleLayers(outline.layers, weightBytes)
    const plan = planOffload(offloadNeed({ ...outline, layers }, need), {
      devices,
      wanted: options.gpuLayers,
    })
    return onHost(need, plan)
  }
  const need = needOf(outline.sizeBytes)
  const { memory, prefixCacheMb } = options
  const reserve = (needed: typeof need) =>
    work.makeRoom({
      reserve: () => memory.reserve(modelId, needed, servingBytes(work.loaded())),
      fits: (freedBytes, ignoresLoads) =>
        memory.fits(needed, { servingBytes: servingBytes(work.loaded()), freedBytes, ignoresLoads }),
    })
  let reserved = source.quantization === 'none' ? await reserve(need) : null
  const cacheBytes = prefixCacheBytes(
    prefixCacheMb,
    reserved === null ? need : NOTHING,
    memory.inUse(servingBytes(work.loaded())),
  )
  const release = () => reserved?.[Symbol.dispose]()
  try {
    // Quantizing makes the weights smaller: how large they become is known later.
    const prepared = await prepareWeights(options, local, async ({ sourceBytes, newBytes }) => {
      reserved = await reserve({ ...needOf(newBytes), sourceBytes })
    })
    const resolved = draft === null ? null : await resolveDraft(draft, { ...pull, dataDir: options.dataDir })
    warnOfLongContext(log, options.maxSeqLen, prepared.model)
    const deviceBudgets = Object.fromEntries(devices.map(({ name, freeBytes }) => [name, freeBytes]))
    const room = { kvCacheTokens, prefixCacheBytes: cacheBytes, deviceBudgets }
    return { ...prepared, ...room, draft: resolved, [Symbol.dispose]: release }
  } catch (error) {
    release()
    throw error
  }
}

async function readOutline(
  { outlines }: PrepareOptions,
  { source, outline: known, onOutline, signal }: PrepareWork,
): Promise<CheckpointOutline> {
  const outline = isCheckpointOutline(known) ? known : await outlines.read(source, signal)
  onOutline(outline)
  return outline
}

async function prepareWeights(
  { dataDir, log, quantize }: PrepareOptions,
  { modelId, source, progress, signal }: PrepareWork,
  checkMemory: NonNullable<CachedQuantizationOptions['checkMemory']>,
): Promise<ResolvedModel & Pick<PreparedCheckpoint, 'quantized'>> {
  const { quantization: mode } = source
  const weights = new ProgressSplitter(progress.step(WEIGHTS_SHARE))
  const resolved = await resolveModelFile({
    ...source,
    dataDir,
    onProgress: weights.step(mode === 'none' ? 1 : CONVERSION_SHARE),
    isOpened: mode === 'none',
    onDamaged: (file) => log.warn({ model: modelId, file }, DAMAGED_FILE),
    onLeftOut: ({ count, prefixes }) => log.warn({ model: modelId, tensors: count, prefixes }, LEFT_OUT),
    signal,
  })
  if (mode === 'none') return { ...resolved, quantized: null }
  const { model, layersQuantized, sizeBytes } = await quantizeModel({
    modelId,
    model: resolved.model,
    mode,
    dataDir,
    log,
    quantize,
    checkMemory,
    onProgress: weights.step(),
    signal,
  })
  return { ...resolved, model, quantized: { layersQuantized, sizeBytes } }
}

/** Positions that a model was not trained for give nonsense: the operator's choice, but not a silent one. */
function warnOfLongContext(log: LogWriter, maxSeqLen: number | null, model: GgufModel): void {
  const contextLength = numberValue(model.metadata, `${model.architecture}.context_length`)
  if (maxSeqLen === null || contextLength === null || maxSeqLen <= contextLength) return
  log.warn(
    { maxSeqLen, contextLength },
    'max_seq_len is longer than the context that the model was trained for',
  )
}
