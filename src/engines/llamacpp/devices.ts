/** The devices that llama.cpp computes on, as its backends list them. Loads the libraries into this process. */
import { koffi } from '../koffi.ts'
import { bind } from './ffi/bindings.ts'
import { loadLibraries } from './ffi/libraries.ts'

export interface ComputeDevice {
  /** `CUDA0`, `Vulkan0`, `Metal`, `CPU`. */
  readonly name: string
  /** What the driver calls it. */
  readonly description: string
  readonly isGpu: boolean
  readonly totalBytes: number
  readonly freeBytes: number
}

/** ggml's GGML_BACKEND_DEVICE_TYPE_GPU, and that of a GPU which shares the memory of the processor. */
const GPU_TYPES: ReadonlySet<number> = new Set([1, 2])

const LOG = koffi.pointer(koffi.proto('void', ['int', 'str', 'void *']))

let listed: readonly ComputeDevice[] | null = null

/** For a process that computes nothing: what its backends log is thrown away. @throws StartError where llama.cpp cannot be loaded */
export function listDevices(gpu: 'auto' | 'off'): readonly ComputeDevice[] {
  listed ??= readDevices(gpu)
  return listed
}

function readDevices(gpu: 'auto' | 'off'): readonly ComputeDevice[] {
  const libraries = loadLibraries(gpu)
  const llama = bind(libraries)
  llama.setLog(
    koffi.register(() => {}, LOG),
    null,
  )
  llama.loadBackends(libraries.folder)
  return Array.from({ length: llama.deviceCount() }, (_, index) => {
    const device = llama.device(index)
    const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)]
    llama.deviceMemory(device, new Uint8Array(free.buffer), new Uint8Array(total.buffer))
    return {
      name: llama.deviceName(device),
      description: llama.deviceDescription(device),
      isGpu: GPU_TYPES.has(llama.deviceType(device)),
      totalBytes: Number(total[0]),
      freeBytes: Number(free[0]),
    }
  })
}
