/** Serves a LoRA adapter of a model, in that model's engine, or replaces one. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { notify } from '../../ui/announce.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm } from '../../ui/dialog-form.tsx'
import { TextField } from '../../ui/field.tsx'
import { idOf } from './model-id.ts'
import type { ServedModel } from './served-models.ts'
import { useReplaced } from './use-replaced.ts'

interface AddAdapterProps {
  readonly base: string
  /** The id of the adapter in whose place it comes; null for one more. */
  readonly replaced: string | null
  readonly served: readonly ServedModel[]
  readonly onClose: () => void
  readonly onLoading: () => void
}

export function AddAdapter({ base, replaced, served, onClose, onLoading }: AddAdapterProps) {
  const [adapter, setAdapter] = useState('')
  const [id, setId] = useState(replaced ?? '')
  const [scale, setScale] = useState('1')
  const realId = id.trim() === '' ? idOf(adapter.trim()) : id.trim()
  const { present, during } = useReplaced(realId, served)
  const add = async (isOpen: () => boolean): Promise<void> => {
    const body = { id: realId, base, adapter: adapter.trim(), scale: Number(scale) }
    await call('POST v1/admin/models', { body })
    notify(`${realId} is served.`)
    onLoading()
    if (isOpen()) onClose()
  }
  return (
    <Dialog title={replaced === null ? `Add an adapter of ${base}` : `Replace ${replaced}`} onClose={onClose}>
      <DialogForm
        action={present === null ? 'Add' : 'Replace'}
        isReady={adapter.trim() !== ''}
        closing="goes on"
        onSubmit={(isOpen) => during(() => add(isOpen))}
        onClose={onClose}
      >
        <TextField
          label="Adapter"
          hint="A .gguf file or a folder of PEFT on the server, or hf:org/repo[:file.gguf]"
          required
          autocomplete="off"
          spellcheck={false}
          value={adapter}
          onValue={setAdapter}
        />
        <div class="two">
          <TextField
            label="Served as"
            placeholder={idOf(adapter.trim()) || 'its name'}
            autocomplete="off"
            disabled={replaced !== null}
            value={id}
            onValue={setId}
          />
          <TextField
            label="Scale"
            hint="Multiplies what it adds"
            type="number"
            min={-100}
            max={100}
            step="any"
            required
            value={scale}
            onValue={setScale}
          />
        </div>
        {present !== null && (
          <div class="note warn" role="status">
            It comes in the place of {present.id}. Everyone may use the new adapter: tiers, keys and fallback
            of the present one are not kept, and are set over the API.
          </div>
        )}
      </DialogForm>
    </Dialog>
  )
}
