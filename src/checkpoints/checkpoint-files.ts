/**
 * Finds the files that `--checkpoint`, `--model-config` and `--tokenizer` name: a GGUF model, or a Hugging Face
 * checkpoint. Reads names, first bytes, and files that name others.
 */
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { StartError } from '../core/errors.ts'
import type { LocalModelSource } from '../protocol/model-source.ts'
import { findPoolingConfig } from './conversion/sentence-modules.ts'
import { badFile, fileError, isMissing, listed, oneLine } from './files/file-errors.ts'
import { isFile } from './files/json-file.ts'
import {
  folderWithoutModel,
  missingCheckpoint,
  notAModel,
  refuseOtherWeights,
  refusePointers,
  shardsBeside,
} from './mistaken-checkpoint.ts'
import { checkFile, openFile } from './files/open-file.ts'

/** The checkpoint is a path on this machine. With a GGUF file, `modelConfig` overrides metadata. */
export type CheckpointPaths = Pick<LocalModelSource, 'checkpoint' | 'modelConfig' | 'tokenizer'>

interface GgufFiles {
  readonly kind: 'gguf'
  readonly path: string
  /** A config.json that overrides metadata; null without. */
  readonly configPath: string | null
}

/** Plain data: it crosses to the worker thread that converts. */
export interface HfFiles {
  readonly kind: 'hugging-face'
  /** A `.safetensors` file or the index of a sharded checkpoint. */
  readonly weightsPath: string
  readonly configPath: string
  readonly tokenizerPath: string
  /** Read when they exist. */
  readonly tokenizerConfigPath: string
  readonly generationConfigPath: string
  /** README.md. */
  readonly modelCardPath: string
  readonly chatTemplatePath: string
  readonly processorTemplatePath: string
  readonly sentencePiecePath: string
  /** modules.json of sentence-transformers. */
  readonly modulesPath: string
  /** Of its pooling, which modules.json may name. */
  readonly poolingConfigPath: string
}

export type CheckpointFiles = GgufFiles | HfFiles

const GGUF_MAGIC_BYTES = Buffer.from('GGUF')
const INDEX_FILE = 'model.safetensors.index.json'
const TEKKEN_FILE = 'tekken.json'

export async function findCheckpointFiles(options: CheckpointPaths): Promise<CheckpointFiles> {
  const weightsPath = await findWeights(options.checkpoint)
  if (!(await isFile(weightsPath))) throw badFile(weightsPath, 'is not a file')
  await refuseOtherWeights(weightsPath)
  await refusePointers([weightsPath])
  if (await isGguf(weightsPath)) {
    if (options.tokenizer !== null) {
      throw new StartError('A tokenizer (--tokenizer) cannot be given with a GGUF file, which holds its own.')
    }
    return { kind: 'gguf', path: weightsPath, configPath: options.modelConfig }
  }
  const folder = dirname(weightsPath)
  const configPath = await existing(options.modelConfig ?? join(folder, 'config.json'), '--model-config')
  const tokenizerPath = await existing(options.tokenizer ?? (await tokenizerIn(folder)), '--tokenizer')
  const shards = weightsPath.endsWith('.json') ? await shardsBeside(weightsPath) : []
  await refusePointers([...shards, configPath, tokenizerPath])
  const modulesPath = join(dirname(configPath), 'modules.json')
  return {
    kind: 'hugging-face',
    weightsPath,
    configPath,
    tokenizerPath,
    tokenizerConfigPath: join(dirname(tokenizerPath), 'tokenizer_config.json'),
    generationConfigPath: join(dirname(configPath), 'generation_config.json'),
    modelCardPath: join(dirname(configPath), 'README.md'),
    chatTemplatePath: join(dirname(tokenizerPath), 'chat_template.jinja'),
    processorTemplatePath: join(dirname(tokenizerPath), 'chat_template.json'),
    sentencePiecePath: join(dirname(tokenizerPath), 'tokenizer.model'),
    modulesPath,
    poolingConfigPath: await findPoolingConfig(modulesPath, dirname(configPath)),
  }
}

/** Mistral publishes some models with its own file alone. */
async function tokenizerIn(folder: string): Promise<string> {
  const [usual, tekken] = [join(folder, 'tokenizer.json'), join(folder, TEKKEN_FILE)]
  return !(await isFile(usual)) && (await isFile(tekken)) ? tekken : usual
}

async function findWeights(checkpoint: string): Promise<string> {
  const names = await listFolder(checkpoint)
  if (names === null) return checkpoint
  if (names.includes(INDEX_FILE)) return join(checkpoint, INDEX_FILE)
  if (names.includes('model.safetensors')) return join(checkpoint, 'model.safetensors')
  const safetensors = names.filter((name) => extname(name) === '.safetensors')
  // A split model is named by its first file.
  const ggufs = names.filter(
    (name) => extname(name) === '.gguf' && !/-(?!00001-of-)\d{5}-of-\d{5}\.gguf$/.test(name),
  )
  const candidates = safetensors.length > 0 ? safetensors : ggufs
  const [only] = candidates
  if (only === undefined) throw await folderWithoutModel(checkpoint, names)
  if (candidates.length > 1) {
    throw badFile(checkpoint, `is a folder with several models; give one of them: ${listed(candidates)}`)
  }
  return join(checkpoint, only)
}

/** Names in a folder; null when the path is not a folder. */
async function listFolder(path: string): Promise<string[] | null> {
  try {
    return (await stat(path)).isDirectory() ? await readdir(path) : null
  } catch (error) {
    throw isMissing(error) ? missingCheckpoint(path) : fileError('open the checkpoint', path, error)
  }
}

async function isGguf(path: string): Promise<boolean> {
  const isNamedGguf = extname(path) === '.gguf'
  if (isNamedGguf || (await startsWithMagic(path))) return true
  if (extname(path) === '.safetensors' || basename(path).endsWith('.index.json')) return false
  throw notAModel(path)
}

async function startsWithMagic(path: string): Promise<boolean> {
  try {
    await using handle = await openFile(path)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0)
    return bytesRead === 4 && buffer.equals(GGUF_MAGIC_BYTES)
  } catch (error) {
    throw fileError('read', path, error)
  }
}

async function existing(path: string, option: string): Promise<string> {
  try {
    await checkFile(path)
    return path
  } catch (error) {
    if (!isMissing(error)) throw fileError('read', path, error)
    throw new StartError(`${oneLine(path)} does not exist; a safetensors checkpoint needs it (${option}).`)
  }
}
