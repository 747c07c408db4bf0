/** Which models have their place on the server: another one of the same id comes in that place. */
import type { ModelStatus } from '../../api/status.ts'
import type { Model } from '../../api/types.ts'

export interface ServedModel {
  readonly id: string
  /** Of one that this session may not use it is not known, and false. */
  readonly isPinned: boolean
}

type Listed = Pick<Model, 'id'> & { readonly meta: Pick<Model['meta'], 'pinned' | 'state'> }

/** In the order of the server, but for those that the status does not show yet. The listing leaves out what this session may not use. */
export function listServed(
  listed: readonly Listed[],
  live: readonly Pick<ModelStatus, 'id' | 'state'>[],
): readonly ServedModel[] {
  const pinned = new Set(listed.filter(({ meta }) => meta.pinned).map(({ id }) => id))
  const all = [...live, ...listed.map(({ id, meta: { state } }) => ({ id, state }))]
  const ids = new Set(all.filter(({ state }) => state !== 'draining').map(({ id }) => id))
  return [...ids].map((id) => ({ id, isPinned: pinned.has(id) }))
}

/** Another name of the first model, where none has it for its id. */
const DEFAULT_ID = 'default'

/** @returns the model in whose place one with this id comes; null where it is one more */
export function findReplaced(id: string, served: readonly ServedModel[]): ServedModel | null {
  const same = served.find((one) => one.id === id)
  return same ?? (id === DEFAULT_ID ? (served[0] ?? null) : null)
}
