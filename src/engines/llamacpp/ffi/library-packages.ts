/**
 * The npm packages `@node-llama-cpp/<platform>` with llama.cpp's prebuilt libraries: which there are for a platform, whether they are
 * installed, and what installs them. Loads nothing native.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The pinned version of `@node-llama-cpp/*`. */
export const PACKAGE_VERSION = '3.22.1'

interface PlatformPackage {
  readonly name: string
  readonly isForGpu: boolean
}

/** Packages by platform, best first; those for a GPU are marked. */
export const PLATFORM_PACKAGES: Readonly<Record<string, readonly PlatformPackage[]>> = {
  'linux-x64': [
    { name: 'linux-x64-cuda', isForGpu: true },
    { name: 'linux-x64-vulkan', isForGpu: true },
    { name: 'linux-x64', isForGpu: false },
  ],
  'linux-arm64': [{ name: 'linux-arm64', isForGpu: false }],
  // Metal is part of the only package there is; `gpu: off` then keeps it unused.
  'darwin-arm64': [{ name: 'mac-arm64-metal', isForGpu: false }],
  'darwin-x64': [{ name: 'mac-x64', isForGpu: false }],
  'win32-x64': [
    { name: 'win-x64-cuda', isForGpu: true },
    { name: 'win-x64-vulkan', isForGpu: true },
    { name: 'win-x64', isForGpu: false },
  ],
  'win32-arm64': [{ name: 'win-arm64', isForGpu: false }],
}

/** The folder of a package's libraries, or null where the package is not installed. */
export function findFolder(packageName: string): string | null {
  const require = createRequire(import.meta.url)
  try {
    return path.join(path.dirname(require.resolve(`@node-llama-cpp/${packageName}`)), '../bins', packageName)
  } catch {
    return null
  }
}

/** Whether a GPU could be used: where there is one, these libraries find it. */
export function hasGpuLibraries(): boolean {
  const packages = PLATFORM_PACKAGES[`${process.platform}-${process.arch}`] ?? []
  // Metal is part of the only package there is.
  if (process.platform === 'darwin') return packages.some(({ name }) => findFolder(name) !== null)
  return packages.some(({ name, isForGpu }) => isForGpu && findFolder(name) !== null)
}

/** What installs the libraries for a kind of GPU, and whether they are there; null where this platform has none. */
export function gpuLibraries(kind: 'cuda' | 'vulkan'): { isInstalled: boolean; command: string } | null {
  const packages = PLATFORM_PACKAGES[`${process.platform}-${process.arch}`] ?? []
  const found = packages.find(({ name, isForGpu }) => isForGpu && name.endsWith(kind))
  if (found === undefined) return null
  return { isInstalled: findFolder(found.name) !== null, command: installCommand(found.name) }
}

/** Run where the program is: a clone's own list of packages stays as it is. */
export function installCommand(packageName: string): string {
  const spec = `@node-llama-cpp/${packageName}@${PACKAGE_VERSION}`
  const file = fileURLToPath(import.meta.url)
  const folders = file.lastIndexOf(`${path.sep}node_modules${path.sep}`)
  if (folders < 0) return `npm install --no-save ${spec}`
  const isOfProject = existsSync(path.join(file.slice(0, folders), 'package.json'))
  return `npm install ${isOfProject ? '' : '--global '}${spec}`
}
