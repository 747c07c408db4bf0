/**
 * Looks at a checkpoint as a load would, and loads nothing: reads its headers, from the Hub where it is not on this machine,
 * and computes the memory that it would need.
 */
import type { RunnerOptions } from '../protocol/runner-options.ts'
import type { ComputeDevice, Placement } from '../protocol/compute-device.ts'
import type { CheckedSource, CheckpointReport } from '../protocol/checkpoint-report.ts'
import { bundledOr } from './bundled-model.ts'
import type { planAside } from './conversion/conversion-thread.ts'
import { checkDrafts } from './draft-checkpoint.ts'
import { type CheckpointHeaders, outlineOf, readCheckpointHeaders } from './checkpoint-outline.ts'
import { checkpointName, isHubReference } from './hub/hub-reference.ts'
import { describeKvCache } from '../core/text/kv-cache-text.ts'
import { onHost } from './memory/host-need.ts'
import { kvRoomOf } from './memory/kv-room.ts'
import { scaleLayers } from './memory/layer-sizes.ts'
import {
  findMemoryProblem,
  fittingKvTokens,
  type MemoryNeed,
  memoryNeed,
  neededBytes,
} from './memory/memory-need.ts'
import { offloadNeed, type OffloadPlan, planOffload, shareDevices } from './memory/offload-plan.ts'
import { checkFullPrecision, estimateBytes, quantFormat } from './quantization/quantization-plan.ts'

export interface CheckOptions extends Pick<
  RunnerOptions,
  'maxSeqLen' | 'maxBatchSize' | 'kvCacheType' | 'kvCacheTokens' | 'gpuLayers'
> {
  /** GPUs that may hold layers. */
  readonly devices: readonly ComputeDevice[]
  readonly replicas: number
  /** @default 'auto', which takes what is left */
  readonly prefixCacheMb?: number | 'auto'
  readonly availableBytes: number
  /** Weights of the models that serve or load. */
  readonly servingBytes: number
  /** What models need that would be loaded before it. @default 0 */
  readonly loadingBytes?: number
  /** How the conversion of a checkpoint is planned. @default in a worker thread */
  readonly plan?: typeof planAside
}

/** @throws StartError with one sentence saying why it could not be served. */
export async function checkCheckpoint(
  source: CheckedSource,
  options: CheckOptions,
): Promise<CheckpointReport> {
  const { availableBytes, servingBytes, loadingBytes = 0 } = options
  const { headers, downloadBytes } = await readHeaders(source, options)
  const outline = outlineOf(headers, options)
  const draft = await checkDraft(source, options)
  const shape = { ...outline, draft: draft?.outline ?? null }
  const inUse = { availableBytes, servingBytes, loadingBytes }
  // Where a GPU may hold a part of it, that part is divided anew and not made smaller.
  const isFitted = source.quantization === 'none' && options.devices.length === 0
  const kvCacheTokens = fittingKvTokens(shape, options, isFitted ? inUse : null)
  const whole = { ...memoryNeed(shape, { ...options, kvCacheTokens }), ...weightsNeed(source, headers) }
  const room = outline.embedding === undefined ? kvRoomOf({ ...options, ...outline, kvCacheTokens }) : null
  const layers = scaleLayers(outline.layers, whole.weightBytes)
  const plan = planOffload(offloadNeed({ ...outline, layers }, whole), {
    devices: shareDevices(options.devices, options.replicas),
    wanted: options.gpuLayers,
  })
  const need = onHost(whole, plan)
  return {
    architecture: outline.architecture,
    parameters: outline.parameters,
    quantization: outline.quantization,
    sizeBytes: whole.weightBytes,
    downloadBytes: downloadBytes + (draft?.downloadBytes ?? 0),
    maxSeqLen: outline.maxSeqLen,
    kvCacheBytes: whole.kvCacheBytes,
    kvCacheTokens: room?.tokens ?? null,
    kvCache:
      room && describeKvCache({ ...options, ...outline, ...room, isShared: room.sharedTokens !== null }),
    neededBytes: neededBytes(need),
    availableBytes: Math.max(0, availableBytes - servingBytes),
    placement: options.devices.length === 0 ? null : toPlacement(plan, options.devices),
    problem: findMemoryProblem(checkpointName(source.checkpoint), need, inUse),
  }
}

/** Null without a draft model. @throws StartError where it cannot be served. */
async function checkDraft({ draftCheckpoint }: CheckedSource, options: CheckOptions) {
  if (draftCheckpoint === null) return null
  const source = {
    checkpoint: draftCheckpoint,
    modelConfig: null,
    tokenizer: null,
    quantization: 'none',
  } as const
  const { headers, downloadBytes } = await readHeaders({ ...source, draftCheckpoint: null }, options)
  return { outline: checkDrafts(draftCheckpoint, outlineOf(headers, options)), downloadBytes }
}

/** With what all replicas together find free. */
function toPlacement({ layers, allLayers, devices }: OffloadPlan, all: readonly ComputeDevice[]): Placement {
  const free = new Map(all.map(({ name, freeBytes }) => [name, freeBytes]))
  return {
    ...{ layers, allLayers },
    devices: devices.map((device) => ({ ...device, freeBytes: free.get(device.name) ?? device.freeBytes })),
  }
}

/** @throws StartError where the weights are quantized already. */
function weightsNeed(
  { checkpoint, quantization }: CheckedSource,
  headers: CheckpointHeaders,
): Pick<MemoryNeed, 'sourceBytes' | 'weightBytes'> {
  const sourceBytes = headers.tensors.reduce((sum, tensor) => sum + tensor.sizeBytes, 0)
  if (quantization === 'none') return { sourceBytes: 0, weightBytes: sourceBytes }
  checkFullPrecision({ path: checkpoint, tensors: headers.tensors })
  return { sourceBytes, weightBytes: estimateBytes(quantFormat(quantization, headers), headers) }
}

async function readHeaders(
  source: CheckedSource,
  { plan }: Pick<CheckOptions, 'plan'>,
): Promise<{ readonly headers: CheckpointHeaders; readonly downloadBytes: number }> {
  const read = async (checkpoint: string) => ({
    headers: await readCheckpointHeaders({ ...source, checkpoint }, plan === undefined ? {} : { plan }),
    downloadBytes: 0,
  })
  if (!isHubReference(source.checkpoint)) return await read(bundledOr(source.checkpoint))
  // Loaded on demand: the Hub's library is larger than the rest of the program.
  const { surveyModel } = await import('./hub/survey-model.ts')
  const survey = await surveyModel(source.checkpoint, { env: process.env })
  return survey.kind === 'cached' ? await read(survey.path) : survey
}
