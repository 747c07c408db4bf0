/**
 * The path that a request for an unknown route probably meant, for the sentence of its 404: a base URL without `/v1`, with it
 * twice or behind a prefix, what other servers call the same, and slips of the pen. Called by both servers when no route has
 * matched. Only names paths that the caller's method has, and never a route of an application of the light server's by nearness.
 */
import { editDistance } from '../../core/text/nearest-name.ts'

interface Routes {
  /** Whether a route of the request's method has this path. */
  readonly has: (path: string) => boolean
  /** Paths of that method without captures. */
  readonly literals: readonly string[]
}

/** Paths of Ollama, llama-server, vLLM, TGI and Cohere, and older ones of OpenAI and Anthropic, without a leading `/v1`. */
const OTHER_PATHS: Readonly<Record<string, string>> = {
  '/api/chat': '/v1/chat/completions',
  '/api/embed': '/v1/embeddings',
  '/api/embeddings': '/v1/embeddings',
  '/api/generate': '/v1/generate',
  '/api/ps': '/v1/models',
  '/api/tags': '/v1/models',
  '/api/version': '/v1/health',
  '/chat': '/v1/chat/completions',
  '/complete': '/v1/messages',
  '/generate_stream': '/v1/generate/stream',
  '/load_lora_adapter': '/v1/admin/models',
  '/lora-adapters': '/v1/admin/models',
  '/unload_lora_adapter': '/v1/admin/models',
  '/invocations': '/v1/chat/completions',
  '/ping': '/v1/health',
  '/props': '/v1/models',
  '/reranking': '/v1/rerank',
  '/v2/chat': '/v1/chat/completions',
  '/version': '/v1/health',
}

/** What is longer is no slip of the pen, and comparing it would cost more than answering. */
const MAX_COMPARED_CHARACTERS = 64
const MAX_SLIPS = 2
/** Of two words that are as far from each other as this one has characters anything could be meant. */
const MIN_WORD_CHARACTERS = 4

export function meantPath(path: string, { has, literals }: Routes): string | null {
  const trimmed = withoutLastSlashes(path)
  const bare = trimmed.replace(/^(?:\/v1)+(?=\/)/, '')
  const lastPrefix = trimmed.lastIndexOf('/v1/')
  const candidates = [
    trimmed,
    ...(lastPrefix === -1 ? [] : [trimmed.slice(lastPrefix)]),
    `/v1${bare}`,
    ...(bare === trimmed ? [`/v1${bare.replace(/^\/[^/]+/, '')}`] : []),
    ...(Object.hasOwn(OTHER_PATHS, bare) ? [OTHER_PATHS[bare] ?? ''] : []),
  ]
  const exact = candidates.find((candidate) => candidate !== '' && candidate !== path && has(candidate))
  return exact ?? nearestPath(`/v1${bare}`, literals)
}

/** A regular expression would look at each run of slashes from each of them: a second for a path of as many as a request may have. */
function withoutLastSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}

function nearestPath(path: string, literals: readonly string[]): string | null {
  if (path.length > MAX_COMPARED_CHARACTERS) return null
  const segments = path.split('/')
  let best: { readonly path: string; readonly slips: number } | null = null
  for (const literal of literals) {
    const slips = literal.startsWith('/v1/') ? countSlips(segments, literal.split('/')) : Infinity
    if (slips <= MAX_SLIPS && (best === null || slips < best.slips)) best = { path: literal, slips }
  }
  return best?.path ?? null
}

function countSlips(given: readonly string[], known: readonly string[]): number {
  if (given.length !== known.length) return Infinity
  let slips = 0
  for (const [index, word] of known.entries()) {
    const other = given[index] ?? ''
    if (word === other) continue
    if (Math.min(word.length, other.length) < MIN_WORD_CHARACTERS) return Infinity
    slips += editDistance(word, other.toLowerCase())
  }
  return slips
}
