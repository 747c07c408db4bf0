/** Loads a model from the server's disk or the hub, in the place of another where it has the same id; what it needs is shown before. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { formatBytes, formatNumber, formatShort } from '../../format.ts'
import { notify } from '../../ui/announce.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm } from '../../ui/dialog-form.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { type CheckedSource, checkOf, type ModelCheck } from './model-check.ts'
import { idOf } from './model-id.ts'
import type { ServedModel } from './served-models.ts'
import { useReplaced } from './use-replaced.ts'

const QUANTIZATIONS = [
  { value: 'none', label: 'As it is' },
  { value: 'int8', label: 'int8' },
  { value: 'int4', label: 'int4' },
  { value: 'fp8', label: 'fp8' },
]

interface LoadModelProps {
  /** The id of the model in whose place it comes; null for one more. */
  readonly replaced: string | null
  readonly served: readonly ServedModel[]
  readonly onClose: () => void
  readonly onLoading: () => void
}

export function LoadModel({ replaced, served, onClose, onLoading }: LoadModelProps) {
  const [checkpoint, setCheckpoint] = useState('')
  const [id, setId] = useState(replaced ?? '')
  const [quantization, setQuantization] = useState('none')
  const [checked, setChecked] = useState<CheckedSource | null>(null)
  const source = { checkpoint: checkpoint.trim(), quantization }
  const check = checkOf(source, checked)
  const realId = id.trim() === '' ? idOf(source.checkpoint) : id.trim()
  const { present, during } = useReplaced(realId, served)
  const send = present === null ? 'Load' : 'Replace'
  const look = async (): Promise<void> => {
    setChecked({ source, check: await call<ModelCheck>('POST v1/admin/models/check', { body: source }) })
  }
  const load = async (isOpen: () => boolean): Promise<void> => {
    const body = { id: realId, ...source, pinned: present?.isPinned ?? false }
    await call('POST v1/admin/models', { query: { wait: 'false' }, body })
    notify(`${realId} is loading.`)
    onLoading()
    if (isOpen()) onClose()
  }
  return (
    <Dialog title={replaced === null ? 'Load a model' : `Replace ${replaced}`} onClose={onClose}>
      <DialogForm
        action={check === null ? 'Check' : send}
        closing={check === null ? 'drops it' : 'goes on'}
        isReady={checkpoint.trim() !== ''}
        onSubmit={check === null ? look : (isOpen) => during(() => load(isOpen))}
        onClose={onClose}
      >
        <TextField
          label="Checkpoint"
          hint="A .gguf file, a .safetensors file or a folder on the server, or hf:org/repo[:file.gguf]"
          required
          autocomplete="off"
          spellcheck={false}
          value={checkpoint}
          onValue={setCheckpoint}
        />
        <div class="two">
          <TextField
            label="Served as"
            placeholder={idOf(source.checkpoint) || 'its name'}
            autocomplete="off"
            disabled={replaced !== null}
            value={id}
            onValue={setId}
          />
          <SelectField
            label="Quantization"
            choices={QUANTIZATIONS}
            value={quantization}
            onValue={setQuantization}
          />
        </div>
        {present !== null && (
          <div class="note warn" role="status">
            It comes in the place of {present.id}. Everyone may use the new model: tiers, keys, fallback, tool
            format, tokenizer and draft model of the present one are not kept, and are set over the API.
          </div>
        )}
        {check !== null && <Findings check={check} />}
      </DialogForm>
    </Dialog>
  )
}

function Findings({ check }: { readonly check: ModelCheck }) {
  const { download_bytes: download, available_bytes: free } = check
  const facts = [
    ['Architecture', check.architecture || 'unknown'],
    ['Parameters', formatShort(check.parameters)],
    ['Weights', check.quantization],
    ['Size served', formatBytes(check.size_bytes)],
    ...(download > 0 ? [['To download', formatBytes(download)]] : []),
    ['Context', `${formatNumber(check.max_seq_len)} tokens`],
    ['Memory needed', formatBytes(check.needed_bytes)],
    ['Memory free', formatBytes(free)],
    ...(check.gpu === null ? [] : [['Layers on GPUs', `${check.gpu.layers} of ${check.gpu.layers_total}`]]),
  ]
  return (
    <div class="stack tight" role="status">
      {check.problem !== null && <div class="note warn">{check.problem}</div>}
      {check.fits && <div class="note">It fits.</div>}
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
