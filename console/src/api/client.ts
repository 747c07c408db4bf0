/**
 * Calls the server that this page came from. URLs are relative to the page, so that they hold under a path behind a proxy. The
 * credential is the cookie, which no script can read; what changes something carries the session's CSRF token. A failed call
 * throws `ApiError` whose message is fit to be shown.
 */
import { signal } from '@preact/signals'
import type { Session } from './types.ts'

/** As much of the session as a call needs; null where none is open. */
type OpenSession = Pick<Session, 'user_id' | 'csrf_token'>
let openSession: OpenSession | null = null

/** Called with a 401, and where the cookie is that of another account: the session has ended. */
let onSessionEnd: () => void = () => {}

/** False from a call that did not reach the server until one that does. */
export const isReachable = signal(true)

/** From the last answer that told. */
export const rateLimit = signal<{ readonly limit: number; readonly remaining: number } | null>(null)

export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0 where the server was not reached. */
  readonly status: number
  readonly code: string
  /** The field of the request that it is about. */
  readonly param: string | null

  constructor(message: string, facts: { status: number; code?: string; param?: string | null }) {
    super(message)
    this.status = facts.status
    this.code = facts.code ?? ''
    this.param = facts.param ?? null
  }
}

export function configureClient(facts: { session?: OpenSession | null; sessionEnded?: () => void }): void {
  if (facts.session !== undefined) openSession = facts.session
  if (facts.sessionEnded !== undefined) onSessionEnd = facts.sessionEnded
}

type Query = Readonly<Record<string, string | number | null | undefined>>

export interface CallOptions {
  readonly body?: unknown
  readonly query?: Query
  readonly signal?: AbortSignal
  /** A 401 is the answer, and not the end of the session. */
  readonly isSignIn?: boolean
}

/** @param route as `GET v1/models` */
export async function call<Answer>(route: string, options: CallOptions = {}): Promise<Answer> {
  const response = await request(route, options)
  return (await response.json()) as Answer
}

/** The response of a success, its body unread. */
export async function request(route: string, options: CallOptions = {}): Promise<Response> {
  const asked = openSession
  try {
    return await requestOnce(route, options)
  } catch (error) {
    const isRefused = error instanceof ApiError && error.code === 'csrf_failed' && options.isSignIn !== true
    if (!isRefused || asked === null || !(await takeToken(asked))) throw error
    return await requestOnce(route, options)
  }
}

/** A sign-in in another tab gives the cookie of this one another session. @returns whether its token is another one than was sent */
async function takeToken(asked: OpenSession): Promise<boolean> {
  const response = await requestOnce('GET v1/auth/session', {})
  const found = (await response.json()) as Session
  if (found.user_id !== asked.user_id) {
    onSessionEnd()
    return false
  }
  openSession = found
  return found.csrf_token !== asked.csrf_token
}

async function requestOnce(route: string, options: CallOptions): Promise<Response> {
  const [method = 'GET', path = ''] = route.split(' ')
  const headers = new Headers()
  if (options.body !== undefined) headers.set('content-type', 'application/json')
  const token = openSession?.csrf_token ?? null
  if (method !== 'GET' && token !== null) headers.set('x-csrf-token', token)
  const response = await reach(path + toSearch(options.query), {
    method,
    headers,
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
    ...(options.signal !== undefined && { signal: options.signal }),
  })
  readRateLimit(response.headers)
  if (response.ok) return response
  const error = await readError(response)
  if (response.status === 401 && options.isSignIn !== true) onSessionEnd()
  throw error
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, { ...init, cache: 'no-store', credentials: 'same-origin' })
    isReachable.value = true
    return response
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    isReachable.value = false
    throw new ApiError('The server cannot be reached.', { status: 0, code: 'unreachable' })
  }
}

function toSearch(query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

function readRateLimit(headers: Headers): void {
  const [limit, remaining] = ['limit', 'remaining'].map((name) =>
    Number(headers.get(`x-ratelimit-${name}-requests`) ?? Number.NaN),
  )
  if (limit === undefined || remaining === undefined || Number.isNaN(limit) || Number.isNaN(remaining)) return
  rateLimit.value = { limit, remaining }
}

interface ErrorBody {
  readonly detail?: string
  readonly error?: { readonly message?: string; readonly code?: string; readonly param?: string | null }
}

async function readError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody
  const message = body.detail ?? body.error?.message ?? `The server answered ${response.status}.`
  const code = response.headers.get('x-error-code') ?? body.error?.code ?? ''
  return new ApiError(message, { status: response.status, code, param: body.error?.param ?? null })
}

/** A sentence for whatever was thrown. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export const isAbort = (error: unknown) => error instanceof DOMException && error.name === 'AbortError'
