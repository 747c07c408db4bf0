/**
 * Sessions that a browser holds in a cookie: whose one is, and the token that a page of this server sends with what changes
 * something, which no page of another site can read. The token is an HMAC of the session's id under a secret of the database, so
 * every process and instance knows it and none keeps it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Credential } from '../../core/credential.ts'
import type { Authenticator } from '../authenticator.ts'
import type { GuestService } from './guest-service.ts'

export interface BrowserSessionsDeps {
  readonly authenticator: Authenticator
  readonly guests: Pick<GuestService, 'authenticate'>
  /** Stays the same while the database does. */
  readonly secret: string
}

export class BrowserSessions {
  readonly #deps: BrowserSessionsDeps

  constructor(deps: BrowserSessionsDeps) {
    this.#deps = deps
  }

  /** Null for a cookie that is neither a session's nor a guest's: an API key in a cookie is none. */
  async authenticate(cookie: string): Promise<Credential | null> {
    const { authenticator, guests } = this.#deps
    const credential = await authenticator.authenticate(cookie)
    // Where every caller is let in, a cookie makes no difference.
    if (credential?.kind === 'session') return credential
    return await guests.authenticate(cookie)
  }

  csrfToken(sessionId: string): string {
    return createHmac('sha256', this.#deps.secret).update(`csrf:${sessionId}`).digest('base64url')
  }

  isCsrfToken(sessionId: string, given: string): boolean {
    const expected = Buffer.from(this.csrfToken(sessionId))
    const bytes = Buffer.from(given)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  }
}
