/** Loads a model from the server's disk or the hub, in the place of another where it has the same id; what it needs is shown before. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import type { Gpu, Model } from '../../api/types.ts'
import { formatBytes, formatNumber, formatShort } from '../../format.ts'
import { notify } from '../../ui/announce.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm } from '../../ui/dialog-form.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { idOf } from './model-id.ts'

interface Check {
  readonly architecture: string
  readonly parameters: number
  readonly quantization: string
  readonly size_bytes: number
  readonly download_bytes: number
  readonly max_seq_len: number
  readonly needed_bytes: number
  readonly available_bytes: number
  readonly gpu: Gpu | null
  readonly fits: boolean
  readonly problem: string | null
}

const QUANTIZATIONS = [
  { value: 'none', label: 'As it is' },
  { value: 'int8', label: 'int8' },
  { value: 'int4', label: 'int4' },
  { value: 'fp8', label: 'fp8' },
]

interface LoadModelProps {
  /** The model in whose place it comes; null for one more. */
  readonly replaced: Model | null
  readonly onClose: () => void
  readonly onLoading: () => void
}

export function LoadModel({ replaced, onClose, onLoading }: LoadModelProps) {
  const [checkpoint, setCheckpoint] = useState('')
  const [id, setId] = useState(replaced?.id ?? '')
  const [quantization, setQuantization] = useState('none')
  const [check, setCheck] = useState<Check | null>(null)
  const realId = id.trim() === '' ? idOf(checkpoint.trim()) : id.trim()
  const look = async (): Promise<void> => {
    const body = { checkpoint: checkpoint.trim(), quantization }
    setCheck(await call<Check>('POST v1/admin/models/check', { body }))
  }
  const load = async (): Promise<void> => {
    const { pinned = false } = replaced?.meta ?? {}
    const body = { id: realId, checkpoint: checkpoint.trim(), quantization, pinned }
    await call('POST v1/admin/models', { query: { wait: 'false' }, body })
    notify(`${realId} is loading.`)
    onLoading()
    onClose()
  }
  return (
    <Dialog title={replaced === null ? 'Load a model' : `Replace ${replaced.id}`} onClose={onClose}>
      <DialogForm
        action={check === null ? 'Check' : 'Load'}
        isReady={checkpoint.trim() !== ''}
        onSubmit={check === null ? look : load}
        onClose={onClose}
      >
        <TextField
          label="Checkpoint"
          hint="A .gguf file, a .safetensors file or a folder on the server, or hf:org/repo[:file.gguf]"
          required
          autocomplete="off"
          spellcheck={false}
          value={checkpoint}
          onValue={(text) => {
            setCheckpoint(text)
            setCheck(null)
          }}
        />
        <div class="two">
          <TextField
            label="Served as"
            placeholder={idOf(checkpoint.trim()) || 'its name'}
            autocomplete="off"
            disabled={replaced !== null}
            value={id}
            onValue={setId}
          />
          <SelectField
            label="Quantization"
            choices={QUANTIZATIONS}
            value={quantization}
            onValue={(mode) => {
              setQuantization(mode)
              setCheck(null)
            }}
          />
        </div>
        {replaced !== null && (
          <div class="note warn">
            Everyone may use the new model: tiers, keys, fallback, tool format, tokenizer and draft model of
            the present one are not kept, and are set over the API.
          </div>
        )}
        {check !== null && <Findings check={check} />}
      </DialogForm>
    </Dialog>
  )
}

function Findings({ check }: { readonly check: Check }) {
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
