/** What a registry is made with, what a model is registered with, and what a registry tells of the models that it serves. */
import type { SleepingClock } from '../core/clock.ts'
import type { ServiceError } from '../core/errors.ts'
import type { Engine } from '../protocol/engine.ts'
import type { ModelOutline } from '../protocol/model-info.ts'
import type { ModelPolicy } from '../protocol/model-policy.ts'
import type { ModelSource } from '../protocol/model-source.ts'
import type { RenderThread } from './chat/render-thread.ts'
import type { LoadedModel } from './loaded-model.ts'
import type { OpenEngine, OutlineModel } from './model-loader.ts'
import type { ModelRecord } from './model-record.ts'

export interface RegistryOptions {
  readonly openEngine: OpenEngine
  /** Serves until a model is given. */
  readonly openFallback: () => Engine
  /** Further names of models, by the name; an id comes before them. @default none */
  readonly aliases?: ReadonlyMap<string, string>
  /** Sequences that may wait, over all models; a request that waits for a first load counts as one. */
  readonly maxQueue: number
  /** Priority classes that have callers now; slots and queue are kept for the higher ones. @default none known */
  readonly servedClasses?: () => readonly number[]
  readonly clock: SleepingClock
  /** Reads the headers of what is loaded by its first request. @default nothing is known before */
  readonly outlineModel?: OutlineModel
  /** Models of this server that may be loaded at once; null for as many as there is memory for. @default null */
  readonly maxLoaded?: number | null
  /** After how long a model that nobody uses is unloaded; null for never. @default null */
  readonly idleUnloadMs?: number | null
  /** Called when what `serving` gives may have changed, except for what engines report of themselves. */
  readonly onChange?: () => void
  /** Renders the long chats of all models. @default one of its own */
  readonly renderThread?: RenderThread
}

export interface RegisterOptions {
  /** What is known of the model before its load begins. */
  readonly outline?: ModelOutline
  /** Whether an id that is new stays, as `failed`, when its load fails. @default true */
  readonly keepsFailed?: boolean
  /** Holds as soon as the model serves. @default no fallback, open to all */
  readonly policy?: ModelPolicy
  /** @default false */
  readonly isPinned?: boolean
  /** Now, and others are unloaded where it needs their room; now if there is room; or by the first request. @default now */
  readonly load?: 'now' | 'if-room' | 'request'
}

/** A model as `list` shows it, and what is behind it. */
export interface ServingModel {
  readonly record: ModelRecord
  /** Whether it has its id; the fallback and what drains have not. */
  readonly isRegistered: boolean
  /** Whether a new request may be for it. */
  readonly mayServe: boolean
  /** Whether a request would wait for a load under way. */
  readonly waitsForLoad: boolean
  /** Null until the first load has finished. */
  readonly model: LoadedModel | null
  /** What `model` was loaded from; null for the fallback. */
  readonly source: ModelSource | null
}

export interface ServingModels {
  readonly rows: readonly ServingModel[]
  /** Null where nothing serves. */
  readonly defaultId: string | null
  readonly whyNotReady: ServiceError | null
  readonly servedClasses: readonly number[]
}
