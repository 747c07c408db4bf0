/**
 * Decides, in the engine process, which layers of a model go to a GPU, and loads them: where a device refuses what was planned,
 * with fewer of them. Tells what lies where afterwards.
 */
import { outlineOf } from '../../../checkpoints/checkpoint-outline.ts'
import { openGgufModel } from '../../../checkpoints/gguf/gguf-file.ts'
import { memoryNeed } from '../../../checkpoints/memory/memory-need.ts'
import {
  fewerLayers,
  type OffloadNeed,
  offloadNeed,
  type OffloadPlan,
  planOffload,
  withinBudgets,
} from '../../../checkpoints/memory/offload-plan.ts'
import { StartError } from '../../../core/errors.ts'
import type { ComputeDevice, Placement } from '../../../protocol/compute-device.ts'
import type { RunnerOptions } from '../../../protocol/runner-options.ts'
import type { Bindings } from '../ffi/bindings.ts'
import type { Pointer } from '../ffi/structs.ts'
import { listGpus, type NativeDevice } from './devices.ts'

/** llama.cpp gave no model or context and said why on standard error only; no memory on a device is the usual reason. */
export class NativeLoadError extends StartError {}

export interface LoadPlan {
  readonly plan: OffloadPlan
  /** All that the plan divides the layers among; none where no layer is on one. */
  readonly devices: readonly Pointer[]
}

interface Planned {
  readonly need: OffloadNeed
  readonly gpus: readonly NativeDevice[]
  readonly budgets: readonly ComputeDevice[]
  readonly wanted: number | null
}

/** Calls `open` with the plan, or null where no GPU may be used or is there, until it is not refused by a device. */
export async function loadWithPlan<Loaded>(
  api: Bindings,
  options: RunnerOptions,
  open: (plan: LoadPlan | null) => Loaded,
): Promise<Loaded> {
  const planned = await prepare(api, options)
  if (planned === null) return open(null)
  const first = planOf(planned, planned.wanted)
  const tries = fewerLayers(first.plan.layers)
  for (const layers of tries) {
    const tried = layers === first.plan.layers ? first : planOf(planned, layers)
    try {
      return open(tried)
    } catch (error) {
      if (layers === tries.at(-1) || !(error instanceof NativeLoadError)) throw error
      process.stderr.write(`The GPU did not take ${tried.plan.layers} layers; fewer are tried.\n`)
    }
  }
  throw new RangeError('There is a last try, which returns or throws.')
}

async function prepare(api: Bindings, options: RunnerOptions): Promise<Planned | null> {
  const { gpu, gpuLayers, modelPath, deviceBudgets } = options
  const gpus = gpu === 'off' || gpuLayers === 0 ? [] : listGpus(api)
  if (gpus.length === 0) return null
  const outline = outlineOf(await openGgufModel(modelPath), options)
  const need = offloadNeed(outline, memoryNeed(outline, options))
  return {
    need,
    gpus,
    budgets: withinBudgets(
      gpus.map(({ device }) => device),
      deviceBudgets,
    ),
    wanted: gpuLayers,
  }
}

function planOf({ need, gpus, budgets }: Planned, wanted: number | null): LoadPlan {
  const plan = planOffload(need, { devices: budgets, wanted })
  return { plan, devices: plan.layers === 0 ? [] : gpus.map(({ handle }) => handle) }
}

/** What lies where, with what the devices have left now. */
export function placementOf(api: Bindings, loaded: LoadPlan | null): Placement | undefined {
  if (loaded === null) return undefined
  const { layers, allLayers, devices } = loaded.plan
  const now = new Map(listGpus(api).map(({ device }) => [device.name, device.freeBytes]))
  return {
    ...{ layers, allLayers },
    devices: devices.map((device) => {
      // A driver that does not say what is used calls all of it free.
      const leftBytes = device.totalBytes - device.weightBytes - device.kvCacheBytes
      return { ...device, freeBytes: Math.min(now.get(device.name) ?? leftBytes, leftBytes) }
    }),
  }
}
