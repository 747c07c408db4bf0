import { describe, expect, it } from 'vitest'
import { splitTarget } from '../../net/requests/request-target.ts'
import { Router } from './router.ts'

/** A router whose targets are the patterns themselves. */
function createRouter(...patterns: string[]): Router<string> {
  const router = new Router<string>()
  for (const pattern of patterns) router.add('GET', pattern, pattern)
  return router
}

function find(router: Router<string>, url: string, method = 'GET') {
  return router.find(method, splitTarget(url).path)
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
    const found = find(createRouter(pattern), url)

    expect([found?.target, found?.params]).toEqual([pattern, params])
  })

  it.each(['/users', '/users/', '/users//', '/users/1/', '/users/1/2', '/Users/1', 'users/1x/'])(
    'of /users/{id} do not stand for %s',
    (url) => {
      expect(find(createRouter('/users/{id}'), url)).toBeNull()
    },
  )
})

it.each(['GET', 'BREW'])('a path of bad escapes is refused, also with the method %s', (method) => {
  expect(() => find(createRouter('/a'), '/%zz', method)).toThrow('the path is not valid percent-encoding.')
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

  it.each(['/a/b', '/%61/b', '/{x}/b'])('give the segments of the path, decoded (%s)', (url) => {
    const segments = url === '/{x}/b' ? ['{x}', 'b'] : ['a', 'b']

    expect(find(createRouter('/a/b', '/{x}/b'), url)?.segments).toEqual(segments)
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
