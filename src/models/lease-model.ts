/**
 * The model of a request: whether its caller may use it, its lease, and the model that answers while it cannot be reached. Called by
 * generations, embeddings and token counts. A model that a caller may not use does not exist for that caller.
 */
import { ServiceError } from '../core/errors.ts'
import type { TierLimits } from '../core/tiers.ts'
import { mayUse, type ModelCaller } from '../protocol/model-policy.ts'
import type { ModelLease, ModelRecord, ModelRegistry } from './registry.ts'

export type LeasingRegistry = Pick<ModelRegistry, 'acquire' | 'get' | 'awaitsLoad'>

export interface LeaseRequest {
  /** Null is the default model. */
  readonly modelId: string | null
  readonly caller: ModelCaller & { readonly limits: Pick<TierLimits, 'priorityClass'> }
  readonly signal: AbortSignal
  /** @default 0 */
  readonly priority?: number
}

interface HiddenCheck {
  readonly modelId: string | null
  readonly caller: ModelCaller
  /** The body's name for the model. @default `model` */
  readonly param?: string
}

/** Why a model may be replaced by its fallback: nothing of it can be reached. */
const UNREACHABLE: ReadonlySet<unknown> = new Set(['engine_unavailable', 'model_loading_failed'])

/** @throws ServiceError `model_not_found`, and as `ModelRegistry.acquire` */
export async function leaseModel(
  registry: LeasingRegistry,
  { modelId, caller, signal, priority = 0 }: LeaseRequest,
): Promise<ModelLease> {
  refuseHidden(registry, { modelId, caller })
  const { accountId, limits } = caller
  return await registry.acquire(modelId, signal, { priorityClass: limits.priorityClass, priority, accountId })
}

/** @throws ServiceError `model_not_found`, as for a model that does not exist; nothing for one that really does not */
export function refuseHidden(
  registry: Pick<LeasingRegistry, 'get'>,
  { modelId, caller, param = 'model' }: HiddenCheck,
): void {
  const record = findModel(registry, modelId)
  if (record !== null && !mayUse(record.policy, caller))
    throw new ServiceError('model_not_found', { model: modelId ?? record.id }, { param })
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof ServiceError && UNREACHABLE.has(error.code)
}

/** Whether a request for it may first wait for a load: its own, or that of a model in its place. */
export function mayAwaitLoad(
  registry: Pick<LeasingRegistry, 'get' | 'awaitsLoad'>,
  modelId: string | null,
): boolean {
  return registry.awaitsLoad(modelId) || (findModel(registry, modelId)?.policy.fallback ?? null) !== null
}

/** Whether the model takes a request now, or as soon as it is loaded. */
export function takesRequests(
  registry: Pick<LeasingRegistry, 'get' | 'awaitsLoad'>,
  modelId: string | null,
): boolean {
  return registry.awaitsLoad(modelId) || registry.get(modelId).state === 'ready'
}

/** The models that may answer a request, one after the other while the one before cannot be reached. */
export function fallbacksOf(
  registry: LeasingRegistry,
  modelId: string | null,
  caller: ModelCaller,
): readonly string[] {
  const ids: string[] = []
  const seen = new Set<string>()
  let record = findModel(registry, modelId)
  while (record !== null) {
    seen.add(record.id)
    const { fallback } = record.policy
    record = fallback === null ? null : findModel(registry, fallback)
    if (record === null || seen.has(record.id) || !mayUse(record.policy, caller)) break
    ids.push(record.id)
  }
  return ids
}

/** Null where there is none; `acquire` says why. */
function findModel(registry: Pick<LeasingRegistry, 'get'>, modelId: string | null): ModelRecord | null {
  try {
    return registry.get(modelId)
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}
