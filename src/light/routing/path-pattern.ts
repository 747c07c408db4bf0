/**
 * Patterns of paths: literal segments and `{name}` captures, each capture standing for one segment that is not empty.
 * They are matched against decoded segments (`net/requests/request-target.ts`), so an escaped slash never splits one,
 * and `.` and `..` mean nothing.
 *
 * Public paths need no key: exact paths, patterns, and prefixes written `/x/*`, which open all paths below `/x/`.
 * Generation is never opened by accident: only the exact path `/v1/generate` in the list opens it.
 */
import { showValue, StartError } from '../../core/errors.ts'

export type Pattern = `/${string}`

/** What a pattern captures: `'/users/{id}'` gives `{ id: string }`. A pattern only known at run time gives a record. */
export type PathParams<P extends string> = { readonly [Name in CaptureNames<P>]: string }

type CaptureNames<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? CaptureName<Segment> | CaptureNames<Rest>
  : CaptureName<Path>

type CaptureName<Segment extends string> = string extends Segment
  ? string
  : Segment extends `{${infer Name}}`
    ? Name
    : never

export type PatternSegment =
  | { readonly type: 'literal'; readonly text: string }
  | { readonly type: 'capture'; readonly name: string }

/** @throws StartError for an invalid pattern. */
export function parsePattern(pattern: string): readonly PatternSegment[] {
  if (typeof pattern !== 'string' || !pattern.startsWith('/')) {
    throw new StartError(`A path pattern must begin with '/', but was ${showValue(pattern)}.`, 2)
  }
  const segments = pattern
    .slice(1)
    .split('/')
    .map((text) => parseSegment(text, pattern))
  const names = segments.flatMap((segment) => (segment.type === 'capture' ? [segment.name] : []))
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) {
    throw new StartError(
      `The path pattern '${pattern}' must name each capture once, but has two {${repeated}}.`,
      2,
    )
  }
  return segments
}

function parseSegment(text: string, pattern: string): PatternSegment {
  const [, name] = /^\{([a-z_]\w*)\}$/i.exec(text) ?? []
  if (name !== undefined) return { type: 'capture', name }
  if (!/[{}*?#%]/.test(text)) return { type: 'literal', text }
  throw new StartError(
    `Each segment of the path pattern '${pattern}' must be plain text or {name}, but one is '${text}'.`,
    2,
  )
}

function matchesSegment(pattern: PatternSegment, segment: string | undefined): boolean {
  return pattern.type === 'literal' ? segment === pattern.text : segment !== undefined && segment !== ''
}

export const DEFAULT_PUBLIC_PATHS: readonly Pattern[] = ['/v1/health', '/v1/models', '/v1/models/{id}']

export const GENERATE_PATH = '/v1/generate'

const GENERATE_SEGMENTS = GENERATE_PATH.slice(1).split('/')

export type IsPublic = (method: string, segments: readonly string[]) => boolean

interface PublicPath {
  readonly segments: readonly PatternSegment[]
  readonly isPrefix: boolean
}

/** @throws StartError for a path in none of the three forms. */
export function createPublicPaths(patterns: readonly string[]): IsPublic {
  if (!Array.isArray(patterns)) throw new StartError('publicPaths must be an array of paths.', 2)
  const publicPaths = patterns.map(parsePublicPath)
  const canGenerate = patterns.includes(GENERATE_PATH)
  return (method, segments) =>
    method === 'POST' && isGenerate(segments)
      ? canGenerate
      : publicPaths.some((publicPath) => matches(publicPath, segments))
}

function parsePublicPath(pattern: string): PublicPath {
  const isPrefix = typeof pattern === 'string' && pattern.endsWith('/*')
  // Without the star, `/x/` and an empty last segment, which the prefix does not compare.
  const segments = parsePattern(isPrefix ? pattern.slice(0, -1) : pattern)
  return isPrefix ? { segments: segments.slice(0, -1), isPrefix } : { segments, isPrefix }
}

function matches({ segments: pattern, isPrefix }: PublicPath, segments: readonly string[]): boolean {
  const hasLength = isPrefix ? segments.length > pattern.length : segments.length === pattern.length
  return hasLength && pattern.every((segment, index) => matchesSegment(segment, segments[index]))
}

function isGenerate(segments: readonly string[]): boolean {
  return (
    segments.length === GENERATE_SEGMENTS.length &&
    GENERATE_SEGMENTS.every((segment, index) => segment === segments[index])
  )
}
