/** What becomes of this page's session when another tab signs in; the ways into one are tested in a browser. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { call } from './api/client.ts'
import type { Session } from './api/types.ts'
import { enter, entry, session, signOut } from './session.ts'

const sessionOf = (userId: string, token: string): Session => ({
  ...{ kind: 'account', user_id: userId, email: `${userId}@example.org`, tier: 'pro', role: 'user' },
  ...{ csrf_token: token, expires_at: null },
})

/** Whose cookie all tabs have. */
let cookie: Session
/** False for a page that the server takes for another site's. */
let isOwnSite: boolean
let asked: string[]

async function answerRequest(path: string, { method = '', headers }: RequestInit): Promise<Response> {
  asked.push(`${method} ${path}`)
  if (method === 'GET') return Response.json(cookie)
  const isAllowed = isOwnSite && new Headers(headers).get('x-csrf-token') === cookie.csrf_token
  const error = { message: 'It is missing, or of another session.', code: 'csrf_failed' }
  return isAllowed ? Response.json({}) : Response.json({ error }, { status: 403 })
}

beforeEach(() => {
  vi.stubGlobal('fetch', answerRequest)
  asked = []
  isOwnSite = true
  cookie = sessionOf('ada', 'first')
  enter(cookie)
})

afterEach(async () => {
  isOwnSite = true
  enter(cookie)
  await signOut()
  vi.unstubAllGlobals()
})

it('goes on with the token of a new sign-in of the same account in another tab', async () => {
  cookie = sessionOf('ada', 'second')
  await call('POST v1/keys', { body: {} })
  await call('DELETE v1/keys/1')
  expect(asked).toEqual(['POST v1/keys', 'GET v1/auth/session', 'POST v1/keys', 'DELETE v1/keys/1'])
  expect(session.value?.user_id).toBe('ada')
})

it('ends the session when another account has signed in in another tab', async () => {
  cookie = sessionOf('bob', 'second')
  await expect(call('POST v1/keys', { body: {} })).rejects.toMatchObject({ code: 'csrf_failed' })
  expect(asked).toEqual(['POST v1/keys', 'GET v1/auth/session'])
  expect([session.value, entry.value.kind]).toEqual([null, 'sign-in'])
})

it('repeats nothing where the token is not what was refused', async () => {
  isOwnSite = false
  await expect(call('POST v1/keys', { body: {} })).rejects.toMatchObject({ code: 'csrf_failed' })
  expect(asked).toEqual(['POST v1/keys', 'GET v1/auth/session'])
  expect(session.value).not.toBeNull()
})
