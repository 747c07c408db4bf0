import { describe, expect, it } from 'vitest'
import { meantPath } from './meant-path.ts'

const PATHS = [
  '/v1/models',
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/health',
  '/mine/models',
  '/metrics',
]

const meant = (path: string) => meantPath(path, { has: (one) => PATHS.includes(one), literals: PATHS })

describe('meantPath', () => {
  it.each([
    ['/models', '/v1/models'],
    ['/v1/v1/models', '/v1/models'],
    ['/v1/models//', '/v1/models'],
    ['/gateway/openai/v1/models', '/v1/models'],
    ['/openai/chat/completions', '/v1/chat/completions'],
    ['/metrics/', '/metrics'],
    ['/api/tags', '/v1/models'],
    ['/v1/api/tags', '/v1/models'],
    ['/v2/chat', '/v1/chat/completions'],
    ['/v1/Models', '/v1/models'],
    ['/v1/chat/completion', '/v1/chat/completions'],
    ['/chat/compeltions', '/v1/chat/completions'],
    ['/helth', '/v1/health'],
  ])('%s means %s', (path, expected) => {
    expect(meant(path)).toBe(expected)
  })

  it.each([
    ['another word', '/v1/foo'],
    ['another number of segments', '/v1/chat/completions/x'],
    ['a route that this server lacks', '/api/embed'],
    ['a prefix behind /v1', '/v1/x/models'],
    ['nearness to a route of the application', '/mine/model'],
    ['nothing', '/'],
    ['a name of every object', '/constructor'],
    ['a million slashes, in time', `${'/'.repeat(1_000_000)}x`],
    ['what is too long for a slip', `/v1/models${'s'.repeat(100_000)}`],
  ])('%s means none', (_, path) => {
    expect(meant(path)).toBeNull()
  })
})
