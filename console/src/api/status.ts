/**
 * How the server is (`GET v1/admin/status`), once a second while a page shows it. The stream ends after a minute and is opened
 * again; while it is away, so is `isLive`.
 */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { describeError, isAbort, request } from './client.ts'
import { readEvents } from './event-stream.ts'
import type { ModelState } from './types.ts'

export interface ModelStatus {
  readonly id: string
  readonly state: ModelState
  readonly load_progress: number
  /** Unix seconds. */
  readonly last_used: number | null
  readonly failure: string | null
  readonly size_mb: number | null
  readonly memory_bytes: number | null
  readonly slots: number | null
  readonly running: number
  readonly waiting: number
  readonly kv_tokens_used: number | null
  readonly kv_tokens_total: number | null
  readonly replicas: number | null
  readonly replicas_ready: number | null
  readonly engine_deaths: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly tokens_per_second: number | null
}

export interface ServerStatus {
  readonly version: string
  readonly uptime_seconds: number
  readonly why_not_ready: string | null
  readonly models: readonly ModelStatus[]
  readonly queue: Readonly<Record<string, number>>
  readonly requests: Readonly<Record<string, number>>
  readonly guard_hits: readonly { readonly guard: string; readonly rule: string; readonly count: number }[]
  /** Null where the firewall is off. */
  readonly bans: number | null
  readonly refusals: Readonly<Record<string, number>>
  /** The newest first. */
  readonly last_errors: readonly RecentError[]
  /** Those that are servers; empty where they are files of the data folder. */
  readonly databases: Readonly<Record<string, 'up' | 'down'>>
  readonly certificate_expires_at: number | null
  readonly memory_bytes: number
  readonly data_dir: string | null
  readonly disk_free_bytes: number | null
}

interface RecentError {
  readonly at: number
  readonly request_id: string
  readonly method: string
  /** Null where there is no such path. */
  readonly route: string | null
  readonly status: number
  readonly code: string
}

export const status = signal<ServerStatus | null>(null)
export const statusError = signal<string | null>(null)
export const isLive = signal(false)

const PAUSE_MS = 1000

/** Keeps `status` up to date while the page is open. */
export function useStatus(): void {
  useEffect(() => {
    const aborter = new AbortController()
    void follow(aborter.signal)
    return () => aborter.abort()
  }, [])
}

async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await request('GET v1/admin/status/stream', { signal })
      for await (const data of readEvents(response)) {
        status.value = JSON.parse(data) as ServerStatus
        statusError.value = null
        isLive.value = true
      }
    } catch (error) {
      if (isAbort(error)) return
      statusError.value = describeError(error)
      isLive.value = false
    }
    // A server that shuts down ends each stream at once.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
