/**
 * `hf:org/repo[@revision][:file]` names a model of the Hugging Face Hub in place of a path. Parses the text only;
 * `pull-model.ts` finds out whether the Hub has such a model.
 */
import path from 'node:path'
import { StartError } from '../../core/errors.ts'

export interface HubReference {
  /** `org/repo`, or `repo` alone for the few that have no organization. */
  readonly repo: string
  /** A branch, a tag or a commit. */
  readonly revision: string
  /** A file of the repository; null takes the checkpoint in the Hugging Face layout. */
  readonly file: string | null
}

const PREFIX = 'hf:'
const REFERENCE =
  /^hf:(?<repo>[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*)?)(?:@(?<revision>[A-Za-z0-9][\w./+-]*))?(?::(?<file>.+))?$/
/** What people write in place of `hf:`. */
const OTHER_PREFIX = /^(?:hf|huggingface):(?:\/\/)?\s*/i
const PAGE = /^(?:https?:\/\/)?(?:www\.)?(?:huggingface\.co|hf\.co)\/(?!datasets\/|spaces\/)/i
const REPO_AND_FILE =
  /^(?<repo>[^/\s:?#@]+\/[^/\s:?#@]+)(?:(?:@|\/(?:blob|resolve|tree)\/)(?<revision>[^/\s:?#]+))?(?:[/:](?<file>[^\s?#]*))?/
const MAX_LENGTH = 1000
const SPLIT_SUFFIX = /-\d{5}-of-\d{5}$/

export function isHubReference(checkpoint: string): boolean {
  return checkpoint.startsWith(PREFIX)
}

/** @throws StartError with exit code 2 */
export function parseHubReference(text: string): HubReference {
  const reference = readReference(text)
  if (reference !== null) return reference
  const shown = JSON.stringify(text.slice(0, 80)).slice(1, -1)
  const meant = referenceMeant(text) ?? 'hf:org/repo or hf:org/repo:file.gguf'
  throw new StartError(`'${shown}' names no model of the Hub; write ${meant}.`, 2)
}

function readReference(text: string): HubReference | null {
  const { repo, revision = 'main', file = null } = REFERENCE.exec(text)?.groups ?? {}
  const isSound =
    repo !== undefined &&
    text.length <= MAX_LENGTH &&
    ![repo, revision].some((part) => part.includes('..') || /[./]$/.test(part)) &&
    (file === null || isInsideRepo(file))
  return isSound ? { repo, revision, file } : null
}

/** The reference to a model whose page is given, or whose name is written in another way; null for any other text. */
export function referenceMeant(text: string): string | null {
  const unprefixed = text.trim().replace(OTHER_PREFIX, '')
  const name = unprefixed.replace(PAGE, '')
  if (name === text) return null
  const found = REPO_AND_FILE.exec(name)
  const { repo, revision = 'main', file } = found?.groups ?? {}
  const isGguf = file?.endsWith('.gguf') === true
  // A page's address goes on with what is no file, and Ollama writes a quantization behind it.
  const isPage = name !== unprefixed
  if (!isPage && (found?.[0] !== name || (file !== undefined && !isGguf))) return null
  const meant = `hf:${repo}${revision === 'main' ? '' : `@${revision}`}${isGguf ? `:${file}` : ''}`
  return repo !== undefined && readReference(meant) !== null ? meant : null
}

/** Whether a file's name stays inside the folder that it is joined to; the names come from the Hub. */
export function isInsideRepo(file: string): boolean {
  // oxlint-disable-next-line no-control-regex -- neither a log line nor a file system wants them
  if (/[\u0000-\u001f\u007f\\]/.test(file)) return false
  return file.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/**
 * The model id of a checkpoint for which none is configured: the repository's name on the Hub, or the stem of the folder
 * or file, without the number of a split.
 */
export function checkpointName(checkpoint: string): string {
  if (!isHubReference(checkpoint)) {
    const name = path.basename(path.resolve(checkpoint)).replace(/\.(gguf|safetensors)$/, '')
    return name.replace(SPLIT_SUFFIX, '')
  }
  const { repo, file } = parseHubReference(checkpoint)
  if (file === null) return path.posix.basename(repo)
  return path.posix.basename(file, '.gguf').replace(SPLIT_SUFFIX, '')
}
