/**
 * The Hub's address, the token and the cache folder, read from the environment variables of the Hub's own tools, so that
 * one configuration serves all of them. An empty variable counts as not set.
 */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { StartError } from '../../core/errors.ts'

export interface HubSettings {
  /** Without a slash at its end. */
  readonly endpoint: string
  readonly token: string | null
  /** Holds `models--org--repo` folders. */
  readonly cacheDir: string
  /** No request is sent; only the cache is read. */
  readonly isOffline: boolean
}

type Env = Readonly<Record<string, string | undefined>>

const DEFAULT_ENDPOINT = 'https://huggingface.co'
const YES_WORDS = new Set(['1', 'on', 'yes', 'true'])

/** @throws StartError for a value that cannot be used; the message never holds a token. */
export function readHubSettings(env: Env): HubSettings {
  const userCache = folder(env['XDG_CACHE_HOME']) ?? path.join(homedir(), '.cache')
  const home = folder(env['HF_HOME']) ?? path.join(userCache, 'huggingface')
  return {
    endpoint: readEndpoint(env['HF_ENDPOINT'] || DEFAULT_ENDPOINT),
    token: isYes(env['HF_HUB_DISABLE_IMPLICIT_TOKEN']) ? null : readToken(env, home),
    cacheDir: folder(env['HF_HUB_CACHE']) ?? folder(env['HUGGINGFACE_HUB_CACHE']) ?? path.join(home, 'hub'),
    isOffline: isYes(env['HF_HUB_OFFLINE'] || env['TRANSFORMERS_OFFLINE']),
  }
}

function isYes(given: string | undefined): boolean {
  return YES_WORDS.has((given ?? '').toLowerCase())
}

function folder(given: string | undefined): string | null {
  if (!given) return null
  return path.resolve(given.replace(/^~(?=$|\/)/, homedir()))
}

function readEndpoint(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username
  if (!isPlain)
    throw new StartError('HF_ENDPOINT must be an http or https URL such as https://hf.example.org.', 2)
  return url.href.replace(/\/+$/, '')
}

function readToken(env: Env, home: string): string | null {
  const given = env['HF_TOKEN'] || env['HUGGING_FACE_HUB_TOKEN']
  const token = (given ?? tokenFile(folder(env['HF_TOKEN_PATH']) ?? path.join(home, 'token'))).trim()
  if (token === '') return null
  // It goes into a header, and fetch would quote it in its error.
  if (!/^[\u0021-\u007e]+$/.test(token)) {
    throw new StartError(
      'The token of HF_TOKEN, or of the token file, holds characters that no token has.',
      2,
    )
  }
  return token
}

function tokenFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
