/** The devices that llama.cpp computes on, as its backends list them. */
import { availableMemoryBytes } from '../../../checkpoints/memory/available-memory.ts'
import type { ComputeDevice } from '../../../protocol/compute-device.ts'
import { koffi } from '../../koffi.ts'
import { type Bindings, bind } from '../ffi/bindings.ts'
import { loadLibraries } from '../ffi/libraries.ts'
import type { Pointer } from '../ffi/structs.ts'

/** `GGML_BACKEND_DEVICE_TYPE_GPU`, and `..._IGPU`, which shares the memory of the processor. */
const GPU_TYPE = 1
const INTEGRATED_GPU_TYPE = 2

const LOG = koffi.pointer(koffi.proto('void', ['int', 'str', 'void *']))

export interface ListedDevices {
  /** Those that hold layers where nothing else is said. */
  readonly gpus: readonly ComputeDevice[]
  /** `CPU (AMD EPYC)`, of all devices. */
  readonly texts: readonly string[]
}

export interface NativeDevice {
  readonly handle: Pointer
  readonly device: ComputeDevice
}

let listed: ListedDevices | null = null

/**
 * For a process that computes nothing: loads the libraries, and throws away what their backends log.
 * @throws StartError where llama.cpp cannot be loaded
 */
export function listDevices(gpu: 'auto' | 'off'): ListedDevices {
  listed ??= readDevices(gpu)
  return listed
}

function readDevices(gpu: 'auto' | 'off'): ListedDevices {
  const libraries = loadLibraries(gpu)
  const api = bind(libraries)
  api.setLog(
    koffi.register(() => {}, LOG),
    null,
  )
  api.loadBackends(libraries.folder)
  const texts = allDevices(api).map(
    (device) => `${api.deviceName(device)} (${api.deviceDescription(device).trim()})`,
  )
  return { gpus: listGpus(api).map(({ device }) => device), texts }
}

/** The GPUs that llama.cpp would use: integrated ones only where there are no others. */
export function listGpus(api: Bindings): readonly NativeDevice[] {
  const ofType = (type: number) => allDevices(api).filter((device) => api.deviceType(device) === type)
  const gpus = ofType(GPU_TYPE)
  return (gpus.length > 0 ? gpus : ofType(INTEGRATED_GPU_TYPE)).map((handle) => ({
    handle,
    device: describe(api, handle),
  }))
}

function allDevices(api: Bindings): readonly Pointer[] {
  return Array.from({ length: api.deviceCount() }, (_, index) => api.device(index))
}

function describe(api: Bindings, handle: Pointer): ComputeDevice {
  const { freeBytes, totalBytes } = readMemory(api, handle)
  // Some drivers tell nothing of their memory; llama.cpp then goes by the machine's, as we do.
  const tells = totalBytes > 0
  const isIntegrated = api.deviceType(handle) === INTEGRATED_GPU_TYPE || process.platform === 'darwin'
  return {
    name: api.deviceName(handle),
    description: api.deviceDescription(handle).trim(),
    sharesMemory: isIntegrated || !tells,
    totalBytes: tells ? totalBytes : availableMemoryBytes(),
    freeBytes: tells ? freeBytes : availableMemoryBytes(),
  }
}

function readMemory(api: Bindings, device: Pointer): Pick<ComputeDevice, 'freeBytes' | 'totalBytes'> {
  const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)]
  api.deviceMemory(device, new Uint8Array(free.buffer), new Uint8Array(total.buffer))
  return { freeBytes: Number(free[0]), totalBytes: Number(total[0]) }
}
