import { describe, expect, it } from 'vitest'
import type { ComputeDevice } from '../../protocol/compute-device.ts'
import { onHost } from './host-need.ts'
import { fewerLayers, type OffloadNeed, planOffload, shareDevices, withinBudgets } from './offload-plan.ts'

const GB = 1e9

/** Of 10 layers of 1 GB each with as much KV cache, an output of 2 GB, and 3 GB in front of them. */
const NEED: OffloadNeed = {
  layers: {
    weightBytes: [...Array.from({ length: 10 }, () => GB), 2 * GB],
    tiedBytes: 0,
    allBytes: 15 * GB,
    largestBytes: 0.5 * GB,
    stepTokenBytes: 0,
  },
  kvCacheBytes: 10 * GB,
  computeBytes: 0.1 * GB,
}

const device = (freeGb: number, given: Partial<ComputeDevice> = {}): ComputeDevice => ({
  ...{ name: 'CUDA0', description: 'a GPU', sharesMemory: false, totalBytes: 5 * GB, freeBytes: freeGb * GB },
  ...given,
})

const plan = (devices: readonly ComputeDevice[], wanted: number | null = null, need = NEED) =>
  planOffload(need, { devices, wanted })

describe('planOffload', () => {
  it('puts all layers on a device that has room for them, what a step takes, and a margin', () => {
    // 10 layers with KV cache, the output, a step, a tenth of 5 GB.
    expect(plan([device(22.6)])).toMatchObject({
      ...{ layers: 11, allLayers: 11, hostWeightBytes: 3 * GB, hostKvCacheBytes: 0 },
      devices: [{ name: 'CUDA0', layers: 11, weightBytes: 12 * GB, kvCacheBytes: 10 * GB }],
    })
    expect(plan([device(22.59)]).layers).toBe(10)
  })

  it('puts as many on it as fit, the last ones, and leaves the KV cache of the others', () => {
    // The output and 3 layers: 8 GB, and a copy of the largest tensor beside margin and step.
    const part = plan([device(9.1)])
    expect(part).toMatchObject({ layers: 4, hostWeightBytes: 10 * GB, hostKvCacheBytes: 7 * GB })
    expect(part.devices).toMatchObject([{ layers: 4, weightBytes: 5 * GB, kvCacheBytes: 3 * GB }])
    expect(plan([device(9.09)]).layers).toBe(3)
  })

  it('puts no more than wanted, and no more than fit where more are wanted', () => {
    expect(plan([device(50)], 3)).toMatchObject({ layers: 3, devices: [{ weightBytes: 4 * GB }] })
    expect(plan([device(50)], 99).layers).toBe(11)
    expect(plan([device(9.1)], 99).layers).toBe(4)
  })

  it('leaves everything where nothing fits, nothing is wanted or there is no device', () => {
    const nothing = { layers: 0, devices: [], hostWeightBytes: 15 * GB, hostKvCacheBytes: 10 * GB }
    expect(plan([device(1)])).toMatchObject(nothing)
    expect(plan([device(50)], 0)).toMatchObject(nothing)
    expect(plan([])).toMatchObject(nothing)
  })

  it('divides the layers by what the devices have free, as llama.cpp does', () => {
    const { devices, layers, shares } = plan([device(20), device(10, { name: 'CUDA1' })])
    expect(layers).toBe(11)
    expect(shares).toEqual([19.4 * GB, 9.4 * GB])
    // 11 layers × 19.4 / 28.8 = 7.4: the first device takes those whose place is before that.
    expect(devices.map((part) => [part.name, part.layers])).toEqual([
      ['CUDA0', 8],
      ['CUDA1', 3],
    ])
    expect(devices[1]).toMatchObject({ weightBytes: 4 * GB, kvCacheBytes: 2 * GB })
  })

  it('names only devices that hold layers', () => {
    const names = plan([device(50), device(0.1, { name: 'CUDA1' })]).devices.map(({ name }) => name)
    expect(names).toEqual(['CUDA0'])
  })

  it('counts what lies on a device that has no memory of its own against the memory of the machine', () => {
    const shared = plan([device(50, { sharesMemory: true })])
    expect(shared).toMatchObject({ layers: 11, hostWeightBytes: 15 * GB, hostKvCacheBytes: 10 * GB })
  })

  it('counts the matrix of input and output in both memories', () => {
    const tied = { ...NEED, layers: { ...NEED.layers, tiedBytes: 2 * GB, allBytes: 13 * GB } }
    expect(plan([device(50)], null, tied).hostWeightBytes).toBe(3 * GB)
    expect(plan([device(50, { sharesMemory: true })], null, tied).hostWeightBytes).toBe(15 * GB)
  })
})

describe('the devices of a load', () => {
  it('are shared between replicas, and have no more free than a budget says', () => {
    expect(shareDevices([device(9)], 2)).toEqual([device(4.5)])
    expect(withinBudgets([device(9), device(8, { name: 'CUDA1' })], { CUDA0: 2 * GB })).toEqual([
      device(2),
      device(8, { name: 'CUDA1' }),
    ])
  })

  it('take fewer layers after each refusal, and at last none', () => {
    expect(fewerLayers(33)).toEqual([33, 24, 16, 0])
    expect(fewerLayers(1)).toEqual([1, 0])
    expect(fewerLayers(0)).toEqual([0])
  })
})

describe('onHost', () => {
  const need = { weightBytes: 15 * GB, kvCacheBytes: 10 * GB, replicas: 1, sourceBytes: 0 }

  it('is what a plan leaves, and names what it does not', () => {
    expect(onHost(need, plan([device(9.1)]))).toEqual({
      ...{ ...need, weightBytes: 10 * GB, kvCacheBytes: 7 * GB },
      onDevices: '4 of 11 layers on CUDA0',
    })
    expect(onHost({ ...need, kvCacheBytes: 0 }, plan([device(9.1)])).kvCacheBytes).toBe(0)
  })

  it('is all of it without layers on a device', () => {
    expect(onHost(need, null)).toBe(need)
    expect(onHost(need, plan([device(1)]))).toBe(need)
  })
})
