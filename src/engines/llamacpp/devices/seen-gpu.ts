/**
 * GPUs that the system shows, whether or not llama.cpp's libraries for them are installed. Reads what the drivers of Linux write; other
 * systems tell nothing. Display adapters of virtual machines are none.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export interface SeenGpu {
  readonly name: string
  /** The libraries that would use it. */
  readonly libraries: 'cuda' | 'vulkan'
}

const NVIDIA_FOLDER = 'proc/driver/nvidia/gpus'
/** Its driver in a container that hides the folder above, and in the Linux of Windows. */
const NVIDIA_DEVICE = /^nvidia\d+$/
const WSL_DRIVER = 'usr/lib/wsl/lib/libcuda.so.1'
const DRM_FOLDER = 'sys/class/drm'
/** Without it no driver of Vulkan can be loaded. */
const VULKAN_LOADER = 'libvulkan.so.1'
const LIBRARY_FOLDERS = ['usr/lib/x86_64-linux-gnu', 'usr/lib64', 'usr/lib', 'lib/x86_64-linux-gnu']

/** Names of PCI vendors whose GPUs Vulkan computes on. */
const VENDORS: Readonly<Record<string, string>> = { '0x1002': 'AMD', '0x8086': 'Intel' }

/** @param root the root of the file system; another one in tests */
export function findSeenGpus(root = '/'): readonly SeenGpu[] {
  const nvidia = findNvidia(root)
  const hasLoader = LIBRARY_FOLDERS.some((folder) => existsSync(path.join(root, folder, VULKAN_LOADER)))
  const others = list(path.join(root, DRM_FOLDER))
    .filter((name) => /^renderD\d+$/.test(name) && hasLoader)
    .map((name) => VENDORS[read(path.join(root, DRM_FOLDER, name, 'device/vendor')).trim()])
    .filter((vendor) => vendor !== undefined)
    .map((vendor): SeenGpu => ({ name: `a GPU of ${vendor}`, libraries: 'vulkan' }))
  return [...nvidia, ...others]
}

function findNvidia(root: string): readonly SeenGpu[] {
  const named = list(path.join(root, NVIDIA_FOLDER)).map((slot): SeenGpu => {
    const text = read(path.join(root, NVIDIA_FOLDER, slot, 'information'))
    return { name: /^Model:\s*(.+)$/m.exec(text)?.[1]?.trim() ?? 'an NVIDIA GPU', libraries: 'cuda' }
  })
  if (named.length > 0) return named
  const isThere =
    list(path.join(root, 'dev')).some((name) => NVIDIA_DEVICE.test(name)) ||
    existsSync(path.join(root, WSL_DRIVER))
  return isThere ? [{ name: 'an NVIDIA GPU', libraries: 'cuda' }] : []
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
