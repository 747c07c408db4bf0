import { describe, expect, it } from 'vitest'
import { describePlacement, hostWeightBytes } from './compute-device.ts'

const device = {
  ...{ name: 'CUDA0', description: 'NVIDIA L4', sharesMemory: false, totalBytes: 24e9, freeBytes: 18e9 },
  ...{ layers: 20, weightBytes: 4.1e9, kvCacheBytes: 0.5e9 },
}

describe('describePlacement', () => {
  it('names each device, the layers on it, and its memory', () => {
    expect(describePlacement({ layers: 20, allLayers: 20, devices: [device] })).toBe(
      '20 of 20 layers on CUDA0 (NVIDIA L4): 4100 MB of weights, 500 MB of KV cache; 18000 of 24000 MB free',
    )
    const second = { ...device, name: 'CUDA1', layers: 1 }
    expect(describePlacement({ layers: 21, allLayers: 33, devices: [device, second] })).toMatch(
      /^20 of 33 layers on CUDA0 .* free, 1 of 33 layers on CUDA1 .* free, 12 on the CPU$/,
    )
  })

  it('says where no layer fits', () => {
    expect(describePlacement({ layers: 0, allLayers: 33, devices: [] })).toBe(
      'CPU: none of the 33 layers fits on a GPU',
    )
  })
})

it('weights that an upstream has are not in the memory of the machine, known or not', () => {
  for (const sizeBytes of [Number.NaN, 5e9]) expect(hostWeightBytes({ engine: 'openai', sizeBytes })).toBe(0)
})

it('weights on a GPU are not in the memory of the machine, unless it has none of its own', () => {
  const sizeBytes = 5e9
  const placed = (sharesMemory: boolean) => ({
    layers: 20,
    allLayers: 20,
    devices: [{ ...device, sharesMemory }],
  })
  expect(hostWeightBytes({ sizeBytes })).toBe(5e9)
  expect(hostWeightBytes({ sizeBytes, placement: placed(false) })).toBe(0.9e9)
  expect(hostWeightBytes({ sizeBytes, placement: placed(true) })).toBe(5e9)
})
