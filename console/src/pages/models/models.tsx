/** The models that are served, as they are this second, and what an admin can do with them. */
import { useEffect, useState } from 'preact/hooks'
import { call, describeError } from '../../api/client.ts'
import { poll } from '../../api/poll.ts'
import { isLive, type ModelStatus, status, statusError, useStatus } from '../../api/status.ts'
import type { Model } from '../../api/types.ts'
import { notify } from '../../ui/announce.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { PageHead } from '../../ui/parts.tsx'
import { Empty, Problem, Ready } from '../../ui/states.tsx'
import { type Loaded, useLoaded } from '../../ui/use-loaded.ts'
import { AddAdapter } from './add-adapter.tsx'
import { LoadModel } from './load-model.tsx'
import { ModelCard } from './model-card.tsx'
import { QuantizeModel } from './quantize-model.tsx'
import { listServed } from './served-models.ts'

type Open =
  | { readonly kind: 'load'; readonly replaced: string | null }
  | { readonly kind: 'adapt'; readonly base: string; readonly id: string | null }
  | { readonly kind: 'quantize' | 'remove'; readonly id: string }
  | null

const loadList = async (signal: AbortSignal) =>
  (await call<{ data: readonly Model[] }>('GET v1/models', { signal })).data

export default function Models() {
  const [open, setOpen] = useState<Open>(null)
  useStatus()
  const statuses = status.value?.models ?? []
  const live = new Map(statuses.map((model) => [model.id, model]))
  const loaded = useLoaded(loadList, changesOf(statuses))
  const served = listServed(loaded.value ?? [], statuses)
  usePolling(loaded)
  // The cards come with their figures: what grew a moment later would move its buttons away from under the pointer.
  const isStatusKnown = status.value !== null || statusError.value !== null
  const close = () => setOpen(null)
  const load = (
    <button type="button" class="button primary" onClick={() => setOpen({ kind: 'load', replaced: null })}>
      <Icon name="plus" /> Load a model
    </button>
  )
  return (
    <div class="page">
      <PageHead title="Models" actions={load}>
        What this server serves. A model is replaced without losing a request.
      </PageHead>
      {!isLive.value && <Problem error={statusError.value} />}
      <Ready loaded={isStatusKnown ? loaded : { ...loaded, value: null }} what="the models">
        {(models) =>
          models.length === 0 ? (
            <Empty title="No model is served" action={load}>
              Load one from a file or folder of the server, or from the Hugging Face hub.
            </Empty>
          ) : (
            <div class="key-list">
              {models.map((model) => (
                <ModelCard
                  key={model.id}
                  model={model}
                  live={live.get(model.id) ?? null}
                  onSwap={() => setOpen(replacementOf(model))}
                  onQuantize={() => setOpen({ kind: 'quantize', id: model.id })}
                  onAdapt={() => setOpen({ kind: 'adapt', base: model.id, id: null })}
                  onAct={(action) => void act(model.id, action).then(loaded.reload)}
                  onRemove={() => setOpen({ kind: 'remove', id: model.id })}
                />
              ))}
            </div>
          )
        }
      </Ready>
      {open?.kind === 'load' && (
        <LoadModel replaced={open.replaced} served={served} onClose={close} onLoading={loaded.reload} />
      )}
      {open?.kind === 'adapt' && (
        <AddAdapter
          base={open.base}
          replaced={open.id}
          served={served}
          onClose={close}
          onLoading={loaded.reload}
        />
      )}
      {open?.kind === 'quantize' && <QuantizeModel id={open.id} onClose={close} onDone={loaded.reload} />}
      {open?.kind === 'remove' && (
        <Confirm
          title={`Remove ${open.id}?`}
          action="Remove"
          onClose={close}
          onConfirm={async () => {
            await call(`DELETE v1/admin/models/${encodeURIComponent(open.id)}`)
            notify(`${open.id} is removed when its running requests have ended.`)
            loaded.reload()
          }}
        >
          Running requests end first; new ones for this model are refused. Its files stay where they are.
        </Confirm>
      )}
    </div>
  )
}

async function act(id: string, action: 'load' | 'unload'): Promise<void> {
  try {
    await call(`POST v1/admin/models/${encodeURIComponent(id)}/${action}`)
    notify(`${id} is ${action}ed.`)
  } catch (error) {
    notify(describeError(error))
  }
}

/** An adapter is replaced by another of the same base. */
const replacementOf = (model: Model): Open =>
  model.parent === undefined
    ? { kind: 'load', replaced: model.id }
    : { kind: 'adapt', base: model.parent, id: model.id }

/** Until each model is what it is going to be: the live figures may be away, and do not show one that is gone. */
function usePolling({ value, reload }: Loaded<readonly Model[]>): void {
  const isSettled =
    value === null || value.every(({ meta: { state } }) => ['ready', 'unloaded', 'failed'].includes(state))
  useEffect(() => {
    if (isSettled) return
    return poll(reload)
  }, [isSettled, reload])
}

/** Another text where the list itself has changed, and not only its numbers. */
const changesOf = (models: readonly ModelStatus[]) =>
  models.map(({ id, state, failure, size_mb: size }) => `${id}:${state}:${failure ?? ''}:${size}`).join('|')
