/**
 * GPUs that the system shows, whether or not llama.cpp's libraries for them are installed. Reads what the drivers of Linux write; other
 * systems tell nothing.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export interface SeenGpu {
  readonly name: string
  /** The libraries that would use it. */
  readonly libraries: 'cuda' | 'vulkan'
}

const NVIDIA_FOLDER = 'proc/driver/nvidia/gpus'
const DRM_FOLDER = 'sys/class/drm'

/** Names of PCI vendors whose GPUs Vulkan computes on. */
const VENDORS: Readonly<Record<string, string>> = { '0x1002': 'AMD', '0x8086': 'Intel' }

/** @param root the root of the file system; another one in tests */
export function findSeenGpus(root = '/'): readonly SeenGpu[] {
  const nvidia = list(path.join(root, NVIDIA_FOLDER)).map((slot): SeenGpu => {
    const text = read(path.join(root, NVIDIA_FOLDER, slot, 'information'))
    return { name: /^Model:\s*(.+)$/m.exec(text)?.[1]?.trim() ?? 'an NVIDIA GPU', libraries: 'cuda' }
  })
  const others = list(path.join(root, DRM_FOLDER))
    .filter((name) => /^renderD\d+$/.test(name))
    .map((name) => VENDORS[read(path.join(root, DRM_FOLDER, name, 'device/vendor')).trim()])
    .filter((vendor) => vendor !== undefined)
    .map((vendor): SeenGpu => ({ name: `a GPU of ${vendor}`, libraries: 'vulkan' }))
  return [...nvidia, ...others]
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
