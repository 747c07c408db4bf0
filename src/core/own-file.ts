/** Programs of this package that run in threads and processes of their own. */
import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { StartError } from './errors.ts'

/** @throws StartError where it is not there, as beside an application that was joined with this package into one file */
export function requireOwnFile(file: URL | string): void {
  const url = typeof file === 'string' ? pathToFileURL(file) : file
  if (url.protocol !== 'file:' || existsSync(url)) return
  const remedy = "an application that is bundled must leave the package 'sluice' out of its bundle"
  throw new StartError(`A program of Sluice is missing, ${fileURLToPath(url)}: ${remedy} (as external).`, 1)
}
