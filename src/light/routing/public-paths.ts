/**
 * The paths that need no key: exact ones, `{name}` patterns, and prefixes written `/x/*`, which open all that is below
 * `/x/`. Generating is never opened by accident: only the exact path `/v1/generate` in the list does.
 */
import { StartError } from '../../core/errors.ts'
import { matchesSegment, parsePattern, type Pattern, type PatternSegment } from './path-pattern.ts'

export const DEFAULT_PUBLIC_PATHS: readonly Pattern[] = ['/v1/health', '/v1/models', '/v1/models/{id}']

export const GENERATE_PATH = '/v1/generate'

const GENERATE_SEGMENTS = GENERATE_PATH.slice(1).split('/')

export type IsPublic = (method: string, segments: readonly string[]) => boolean

interface PublicPath {
  readonly segments: readonly PatternSegment[]
  readonly isPrefix: boolean
}

/** @throws StartError for a path that is none of the three forms. */
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
