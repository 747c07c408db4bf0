/** Loads a model from the server's disk or the hub, in the place of another where it has the same id; what it needs is shown before. */
import { useState } from 'preact/hooks'
import { ApiError, call } from '../../api/client.ts'
import { formatBytes, formatShort } from '../../format.ts'
import { notify } from '../../ui/announce.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Problem } from '../../ui/states.tsx'
import { useTask } from '../../ui/use-task.ts'

interface Check {
  readonly size_bytes?: number | null
  readonly parameters?: number | null
  readonly quantization?: string | null
  readonly architecture?: string | null
  readonly needed_bytes?: number | null
  readonly available_bytes?: number | null
  readonly fits?: boolean | null
}

const QUANTIZATIONS = [
  { value: 'none', label: 'As it is' },
  { value: 'int8', label: 'int8' },
  { value: 'int4', label: 'int4' },
  { value: 'fp8', label: 'fp8' },
]

/** Of the file or folder, without what every checkpoint of its kind has in its name. */
const idOf = (checkpoint: string) =>
  (checkpoint.replace(/^hf:/, '').replace(/\/+$/, '').split(/[/:]/).at(-1) ?? '').replace(
    /\.(?:gguf|safetensors)$/i,
    '',
  )

interface LoadModelProps {
  /** The id of the model in whose place it comes; null for one more. */
  readonly replaced: string | null
  readonly onClose: () => void
  readonly onLoading: () => void
}

export function LoadModel({ replaced, onClose, onLoading }: LoadModelProps) {
  const [checkpoint, setCheckpoint] = useState('')
  const [id, setId] = useState(replaced ?? '')
  const [quantization, setQuantization] = useState('none')
  const [check, setCheck] = useState<Check | null>(null)
  const task = useTask()
  const realId = id.trim() === '' ? idOf(checkpoint.trim()) : id.trim()
  const look = async (): Promise<void> => setCheck(await checkModel(checkpoint.trim()))
  const load = async (): Promise<void> => {
    const body = { id: realId, checkpoint: checkpoint.trim(), quantization }
    await call('POST v1/admin/models', { query: { wait: 'false' }, body })
    notify(`${realId} is loading.`)
    onLoading()
    onClose()
  }
  return (
    <Dialog title={replaced === null ? 'Load a model' : `Replace ${replaced}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          task.run(check === null ? look : load)
        }}
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
            onValue={setQuantization}
          />
        </div>
        {check !== null && <Findings check={check} />}
        <Problem error={task.error} />
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={task.isBusy || checkpoint.trim() === ''}>
            {task.isBusy && <span class="spinner" />}
            {check === null ? 'Check' : 'Load'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** A server that cannot look beforehand finds out while it loads. */
async function checkModel(checkpoint: string): Promise<Check> {
  try {
    return await call<Check>('POST v1/admin/models/check', { body: { checkpoint } })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && error.code === 'not_found') return {}
    throw error
  }
}

function Findings({ check }: { readonly check: Check }) {
  const {
    size_bytes: size,
    parameters,
    quantization,
    architecture,
    needed_bytes: needed,
    available_bytes: free,
  } = check
  const facts = [
    ...(architecture ? [['Architecture', architecture]] : []),
    ...(typeof parameters === 'number' ? [['Parameters', formatShort(parameters)]] : []),
    ...(quantization ? [['Weights', quantization]] : []),
    ...(typeof size === 'number' ? [['Size', formatBytes(size)]] : []),
    ...(typeof needed === 'number' ? [['Memory needed', formatBytes(needed)]] : []),
    ...(typeof free === 'number' ? [['Memory free', formatBytes(free)]] : []),
  ]
  return (
    <div class="stack tight" role="status">
      {check.fits === false && <div class="note warn">It does not fit into the memory that is free.</div>}
      {check.fits === true && <div class="note">It fits.</div>}
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
