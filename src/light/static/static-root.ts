/** Validates the folder of the static files. */
import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { StartError } from '../../core/errors.ts'

/**
 * The folder's real path.
 * @param forbidden a file that must not lie in the folder, such as a database of keys
 * @throws StartError when the folder cannot be served.
 */
export function staticRoot(folder: string, forbidden: string | null = null): string {
  const root = realFolder(folder)
  if (forbidden !== null && isInside(root, realPathOf(forbidden))) {
    throw new StartError(
      `keyDb must not lie in staticDir, which everyone may read, but '${forbidden}' does.`,
      2,
    )
  }
  return root
}

export function isInside(root: string, file: string): boolean {
  const relative = path.relative(root, file)
  return (
    relative !== '' &&
    relative !== '..' &&
    !relative.startsWith(`..${path.sep}`) &&
    !path.isAbsolute(relative)
  )
}

function realFolder(folder: string): string {
  try {
    if (statSync(folder).isDirectory()) return realpathSync(folder)
  } catch {
    // Reported below.
  }
  throw new StartError(`staticDir must be a folder that can be read, but '${folder}' is none.`, 1)
}

/** Unchanged when nothing exists there yet. */
function realPathOf(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return path.resolve(file)
  }
}
