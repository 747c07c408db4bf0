/**
 * Which layers of a model go to which GPU: as many as are wanted and fit, the last ones of the model, divided between the
 * devices as llama.cpp divides them, by their free memory. Pure; the server plans with it what a load would need, and the engine
 * process what it loads.
 */
import type { ComputeDevice, Placement } from '../../protocol/compute-device.ts'
import type { LayerSizes } from './layer-sizes.ts'
import { slotTokens } from './kv-room.ts'
import { MAX_STEP_TOKENS, type MemoryNeed, stepTokens } from './memory-need.ts'

/** Left free on a device, for what its driver and others take: so much as llama.cpp leaves, and no more than a tenth. */
const MAX_MARGIN_BYTES = 2 ** 30
const MARGIN_SHARE = 0.1
/** Of each pair of a step's token and a cached one: the attention mask in F32 and in F16. */
const MASK_BYTES = 6

export interface OffloadNeed {
  readonly layers: LayerSizes
  /** Of all slots and layers. */
  readonly kvCacheBytes: number
  /** Of a step's intermediate results, on each device. */
  readonly computeBytes: number
}

export interface OffloadPlan extends Placement {
  /** What each device takes of the layers, for llama.cpp; in the order of `devices`, which then are all that were given. */
  readonly shares: readonly number[]
  /** What stays in the machine's memory, which a device may share. */
  readonly hostWeightBytes: number
  readonly hostKvCacheBytes: number
}

/** The need of one replica. */
export function offloadNeed(
  outline: { readonly layers: LayerSizes; readonly maxSeqLen: number; readonly embedding?: unknown },
  { kvCacheBytes }: Pick<MemoryNeed, 'kvCacheBytes'>,
): OffloadNeed {
  const { layers, maxSeqLen, embedding } = outline
  const tokens = embedding === undefined ? MAX_STEP_TOKENS : stepTokens(maxSeqLen)
  const computeBytes = tokens * (layers.stepTokenBytes + slotTokens(maxSeqLen) * MASK_BYTES)
  return { layers, kvCacheBytes, computeBytes }
}

/** Devices of which another process may take no more than so much. */
export function withinBudgets(
  devices: readonly ComputeDevice[],
  budgets: Readonly<Record<string, number>> = {},
): readonly ComputeDevice[] {
  return devices.map((device) => ({
    ...device,
    freeBytes: Math.min(device.freeBytes, budgets[device.name] ?? Number.POSITIVE_INFINITY),
  }))
}

/** What each of several replicas may take of the devices. */
export function shareDevices(devices: readonly ComputeDevice[], replicas: number): readonly ComputeDevice[] {
  return devices.map((device) => ({ ...device, freeBytes: device.freeBytes / replicas }))
}

/** @param wanted layers; null wants all */
export function planOffload(
  need: OffloadNeed,
  { devices, wanted }: { readonly devices: readonly ComputeDevice[]; readonly wanted: number | null },
): OffloadPlan {
  const all = need.layers.weightBytes.length
  for (let layers = Math.min(wanted ?? all, all); layers > 0; layers--) {
    const plan = divide(need, devices, layers)
    if (plan !== null) return plan
  }
  return {
    ...{ layers: 0, allLayers: all, devices: [], shares: [] },
    hostWeightBytes: need.layers.allBytes,
    hostKvCacheBytes: need.kvCacheBytes,
  }
}

/** Null where a device has too little memory for its part. */
function divide(need: OffloadNeed, devices: readonly ComputeDevice[], layers: number): OffloadPlan | null {
  const { weightBytes: weights, tiedBytes, largestBytes, allBytes } = need.layers
  const first = weights.length - layers
  const kvBytes = need.kvCacheBytes / Math.max(1, weights.length - 1)
  const ownBytes = need.computeBytes + (first > 0 ? largestBytes : 0)
  const shares = devices.map((device) => Math.max(0, room(device) - ownBytes))
  const parts = devices.map((device) => ({ ...device, layers: 0, weightBytes: 0, kvCacheBytes: 0 }))
  for (const [index, deviceIndex] of assign(shares, layers).entries()) {
    const part = parts[deviceIndex]
    if (part === undefined) return null
    part.layers += 1
    part.weightBytes += weights[first + index] ?? 0
    if (first + index < weights.length - 1) part.kvCacheBytes += kvBytes
  }
  const fits = parts.every(
    (part, index) => part.layers === 0 || part.weightBytes + part.kvCacheBytes <= (shares[index] ?? 0),
  )
  if (!fits) return null
  const away = parts.filter(({ sharesMemory }) => !sharesMemory)
  const awayWeights = away.reduce((sum, part) => sum + part.weightBytes, 0)
  return {
    ...{ layers, allLayers: weights.length, shares },
    devices: parts.filter((part) => part.layers > 0),
    hostWeightBytes: allBytes - awayWeights + tiedBytes,
    hostKvCacheBytes: need.kvCacheBytes - away.reduce((sum, part) => sum + part.kvCacheBytes, 0),
  }
}

function room({ freeBytes, totalBytes }: ComputeDevice): number {
  return freeBytes - Math.min(MAX_MARGIN_BYTES, totalBytes * MARGIN_SHARE)
}

/**
 * The index of the device of each layer. llama.cpp's own arithmetic in single precision (`load_tensors` in `llama-model.cpp`): a
 * layer goes to the first device whose part of all shares, with those before it, is larger than the layer's place among all.
 */
function assign(shares: readonly number[], layers: number): readonly number[] {
  let sum = 0
  const sums = shares.map((share) => (sum = Math.fround(sum + Math.fround(share))))
  const ends = sums.map((end) => Math.fround(end / sum))
  return Array.from({ length: layers }, (_, layer) => {
    const place = Math.fround(layer / layers)
    return ends.findIndex((end) => end > place)
  })
}

/** Which layers to try when a device refuses what was planned: fewer each time, at last none. */
export function fewerLayers(layers: number): readonly number[] {
  return [...new Set([layers, Math.floor(layers * 0.75), Math.floor(layers / 2), 0])]
}
