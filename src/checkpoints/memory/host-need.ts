/** The part of a model's need that the machine's own memory has to hold, beside what lies on GPUs. */
import type { MemoryNeed } from './memory-need.ts'
import type { OffloadPlan } from './offload-plan.ts'

/** A null plan, or one without layers, leaves all of it. */
export function onHost(need: MemoryNeed, plan: OffloadPlan | null): MemoryNeed {
  if (plan === null || plan.layers === 0) return need
  const { layers, allLayers, devices, hostWeightBytes, hostKvCacheBytes } = plan
  return {
    ...need,
    weightBytes: hostWeightBytes,
    // Nothing is known of it while only the weights are.
    kvCacheBytes: need.kvCacheBytes === 0 ? 0 : hostKvCacheBytes,
    onDevices: `${layers} of ${allLayers} layers on ${devices.map(({ name }) => name).join(' and ')}`,
  }
}
