/**
 * Opens a model for a `LlamaRunner`: checks the file and the memory, loads the weights, those of its draft model too, and makes
 * the KV cache. What is open when a later part fails is closed here; afterwards the runner closes it.
 */
import type { ModelRunner } from '../../protocol/model-runner.ts'
import type { DraftInfo } from '../../protocol/model-info.ts'
import type { DraftModelOptions, LoadProgress, RunnerOptions } from '../../protocol/runner-options.ts'
import { availableMemoryBytes } from '../../checkpoints/memory/available-memory.ts'
import { onHost } from '../../checkpoints/memory/host-need.ts'
import { type KvRoom, kvRoomOf, servedSeqLen, slotTokens } from '../../checkpoints/memory/kv-room.ts'
import { checkMemory, memoryNeed, neededBytes } from '../../checkpoints/memory/memory-need.ts'
import { Context } from './context.ts'
import { defaultThreads } from './threads/cpu-cores.ts'
import { type LoadPlan, loadWithPlan, placementOf } from './devices/load-plan.ts'
import { draftRoomOf, openDraftWeights } from './drafts/draft-model.ts'
import { loadLlama, type Bindings } from './ffi/bindings.ts'
import { checkGguf, type GgufSummary } from './gguf-check.ts'
import { checkKvCacheType } from './kv-cache.ts'
import { openModel, type Model } from './model.ts'
import { LlamaRunner, type LlamaRunnerOptions, type OpenedWeights } from './runner.ts'

/** In a step of more than 16 tokens a token hardly costs less than in one of 16. */
const MAX_DRAFT_TOKENS = 15

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
    opened.options.draftWeights?.close()
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

function openOnce(api: Bindings, work: OpenWork): OpenedWeights {
  const { options, summary, plan, onProgress, onNote } = work
  const { modelPath } = options
  const memory = { availableBytes: availableMemoryBytes(), servingBytes: 0, loadingBytes: 0 }
  const { draft = null } = options
  const draftBytes = draft === null ? 0 : checkGguf(api, draft.modelPath).fileBytes
  const weights = { weightBytes: summary.fileBytes, kvCacheBytes: 0, draftBytes, replicas: 1, sourceBytes: 0 }
  checkMemory(modelPath, onHost(weights, plan?.plan ?? null), memory)
  const share = summary.fileBytes / (summary.fileBytes + draftBytes)
  const model = openModel(api, { ...options, ...summary, plan }, (fraction) => onProgress(share * fraction))
  let draftWeights: Model | null = null
  try {
    checkKvCacheType(model, options)
    const maxSeqLen = servedSeqLen(options, model.trainContextTokens)
    if (draft !== null) {
      const onDraftProgress = (fraction: number) => onProgress(share + (1 - share) * fraction)
      draftWeights = openDraftWeights(api, {
        ...draft,
        target: model,
        targetId: options.modelId,
        onProgress: onDraftProgress,
      })
      checkKvCacheType(draftWeights, options)
    }
    const room = roomOf(model, { ...options, maxSeqLen })
    const draftRoom = draftWeights === null ? null : draftRoomOf(options.maxBatchSize, { ...room, maxSeqLen })
    const need = memoryNeed({ ...model, maxSeqLen, draft: draftWeights }, options)
    const hostNeed = onHost(need, plan?.plan ?? null)
    checkMemory(modelPath, hostNeed, memory)
    const opened: LlamaRunnerOptions = {
      ...options,
      ...room,
      maxSeqLen,
      maxThreads: options.threads ?? defaultThreads(model.sizeBytes),
      memoryBytes: neededBytes(need),
      onNote,
      usesGpu: plan !== null && plan.devices.length > 0,
      hostKvShare: hostNeed.kvCacheBytes / Math.max(1, need.kvCacheBytes),
      maxDraftTokens: options.speculation === 'off' ? 0 : MAX_DRAFT_TOKENS,
      draftWeights,
      draftRoom,
      draftInfo: draft && draftWeights && draftInfoOf(draft, draftWeights),
    }
    const drafted = Math.max(opened.maxDraftTokens, draftRoom?.maxStepTokens ?? 0)
    const context = Context.open(api, model, { ...opened, maxDraftTokens: drafted })
    const placement = placementOf(api, plan)
    return { model, context, options: { ...opened, ...(placement !== undefined && { placement }) } }
  } catch (error) {
    draftWeights?.close()
    model.close()
    throw error
  }
}

function draftInfoOf({ name }: DraftModelOptions, { parameters, sizeBytes }: Model): DraftInfo {
  return { name, parameters, sizeBytes }
}

/** A state of fixed size for each slot takes no tokens. */
function roomOf(
  { kvElementsPerToken }: Model,
  options: RunnerOptions & { readonly maxSeqLen: number },
): KvRoom {
  if (kvElementsPerToken > 0) return kvRoomOf(options)
  return { tokens: options.maxBatchSize * slotTokens(options.maxSeqLen), sharedTokens: null }
}
