import { describe, expect, it } from 'vitest'
import { splitTarget, toSegments } from './request-target.ts'

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
