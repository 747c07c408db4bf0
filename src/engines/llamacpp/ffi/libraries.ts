/**
 * Finds and loads llama.cpp: the prebuilt libraries of the npm packages `@node-llama-cpp/<platform>`, a GPU's package
 * before the plain one where it is installed and wanted. Called once per engine process, which can load one variant
 * only. Invariant: the libraries are exactly the pinned version, because struct layouts are part of the version.
 */
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { LibraryHandle } from 'koffi'
import { StartError } from '../../../core/errors.ts'
import { koffi } from '../../koffi.ts'

/** What `llama_version()` says in the pinned packages. */
export const LLAMA_VERSION = '0.5.0-dev'
/** The pinned version of `@node-llama-cpp/*`. */
const PACKAGE_VERSION = '3.22.1'

interface PlatformPackage {
  readonly name: string
  readonly isForGpu: boolean
}

/** Packages by platform, best first; those for a GPU are marked. */
const PLATFORM_PACKAGES: Readonly<Record<string, readonly PlatformPackage[]>> = {
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

export interface Libraries {
  readonly ggmlBase: LibraryHandle
  readonly ggml: LibraryHandle
  readonly llama: LibraryHandle
  /** Where the compute backends lie (CPU variants, CUDA, Vulkan, Metal). */
  readonly folder: string
}

/** The folder of a package's libraries, or null where the package is not installed. */
function findFolder(packageName: string): string | null {
  const require = createRequire(import.meta.url)
  try {
    return path.join(path.dirname(require.resolve(`@node-llama-cpp/${packageName}`)), '../bins', packageName)
  } catch {
    return null
  }
}

/** File names carry the platform's ending and often the variant and version: `libggml.vulkan.v0.5.0.so`. */
function findLibrary(folder: string, stem: string): string {
  const pattern = new RegExp(`^(lib)?${stem}(\\.[a-z]+)?(\\.v[\\d.]+)?\\.(so|dylib|dll)$`)
  const name = readdirSync(folder).find((file) => pattern.test(file))
  if (name === undefined) throw new StartError(`llama.cpp is incomplete: ${folder} holds no lib${stem}.`, 1)
  return path.join(folder, name)
}

function loadFrom(folder: string): Libraries {
  // The order matters: each library looks up the symbols of the ones before it.
  const load = (stem: string) => koffi.load(findLibrary(folder, stem), { global: true })
  return { ggmlBase: load('ggml-base'), ggml: load('ggml'), llama: load('llama'), folder }
}

function checkVersion({ llama, folder }: Libraries): void {
  const version: unknown = llama.func('llama_version', 'str', [])()
  if (version === LLAMA_VERSION) return
  throw new StartError(
    `llama.cpp in ${folder} is version ${String(version)}, but this program works only with ${LLAMA_VERSION}: ` +
      `install version ${PACKAGE_VERSION} of its package.`,
    1,
  )
}

/** What installs the libraries for a kind of GPU, and whether they are there; null where this platform has none. */
export function gpuLibraries(kind: 'cuda' | 'vulkan'): { isInstalled: boolean; command: string } | null {
  const packages = PLATFORM_PACKAGES[`${process.platform}-${process.arch}`] ?? []
  const found = packages.find(({ name, isForGpu }) => isForGpu && name.endsWith(kind))
  if (found === undefined) return null
  return { isInstalled: findFolder(found.name) !== null, command: installCommand(found.name) }
}

function installCommand(packageName: string): string {
  return `npm install @node-llama-cpp/${packageName}@${PACKAGE_VERSION}`
}

/** @throws StartError naming the package to install when none for this platform is there. */
export function loadLibraries(gpu: 'auto' | 'off'): Libraries {
  const platform = `${process.platform}-${process.arch}`
  const packages = PLATFORM_PACKAGES[platform]
  if (packages === undefined) throw new StartError(`llama.cpp has no prebuilt libraries for ${platform}.`, 1)

  const wanted = packages.filter(({ isForGpu }) => !isForGpu || gpu === 'auto')
  const folder = wanted.map(({ name }) => findFolder(name)).find((found) => found !== null)
  if (folder === undefined) {
    throw new StartError(
      `llama.cpp is not installed: run "${installCommand(packages.at(-1)?.name ?? '')}".`,
      1,
    )
  }
  try {
    const libraries = loadFrom(folder)
    checkVersion(libraries)
    return libraries
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`llama.cpp in ${folder} cannot be loaded: ${(error as Error).message}`, 1)
  }
}
