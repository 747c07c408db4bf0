import { describe, expect, it } from 'vitest'
import { splitTarget, toSegments } from '../../net/request-target.ts'
import { Router } from './router.ts'

/** A router whose targets are the patterns themselves. */
function createRouter(...patterns: string[]): Router<string> {
  const router = new Router<string>()
  for (const pattern of patterns) router.add('GET', pattern, pattern)
  return router
}

function find(router: Router<string>, url: string, method = 'GET') {
  return router.find(method, toSegments(splitTarget(url).path))
}

describe('captures', () => {
  it.each([
    ['/users/{id}', '/users/7', { id: '7' }],
    ['/users/{id}', '/users/a%20b%2Fc', { id: 'a b/c' }],
    ['/users/{id}', '/users/%F0%9F%98%80', { id: '😀' }],
    ['/users/{id}', '/users/..', { id: '..' }],
    ['/users/{id}', '/users/7?id=8', { id: '7' }],
    ['/{a}/x/{b}', '/1/x/2', { a: '1', b: '2' }],
    ['/{__proto__}', '/1', JSON.parse('{"__proto__":"1"}')],
  ])('%s takes %s apart', (pattern, url, params) => {
    expect(find(createRouter(pattern), url)).toEqual({ target: pattern, params })
  })

  it.each(['/users', '/users/', '/users//', '/users/1/', '/users/1/2', '/Users/1', 'users/1x/'])(
    'of /users/{id} do not stand for %s',
    (url) => {
      expect(find(createRouter('/users/{id}'), url)).toBeNull()
    },
  )
})

describe('literals', () => {
  it.each([
    ['/', '/'],
    ['', '/'],
    ['/a', '/a'],
    ['/%61', '/a'],
    ['/a/', '/a/'],
    ['http://host/a', '/a'],
    ['http://host', '/'],
    ['http://host?x', '/'],
  ])('%j is %s', (url, pattern) => {
    expect(find(createRouter('/', '/a', '/a/'), url)?.target).toBe(pattern)
  })

  it.each([
    ['/users/me', '/users/me'],
    ['/users/you', '/users/{id}'],
    ['/users/me/posts', '/users/{id}/posts'],
    ['/users/me/photo', '/users/me/photo'],
  ])('win over captures: %s is %s, in either order of adding', (url, pattern) => {
    const patterns = ['/users/{id}', '/users/me', '/users/{id}/posts', '/users/me/photo']

    expect(find(createRouter(...patterns), url)?.target).toBe(pattern)
    expect(find(createRouter(...patterns.toReversed()), url)?.target).toBe(pattern)
  })
})

describe('methods', () => {
  it('keeps them apart and answers HEAD by GET', () => {
    const router = new Router<string>()
    router.add('GET', '/a', 'get')
    router.add('POST', '/a', 'post')

    const targets = ['GET', 'HEAD', 'POST', 'DELETE', 'get'].map(
      (method) => find(router, '/a', method)?.target,
    )

    expect(targets).toEqual(['get', 'get', 'post', undefined, undefined])
  })
})

describe('add', () => {
  it.each([
    ['users', "A path pattern must begin with '/', but was 'users'."],
    ['', "A path pattern must begin with '/', but was ''."],
    ['/a{b}', "Each segment of the path pattern '/a{b}' must be plain text or {name}, but one is 'a{b}'."],
    ['/{}', "Each segment of the path pattern '/{}' must be plain text or {name}, but one is '{}'."],
    ['/x/*', "Each segment of the path pattern '/x/*' must be plain text or {name}, but one is '*'."],
    ['/a?b', "Each segment of the path pattern '/a?b' must be plain text or {name}, but one is 'a?b'."],
    ['/{a}/{a}', "The path pattern '/{a}/{a}' must name each capture once, but has two {a}."],
  ])('refuses %j', (pattern, message) => {
    expect(() => createRouter(pattern)).toThrow(message)
  })

  it('refuses a route that is there already, whatever its captures are called', () => {
    expect(() => createRouter('/users/{id}', '/users/{name}')).toThrow(
      'There is already a route GET /users/{name}.',
    )
  })

  it('refuses a method that is none of its own', () => {
    const router = new Router<string>()

    expect(() => router.add('HEAD' as 'GET', '/a', '')).toThrow(
      "A route's method must be one of GET, POST, PUT, PATCH, DELETE, but was 'HEAD'.",
    )
  })
})

describe('a target', () => {
  it('is split at the first question mark', () => {
    expect(splitTarget('/a?x=1&x=2&y=a%20b?c')).toEqual({ path: '/a', query: 'x=1&x=2&y=a%20b?c' })
    expect(splitTarget('HTTP://host:80/a')).toEqual({ path: '/a', query: '' })
  })

  it.each(['/%', '/%zz', '/%ff', '/a/%C3'])('refuses the bad escape in %s', (url) => {
    expect(() => toSegments(splitTarget(url).path)).toThrow('the path is not valid percent-encoding.')
  })

  it('refuses a bad escape in its query', () => {
    expect(() => splitTarget('/a?x=%zz')).toThrow('the query is not valid percent-encoding.')
  })
})

describe('findLiteral', () => {
  it('knows the routes without captures, as they are written', () => {
    const router = createRouter('/users/{id}', '/users/me')

    expect(router.findLiteral('HEAD', '/users/me')?.target).toBe('/users/me')
    expect(['/users/7', '/users/%6de', 'users/me'].map((path) => router.findLiteral('GET', path))).toEqual([
      null,
      null,
      null,
    ])
  })
})
