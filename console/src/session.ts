/**
 * Whose session this page has, and how it came by one: a link of the start (`#token=`), an invitation (`#invite=`), the cookie of
 * an earlier visit, or a sign-in. Tokens are taken out of the address before anything else happens, and kept in memory only.
 */
import { signal } from '@preact/signals'
import { ApiError, call, configureClient, describeError } from './api/client.ts'
import type { Session, Visitor } from './api/types.ts'

export type Entry =
  | { readonly kind: 'starting' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'sign-in'; readonly notice: string | null }
  | { readonly kind: 'invitation'; readonly token: string }
  | { readonly kind: 'welcome' }
  | { readonly kind: 'inside' }

export const entry = signal<Entry>({ kind: 'starting' })
export const session = signal<Session | null>(null)

const SESSION_ENDED = 'Your session has ended. Sign in again to go on.'

configureClient({
  sessionEnded: () => {
    if (session.value === null) return
    session.value = null
    entry.value = { kind: 'sign-in', notice: SESSION_ENDED }
  },
})

export function enter(opened: Session): void {
  configureClient({ session: opened })
  session.value = opened
  entry.value = { kind: 'inside' }
}

export const enterAsGuest = () => {
  entry.value = { kind: 'inside' }
}

/** @returns the secret of the address's fragment, which is gone from it afterwards */
function takeFragment(name: string): string | null {
  const prefix = `#${name}=`
  if (!location.hash.startsWith(prefix)) return null
  const token = decodeURIComponent(location.hash.slice(prefix.length))
  history.replaceState(null, '', location.pathname + location.search)
  return token
}

export async function start(): Promise<void> {
  const invitation = takeFragment('invite')
  const link = takeFragment('token')
  if (invitation !== null) {
    entry.value = { kind: 'invitation', token: invitation }
    return
  }
  entry.value = { kind: 'starting' }
  const linkProblem = link === null ? null : await openLink(link)
  if (link !== null && linkProblem === null) return
  await resume(linkProblem)
}

/** @returns why it could not be opened */
async function openLink(token: string): Promise<string | null> {
  try {
    enter(await call<Session>('POST v1/auth/sign-in', { body: { token }, isSignIn: true }))
    entry.value = { kind: 'welcome' }
    return null
  } catch (error) {
    return describeError(error)
  }
}

/** By the cookie of an earlier visit. */
export async function resume(notice: string | null = null): Promise<void> {
  try {
    const found = await call<Session | Visitor>('GET v1/auth/session', { query: { visitor: 'true' } })
    if (found.kind === 'visitor') entry.value = { kind: 'sign-in', notice }
    else enter(found)
  } catch (error) {
    const isUnreachable = error instanceof ApiError && error.status === 0
    entry.value = isUnreachable
      ? { kind: 'unreachable' }
      : { kind: 'sign-in', notice: notice ?? describeError(error) }
  }
}

export async function signOut(): Promise<void> {
  await call('POST v1/auth/logout')
  session.value = null
  configureClient({ session: null })
  entry.value = { kind: 'sign-in', notice: null }
}
