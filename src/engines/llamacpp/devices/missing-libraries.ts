/** What a start says where a GPU is seen and no libraries for one are installed. Loads nothing native. */
import { gpuLibraries, hasGpuLibraries } from '../ffi/library-packages.ts'
import { findSeenGpus } from './seen-gpu.ts'

/** One sentence with the command that installs them; null where none is missing. @param root as of `findSeenGpus` */
export function adviseLibraries(root?: string): string | null {
  if (hasGpuLibraries()) return null
  const [seen] = findSeenGpus(root)
  if (seen === undefined) return null
  const libraries = gpuLibraries(seen.libraries)
  return libraries === null
    ? null
    : `${seen.name} is not used; its libraries are missing: ${libraries.command}`
}
