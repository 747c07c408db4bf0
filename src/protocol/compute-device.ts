/** GPUs as llama.cpp's backends list them, and what of a model lies on each. */

export interface ComputeDevice {
  /** `CUDA0`, `Vulkan0`, `MTL0`. */
  readonly name: string
  /** What the driver calls it. */
  readonly description: string
  /** Whether its memory is the machine's own, so that what lies there counts against both. */
  readonly sharesMemory: boolean
  readonly totalBytes: number
  readonly freeBytes: number
}

interface DevicePlacement extends ComputeDevice {
  readonly layers: number
  readonly weightBytes: number
  readonly kvCacheBytes: number
}

/** How a model is divided between the machine's memory and its GPUs; the output counts as a layer. */
export interface Placement {
  readonly layers: number
  readonly allLayers: number
  /** Those that hold layers. */
  readonly devices: readonly DevicePlacement[]
}

/** What is known of a model that is loaded. */
export interface LoadedWeights {
  readonly engine?: string
  /** Of a model of an upstream this may not be known. */
  readonly sizeBytes: number
  readonly placement?: Placement
  readonly draft?: { readonly sizeBytes: number }
}

/** Weights of models that are in the machine's own memory. */
export function servingBytes(models: readonly LoadedWeights[]): number {
  return models.reduce((sum, model) => sum + hostWeightBytes(model), 0)
}

/** Weights of a model, and of its draft model, that are in the machine's own memory: none of one that an upstream serves. */
export function hostWeightBytes({ engine, sizeBytes, placement, draft }: LoadedWeights): number {
  if (engine === 'openai') return 0
  const away = (placement?.devices ?? []).filter(({ sharesMemory }) => !sharesMemory)
  const awayBytes = away.reduce((sum, { weightBytes }) => sum + weightBytes, 0)
  return Math.max(0, sizeBytes - awayBytes) + (draft?.sizeBytes ?? 0)
}

const BYTES_PER_MB = 1_000_000

/** For the line of a log: `33 of 33 layers on CUDA0 (NVIDIA L4): 4100 MB of weights, 500 MB of KV cache; 18000 of 24000 MB free`. */
export function describePlacement({ layers, allLayers, devices }: Placement): string {
  if (devices.length === 0) return `CPU: none of the ${allLayers} layers fits on a GPU`
  const toMb = (bytes: number) => Math.round(bytes / BYTES_PER_MB)
  const parts = devices.map(
    (device) =>
      `${device.layers} of ${allLayers} layers on ${device.name} (${device.description}): ` +
      `${toMb(device.weightBytes)} MB of weights, ${toMb(device.kvCacheBytes)} MB of KV cache; ` +
      `${toMb(device.freeBytes)} of ${toMb(device.totalBytes)} MB free`,
  )
  const rest = allLayers - layers
  return [...parts, ...(rest > 0 ? [`${rest} on the CPU`] : [])].join(', ')
}
