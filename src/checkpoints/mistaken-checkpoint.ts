/**
 * What is often given as a checkpoint and is none: a model's name elsewhere, a path that a shell would have expanded, a file
 * that stands for another, weights of a kind that is not read. Each is one sentence on what it is and what to type. Called by
 * `checkpoint-files.ts`; reads names and first bytes only.
 */
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from '../core/errors.ts'
import { BUNDLED_NAME } from './bundled-model.ts'
import { badFile, oneLine, quoted } from './files/file-errors.ts'
import { referenceMeant } from './hub/hub-reference.ts'
import { readOptionalJsonObject } from './files/json-file.ts'
import { openFile } from './files/open-file.ts'

const ADAPTER_CONFIG = 'adapter_config.json'
const ADAPTER_FILE = /^adapter_(?:config\.json|model\.(?:safetensors|bin))$/
const PYTORCH_SUFFIXES: ReadonlySet<string> = new Set(['.bin', '.pt', '.pth', '.ckpt'])

const HUB_NAME = /^(?<repo>[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*)(?<file>:[\w.-]+)?$/
/** `llama3.2:1b`, `library/llama3.2:1b`, `ollama://llama3.2`, `https://ollama.com/library/llama3.2` */
const OLLAMA_NAME =
  /^(?:ollama:.+|ollama (?:run|pull) .+|(?:https?:\/\/)?(?:registry\.)?ollama\.(?:com|ai)\/.+|(?:library|ollama)\/[\w.:-]+|[A-Za-z0-9][\w.-]+:[\w.-]+)$/
/** `llama3.2`, `mistral`: could as well be a path, unless it ends as a file does. */
const BARE_NAME = /^[A-Za-z0-9][\w.-]*$/
/** Where a shell would have put the home folder. */
const HOME = /^(?<name>~|\$HOME|\$\{HOME\})(?<rest>\/.*)?$/
const BUNDLED = new RegExp(`^(?:\\./)?(?:models/)?${BUNDLED_NAME}/?$`, 'i')
const FILE_SUFFIX = /\.(gguf|safetensors|json|bin)$/i

const POINTER_START = 'version https://git-lfs.github.com/'
const POINTER_BYTES = 200

/** For a path at which nothing is. */
export function missingCheckpoint(checkpoint: string): StartError {
  const meant = referenceMeant(checkpoint)
  if (meant !== null)
    return badFile(checkpoint, `is a model of the Hugging Face Hub, not a path: write ${meant}`)
  if (checkpoint.startsWith('file:'))
    return badFile(checkpoint, `is a URL, not a path: write ${toPath(checkpoint)}`)
  if (OLLAMA_NAME.test(checkpoint) && !FILE_SUFFIX.test(checkpoint)) {
    const advice = 'write the path of a GGUF file, or hf:org/repo:file.gguf for one of the Hugging Face Hub'
    return badFile(checkpoint, `does not exist, and models of Ollama are not read by their names: ${advice}`)
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(checkpoint)) {
    const advice = 'download it and give its path, or write hf:org/repo for a model of the Hugging Face Hub'
    return badFile(checkpoint, `is a URL, not a path: ${advice}`)
  }
  const advice = adviceOn(checkpoint)
  const end = advice === null ? '' : `; ${advice}`
  return new StartError(`Cannot open the checkpoint ${oneLine(checkpoint)}: it does not exist${end}.`)
}

function adviceOn(checkpoint: string): string | null {
  const { name: home, rest = '' } = HOME.exec(checkpoint)?.groups ?? {}
  if (home !== undefined)
    return `only a shell puts the home folder in place of ${home}: write ${oneLine(join(homedir(), rest))}`
  if (BUNDLED.test(checkpoint.trim())) return `for the bundled model write ${BUNDLED_NAME}`
  if (BARE_NAME.test(checkpoint) && !FILE_SUFFIX.test(checkpoint))
    return 'names of models, such as those of Ollama, are not looked up: write the path of a GGUF file, or hf:org/repo for a model of the Hugging Face Hub'
  const { repo, file } = HUB_NAME.exec(checkpoint)?.groups ?? {}
  // A path like `models/tiny.gguf` is mistyped.
  if (repo === undefined || (file === undefined && FILE_SUFFIX.test(repo))) return null
  return `for the model of this name on the Hugging Face Hub write hf:${checkpoint}`
}

function toPath(url: string): string {
  try {
    return oneLine(fileURLToPath(url))
  } catch {
    return 'the path alone'
  }
}

/** For a folder with these names, of which none is a model's. */
export async function folderWithoutModel(folder: string, names: readonly string[]): Promise<StartError> {
  if (names.includes(ADAPTER_CONFIG)) return await loraAdapter(folder, folder)
  const pytorch = names.find((name) => PYTORCH_SUFFIXES.has(extname(name)))
  if (pytorch !== undefined) return pytorchWeights(folder, pytorch)
  return badFile(folder, 'is a folder without a .safetensors or .gguf file')
}

/** @throws StartError for a file of an adapter, whatever its format. */
export async function refuseOtherWeights(path: string): Promise<void> {
  if (ADAPTER_FILE.test(basename(path))) throw await loraAdapter(path, dirname(path))
}

/** For a file that is neither GGUF nor safetensors. */
export function notAModel(path: string): StartError {
  if (PYTORCH_SUFFIXES.has(extname(path))) return pytorchWeights(path, basename(path))
  return badFile(
    path,
    'is no model: a checkpoint is a GGUF file, a .safetensors file, or a folder with either',
  )
}

async function loraAdapter(path: string, folder: string): Promise<StartError> {
  const config = await readOptionalJsonObject(join(folder, ADAPTER_CONFIG)).catch(() => null)
  const base = config?.fields['base_model_name_or_path']
  const of = typeof base === 'string' && base !== '' ? ` of ${quoted(base)}` : ''
  return badFile(
    path,
    `is a LoRA adapter${of}, not a model: register it beside its base model, with "base" and "adapter" in the place of "checkpoint"`,
  )
}

function pytorchWeights(path: string, name: string): StartError {
  return badFile(
    path,
    `holds PyTorch weights (${quoted(name)}), which are not read: save them as safetensors, in Python with AutoModelForCausalLM.from_pretrained(OLD).save_pretrained(NEW), put the tokenizer's files beside, and give the new folder`,
  )
}

/**
 * A clone without Git LFS holds a few lines of text in the place of each large file.
 * @throws StartError for the first such file.
 */
export async function refusePointers(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const text = await readStart(path)
    if (!text.startsWith(POINTER_START)) continue
    const size = /^size (\d+)$/m.exec(text)?.[1]
    const of = size === undefined ? '' : ` of ${size} bytes`
    throw badFile(
      path,
      `is a Git-LFS pointer that stands for a file${of}: run "git lfs pull" in its folder, or download the file itself`,
    )
  }
}

/** The shards beside an index. */
export async function shardsBeside(indexPath: string): Promise<readonly string[]> {
  const folder = dirname(indexPath)
  const names = await readdir(folder)
  return names.filter((name) => extname(name) === '.safetensors').map((name) => join(folder, name))
}

/** Empty for a file that cannot be read: whoever opens it says why. */
async function readStart(path: string): Promise<string> {
  try {
    await using handle = await openFile(path)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(POINTER_BYTES), 0, POINTER_BYTES, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } catch {
    return ''
  }
}
