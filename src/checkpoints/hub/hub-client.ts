/**
 * The requests to the Hub: the commit of a revision, the files in it, and the bytes of a file from an offset on. The Hub's
 * client library has the routes and parses the answers; every failure becomes one sentence. The token is sent to the Hub
 * only, never to the address of a redirect.
 */
import { fileDownloadInfo, listFiles, modelInfo } from '@huggingface/hub'
import { setTimeout as pause } from 'node:timers/promises'
import { abortReason } from '../../core/concurrency/abort.ts'
import { StartError } from '../../core/errors.ts'
import { HubUnreachable, hubRefusal, isBrokenOff, networkFailure } from './hub-errors.ts'
import type { HubReference } from './hub-reference.ts'
import type { HubSettings } from './hub-settings.ts'

export interface HubFile {
  /** Its path in the repository. */
  readonly path: string
  readonly size: number
  /** Name of its blob in the cache: the SHA-256 of a large file, git's SHA-1 of a small one. */
  readonly hash: string
}

export interface HubListing {
  readonly commit: string
  /** By their paths in the repository. */
  readonly files: ReadonlyMap<string, HubFile>
}

export interface HubClientOptions extends Pick<HubSettings, 'endpoint' | 'token'> {
  readonly reference: HubReference
  readonly signal: AbortSignal
  /** How long the Hub may take to answer, or be silent while it sends. */
  readonly silenceMs: number
  /** Before a question is asked again of a Hub that has trouble; twice as long before the third time. */
  readonly retryPauseMs: number
}

/** Of a question, which is small. */
const MAX_ATTEMPTS = 3

const COMMIT = /^[0-9a-f]{40}$/
const HASH = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

export class HubClient {
  readonly #options: HubClientOptions

  constructor(options: HubClientOptions) {
    this.#options = options
  }

  get #repo(): { type: 'model'; name: string } {
    return { type: 'model', name: this.#options.reference.repo }
  }

  async list(): Promise<HubListing> {
    const { revision } = this.#options.reference
    const repo = this.#repo
    const { sha } = await this.#ask((hub) =>
      modelInfo({ ...hub, name: repo.name, revision, additionalFields: ['sha'] }),
    )
    if (!COMMIT.test(sha)) throw this.#nonsense('a revision without a commit')
    const files = await this.#ask(async (hub) => {
      const listed = new Map<string, HubFile>()
      for await (const entry of listFiles({ ...hub, repo, revision: sha, recursive: true })) {
        if (entry.type !== 'file') continue
        const { size, oid = '' } = entry.lfs ?? entry
        // The hash becomes a file's name.
        if (!HASH.test(oid) || !Number.isSafeInteger(size) || size < 0) {
          throw this.#nonsense('a file without a checksum or a size')
        }
        listed.set(entry.path, { path: entry.path, size, hash: oid })
      }
      return listed
    })
    return { commit: sha, files }
  }

  /** The bytes of a file from `offset` on, in pieces. */
  async *read(commit: string, file: HubFile, offset: number): AsyncGenerator<Uint8Array> {
    const repo = this.#repo
    const path = file.path.split('/').map(encodeURIComponent).join('/')
    const info = await this.#ask((hub) => fileDownloadInfo({ ...hub, repo, path, revision: commit }))
    if (info?.size !== file.size) throw this.#nonsense(`two sizes for ${file.path}`)
    const silence = new Silence(this.#options)
    try {
      const headers = offset === 0 ? {} : { range: `bytes=${offset}-`, 'accept-encoding': 'identity' }
      const response = await this.#fetch(info.url, { headers, signal: silence.signal })
      if (response.status === 206 && !response.headers.get('content-range')?.startsWith(`bytes ${offset}-`)) {
        throw this.#nonsense(`the wrong part of ${file.path}`)
      }
      // A server without range requests sends the whole file.
      let toSkip = response.status === 206 ? 0 : offset
      for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        silence.restart()
        if (piece.length > toSkip) yield piece.subarray(toSkip)
        toSkip = Math.max(0, toSkip - piece.length)
      }
    } catch (error) {
      throw this.#explain(error, silence)
    } finally {
      silence.end()
    }
  }

  /**
   * Runs one of the library's functions with our address and fetch. Again at once where the connection breaks, as one does that was kept
   * and is closed just then; after a pause where the Hub answers that it cannot now.
   */
  async #ask<Answer>(
    act: (hub: { hubUrl: string; fetch: typeof fetch }) => Promise<Answer>,
  ): Promise<Answer> {
    const { retryPauseMs, signal } = this.#options
    for (let attempt = 1; ; attempt++) {
      const silence = new Silence(this.#options)
      try {
        return await act({
          hubUrl: this.#options.endpoint,
          fetch: (url, init) => {
            silence.restart()
            return this.#fetch(url, { ...init, signal: silence.signal })
          },
        })
      } catch (error) {
        const isBusy = error instanceof HubUnreachable
        if (attempt === MAX_ATTEMPTS || !(isBusy || isBrokenOff(error))) throw this.#explain(error, silence)
        if (isBusy) await pause(retryPauseMs * 2 ** (attempt - 1), undefined, { signal })
      } finally {
        silence.end()
      }
    }
  }

  async #fetch(url: string | URL | Request, init: RequestInit): Promise<Response> {
    const { endpoint, token, reference } = this.#options
    const address = url instanceof Request ? url.url : url
    const headers = new Headers(init.headers)
    headers.set('user-agent', 'sluice')
    if (token !== null && new URL(address).origin === new URL(endpoint).origin) {
      headers.set('authorization', `Bearer ${token}`)
    }
    const response = await fetch(address, { ...init, headers })
    if (response.ok) return response
    await response.body?.cancel()
    throw hubRefusal(response, { endpoint, ...reference, hasToken: token !== null })
  }

  #explain(error: unknown, { isOver }: Silence): unknown {
    const { signal, endpoint, silenceMs } = this.#options
    if (signal.aborted) return abortReason(signal)
    if (error instanceof StartError) return error
    if (isOver())
      return new HubUnreachable(`Cannot reach ${endpoint}: it was silent for ${silenceMs / 1000} s.`)
    if (!isNetworkError(error)) return this.#nonsense('an answer that cannot be read')
    return networkFailure(endpoint, error)
  }

  #nonsense(what: string): StartError {
    const { endpoint, reference } = this.#options
    return new StartError(`${endpoint} gave ${what} for ${reference.repo}; is HF_ENDPOINT a Hub?`)
  }
}

/** Whether fetch threw it because a connection could not be made or broke. */
function isNetworkError(error: unknown): boolean {
  return (
    error instanceof Error && ('code' in error || (error instanceof TypeError && error.cause !== undefined))
  )
}

/** Aborts a request with its caller, or when nothing has arrived for too long. */
class Silence {
  readonly #timer: NodeJS.Timeout
  readonly #silent = new AbortController()
  readonly signal: AbortSignal

  constructor({ signal, silenceMs }: Pick<HubClientOptions, 'signal' | 'silenceMs'>) {
    this.#timer = setTimeout(() => this.#silent.abort(), silenceMs)
    this.signal = AbortSignal.any([signal, this.#silent.signal])
  }

  readonly isOver = (): boolean => this.#silent.signal.aborted

  restart(): void {
    this.#timer.refresh()
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}
