/**
 * Finds the files that the `adapter` of a model names: a GGUF adapter, or a folder as PEFT saves it. Reads names only. What is no
 * adapter is refused with what it is.
 */
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { StartError } from '../../core/errors.ts'
import { badFile, fileError, isMissing, listed } from '../files/file-errors.ts'
import { isFile } from '../files/json-file.ts'
import { refusePointers } from '../mistaken-checkpoint.ts'

const PEFT_CONFIG = 'adapter_config.json'
const PEFT_WEIGHTS = 'adapter_model.safetensors'
const PEFT_PYTORCH = 'adapter_model.bin'

export interface PeftFiles {
  readonly kind: 'peft'
  readonly configPath: string
  readonly weightsPath: string
}

export type AdapterFiles = { readonly kind: 'gguf'; readonly path: string } | PeftFiles

/** @throws StartError with one sentence saying what is wrong */
export async function findAdapterFiles(adapter: string): Promise<AdapterFiles> {
  const names = await listFolder(adapter)
  if (names === null) return await ofFile(adapter)
  if (names.includes(PEFT_CONFIG)) return await ofPeft(adapter, names)
  const ggufs = names.filter((name) => extname(name) === '.gguf')
  const [only] = ggufs
  if (only === undefined) throw noAdapter(adapter, names)
  if (ggufs.length === 1) return await ofFile(join(adapter, only))
  throw badFile(adapter, `is a folder with several GGUF files; give one of them: ${listed(ggufs)}`)
}

async function ofFile(path: string): Promise<AdapterFiles> {
  const name = basename(path)
  if (extname(name) === '.gguf') {
    await refusePointers([path])
    return { kind: 'gguf', path }
  }
  const folder = dirname(path)
  if (name === PEFT_CONFIG || name === PEFT_WEIGHTS) return await ofPeft(folder, await readdir(folder))
  throw badFile(
    path,
    `is no adapter: it is a .gguf file, or a folder with ${PEFT_CONFIG} and ${PEFT_WEIGHTS}`,
  )
}

async function ofPeft(folder: string, names: readonly string[]): Promise<PeftFiles> {
  const [configPath, weightsPath] = [join(folder, PEFT_CONFIG), join(folder, PEFT_WEIGHTS)]
  if (!(await isFile(configPath)))
    throw badFile(folder, `lacks ${PEFT_CONFIG}, which says how it was trained`)
  if (!(await isFile(weightsPath))) {
    const advice = names.includes(PEFT_PYTORCH)
      ? `${PEFT_PYTORCH} is not read: load the adapter with PEFT and save it again with save_pretrained`
      : 'there are no weights'
    throw badFile(folder, `lacks ${PEFT_WEIGHTS}; ${advice}`)
  }
  await refusePointers([configPath, weightsPath])
  return { kind: 'peft', configPath, weightsPath }
}

function noAdapter(folder: string, names: readonly string[]): StartError {
  const isModel = names.includes('config.json')
  const what = isModel ? 'holds a model, not an adapter: register it with "checkpoint"' : 'holds no adapter'
  return badFile(
    folder,
    `${what}; an adapter is a .gguf file, or a folder with ${PEFT_CONFIG} and ${PEFT_WEIGHTS}`,
  )
}

/** Names in a folder; null when the path is not a folder. */
async function listFolder(path: string): Promise<string[] | null> {
  try {
    return (await stat(path)).isDirectory() ? await readdir(path) : null
  } catch (error) {
    if (isMissing(error)) throw badFile(path, 'does not exist, so no adapter can be read there')
    throw fileError('open the adapter', path, error)
  }
}
