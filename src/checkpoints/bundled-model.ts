/** The demo model that comes with the program: it answers to a name of its own wherever the program was started. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The value of `--checkpoint` that names it. */
export const BUNDLED_NAME = 'demo'

const FOLDER = fileURLToPath(new URL('../../models/demo', import.meta.url))

/** Its folder for its name, unless a file or folder is called so; anything else is left as it is. */
export function bundledOr(checkpoint: string): string {
  return checkpoint === BUNDLED_NAME && !existsSync(checkpoint) ? FOLDER : checkpoint
}

export function isBundled(checkpoint: string): boolean {
  return path.resolve(bundledOr(checkpoint)) === FOLDER
}

/** Its parameters, from its headers. @throws StartError where it is damaged */
export async function countBundledParameters(): Promise<number> {
  const { openCheckpoint } = await import('./safetensors/safetensors-file.ts')
  const { elementCount } = await import('./gguf/gguf-format.ts')
  const { tensors } = await openCheckpoint(path.join(FOLDER, 'model.safetensors'))
  const weights = [...tensors.values()].filter(({ name }) => !name.endsWith('_scale'))
  return weights.reduce((sum, { shape }) => sum + elementCount(shape), 0)
}
