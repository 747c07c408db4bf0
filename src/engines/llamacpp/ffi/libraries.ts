/**
 * Loads llama.cpp: the prebuilt libraries of the npm packages `@node-llama-cpp/<platform>`, a GPU's package
 * before the plain one where it is installed and wanted. Called once per engine process, which can load one variant
 * only. Invariant: the libraries are exactly the pinned version, because struct layouts are part of the version.
 */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import type { LibraryHandle } from 'koffi'
import { StartError } from '../../../core/errors.ts'
import { koffi } from '../../koffi.ts'
import { findFolder, installCommand, PACKAGE_VERSION, PLATFORM_PACKAGES } from './library-packages.ts'

/** What `llama_version()` says in the pinned packages. */
export const LLAMA_VERSION = '0.5.0-dev'
export interface Libraries {
  readonly ggmlBase: LibraryHandle
  readonly ggml: LibraryHandle
  readonly llama: LibraryHandle
  /** Where the compute backends lie (CPU variants, CUDA, Vulkan, Metal). */
  readonly folder: string
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
