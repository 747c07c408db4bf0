/**
 * Hears of changes to credentials that any process made, through LISTEN on a connection of its own, and passes them to the
 * credential store. The triggers that send them are in `postgres-api-database.ts`. A connection that was cut is opened again;
 * one that is silently dead is found out by asking it something.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { CredentialNotice } from './credential-memory.ts'
import { connectionConfig } from './postgres-pool.ts'

export const NOTICE_CHANNEL = 'sluice_credentials'

/** What hears the notices. */
export interface NoticeListener {
  onNotice(notice: CredentialNotice): void
  /** Resolves when the listener knows what the notices it missed would have told. */
  onNoticesBegin(): Promise<void>
  onNoticesEnd(): void
}

const RECONNECT_EVERY_MS = 250
const CHECK_EVERY_MS = 2000

export class CredentialNotices {
  readonly #url: string
  readonly #listener: NoticeListener
  readonly #ending = new AbortController()
  readonly #running: Promise<void>

  /** Begins at once, and goes on until it is closed. */
  constructor(url: string, listener: NoticeListener) {
    this.#url = url
    this.#listener = listener
    this.#running = this.#run()
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      // What went wrong is in the log already: the pool to the same database has met it too.
      await this.#listen().catch(() => {})
      this.#listener.onNoticesEnd()
      await sleep(RECONNECT_EVERY_MS, signal)
    }
  }

  /** Ends when the connection does. */
  async #listen(): Promise<void> {
    const client = new pg.Client(connectionConfig(this.#url))
    const cut = new AbortController()
    client.on('error', () => cut.abort())
    client.on('end', () => cut.abort())
    client.on('notification', ({ payload }) => {
      const notice = parseNotice(payload ?? '')
      if (notice !== null) this.#listener.onNotice(notice)
    })
    const signal = AbortSignal.any([cut.signal, this.#ending.signal])
    try {
      await client.connect()
      await client.query(`listen ${NOTICE_CHANNEL}`)
      await this.#listener.onNoticesBegin()
      while (!signal.aborted) {
        await sleep(CHECK_EVERY_MS, signal)
        if (!signal.aborted) await client.query('select 1')
      }
    } finally {
      await client.end().catch(() => {})
    }
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { ref: false, signal }).catch(() => {})
}

/** `<table> <id>`; null for what another program sent on this channel. */
function parseNotice(payload: string): CredentialNotice | null {
  const [table, id] = payload.split(' ')
  if (table !== 'api_keys' && table !== 'sessions' && table !== 'users' && table !== 'teams') return null
  return id === undefined ? null : { table, id }
}
