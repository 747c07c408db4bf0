import { describe, expect, it } from 'vitest'
import { splitTarget, toSegments } from '../../net/requests/request-target.ts'
import { createPublicPaths, DEFAULT_PUBLIC_PATHS } from './path-pattern.ts'

function isPublic(patterns: readonly string[], url: string, method = 'GET'): boolean {
  return createPublicPaths(patterns)(method, toSegments(splitTarget(url).path))
}

describe('createPublicPaths', () => {
  it.each([
    ['/hook', '/hook', true],
    ['/hook', '/hook?x', true],
    ['/hook', '/hook/', false],
    ['/hook', '/hook/a', false],
    ['/hook', '/Hook', false],
    ['/u/{id}/photo', '/u/7/photo', true],
    ['/u/{id}/photo', '/u//photo', false],
    ['/u/{id}/photo', '/u/7/8/photo', false],
    ['/x/*', '/x/', true],
    ['/x/*', '/x/a/b', true],
    ['/x/*', '/x', false],
    ['/x/*', '/xy/a', false],
    ['/x/*', '/x%2Fa', false],
    ['/{a}/x/*', '/1/x/2', true],
    ['/*', '/anything/at/all', true],
  ])('%s opens %s: %s', (pattern, url, expected) => {
    expect(isPublic([pattern], url)).toBe(expected)
  })

  it('opens health and models by default', () => {
    const urls = ['/v1/health', '/v1/models', '/v1/models/x', '/v1/models/x/y', '/v1/generate', '/other']

    expect(urls.filter((url) => isPublic(DEFAULT_PUBLIC_PATHS, url))).toEqual(urls.slice(0, 3))
  })

  it.each([['/*'], ['/v1/*'], ['/v1/{x}'], ['/{x}/{y}'], ['/v1/generate/*'], ['/v1/generate/']])(
    'never opens generating by %s',
    (pattern) => {
      expect(isPublic([pattern], '/v1/generate', 'POST')).toBe(false)
      expect(isPublic([pattern], '/v1/%67enerate', 'POST')).toBe(false)
    },
  )

  it('opens generating by its exact path', () => {
    expect(isPublic(['/v1/generate'], '/v1/generate', 'POST')).toBe(true)
  })

  it.each(['x', '*', '/x*', '/*/x', '/x/**'])('refuses %s', (pattern) => {
    expect(() => createPublicPaths([pattern])).toThrow(/path pattern/)
  })

  it('refuses what is no list', () => {
    expect(() => createPublicPaths('/x' as unknown as string[])).toThrow(
      'publicPaths must be an array of paths.',
    )
  })
})
