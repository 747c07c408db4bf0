/** What the registry holds of one id, and its errors where nothing can serve. Changed by registry and loader. */
import { Mutex } from '../core/concurrency/semaphore.ts'
import { ServiceError } from '../core/errors.ts'
import type { ModelOutline } from '../protocol/model-info.ts'
import { type ModelPolicy, OPEN_POLICY } from '../protocol/model-policy.ts'
import type { ModelSource } from '../protocol/model-source.ts'
import type { LoadedModel } from './loaded-model.ts'

export interface ModelEntry {
  readonly id: string
  readonly createdUnixSeconds: number
  /** From the headers of the load under way, or of the last one. */
  outline: ModelOutline | null
  loadFraction: number
  failure: string | null
  isDraining: boolean
  /** What serves; null until the first load has finished. */
  current: LoadedModel | null
  /** What `current` was loaded from; null for the fallback and before the first load has finished. */
  source: ModelSource | null
  /** Of what serves, or of what is loaded first. */
  policy: ModelPolicy
  /** The id of the model that it is an adapter of; null for a model of its own. As `policy`. */
  baseId: string | null
  /** Held by the load under way; later loads wait in order of arrival. */
  readonly loads: Mutex
  /** Whether it stays, as `failed`, when its first load fails. */
  isKept: boolean
  /** Whether it stays loaded when others need its room, and while nobody uses it. */
  isPinned: boolean
  /** Whether a request loads it: its source is known, and nothing is loaded from it. */
  isUnloaded: boolean
  /** Whether a load for those that wait is under way, or due. */
  isWaking: boolean
  /** By the clock, when such a load failed; null where the last one did not. */
  wakeFailedMs: number | null
  /** Requests that wait until it is loaded. */
  waiting: number
  /** By the clock. */
  loadedMs: number
  /** By the clock: when it was loaded, or when a request last began or ended. */
  lastUsedMs: number
  /** When a request last began or ended; null before the first. */
  lastUsedUnixSeconds: number | null
  /** Aborted when it is unregistered, which ends a load under way. */
  readonly removed: AbortController
}

export function createEntry(id: string, unixSeconds: number): ModelEntry {
  return {
    id,
    createdUnixSeconds: Math.floor(unixSeconds),
    outline: null,
    loadFraction: 0,
    failure: null,
    isDraining: false,
    current: null,
    source: null,
    policy: OPEN_POLICY,
    baseId: null,
    loads: new Mutex(),
    isKept: false,
    isPinned: false,
    isUnloaded: false,
    isWaking: false,
    wakeFailedMs: null,
    waiting: 0,
    loadedMs: 0,
    lastUsedMs: 0,
    lastUsedUnixSeconds: null,
    removed: new AbortController(),
  }
}

/** @throws ServiceError `model_loading_failed` where nothing was ever loaded. */
export function sourceOf(entry: ModelEntry): ModelSource {
  if (entry.source === null) throw loadingFailed(entry)
  return entry.source
}

export function loadingFailed({ id, failure }: ModelEntry): ServiceError {
  const message = failure ?? 'it is not loaded.'
  return new ServiceError('model_loading_failed', { model: id, message }, { retryAfterSeconds: 10 })
}

export function noModel(): ServiceError {
  return new ServiceError('no_model', {}, { retryAfterSeconds: 10 })
}

export function modelNotFound(model: string): ServiceError {
  return new ServiceError('model_not_found', { model }, { param: 'model' })
}
