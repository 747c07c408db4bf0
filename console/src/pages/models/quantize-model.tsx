/** Quantizes a model from its full-precision source; the result is measured, and serves under the same id. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { formatBytes, formatNumber } from '../../format.ts'
import { notify } from '../../ui/announce.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm } from '../../ui/dialog-form.tsx'

/** Perplexity against the source, as docs/quantization.md measured it. */
const MODES = [
  {
    value: 'int8',
    name: 'int8',
    hint: 'About half the size. Perplexity of the bundled model: +0.05 %.',
  },
  {
    value: 'fp8',
    name: 'fp8',
    hint: 'About half the size. Perplexity of the bundled model: +1.49 %.',
  },
  {
    value: 'int4',
    name: 'int4',
    hint: 'About a third of the size. Perplexity of the bundled model: +3.45 %.',
  },
  { value: 'none', name: 'Not quantized', hint: 'Serves the source as it is again.' },
] as const

const BYTES_PER_MB = 1_000_000

interface Result {
  readonly quant_mode: string
  readonly layers_quantized: number
  readonly size_mb: number
}

interface QuantizeModelProps {
  readonly id: string
  readonly onClose: () => void
  readonly onDone: () => void
}

export function QuantizeModel({ id, onClose, onDone }: QuantizeModelProps) {
  const [mode, setMode] = useState<string>('int8')
  const [result, setResult] = useState<Result | null>(null)
  const quantize = async (isOpen: () => boolean): Promise<void> => {
    const query = { model_id: id, quant_mode: mode }
    const made = await call<Result>('POST v1/models/quantize', { query })
    onDone()
    if (isOpen()) setResult(made)
    else notify(`${id} is quantized: ${describeResult(made)}.`)
  }
  return (
    <Dialog title={`Quantize ${id}`} onClose={onClose}>
      <DialogForm
        action="Quantize"
        cancel={result === null ? 'Cancel' : 'Close'}
        closing="goes on"
        busyText="Quantizing. The model goes on answering meanwhile."
        onSubmit={quantize}
        onClose={onClose}
      >
        <fieldset class="plain-fieldset">
          <legend class="hidden-text">Format</legend>
          {MODES.map(({ value, name, hint }) => (
            <label class="option" key={value}>
              <input
                type="radio"
                name="mode"
                value={value}
                checked={mode === value}
                onChange={() => setMode(value)}
              />
              <span>
                <strong>{name}</strong>
                <br />
                <span class="small muted">{hint}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <div role="status">{result !== null && <div class="note">Done: {describeResult(result)}.</div>}</div>
      </DialogForm>
    </Dialog>
  )
}

const describeResult = ({ size_mb: size, quant_mode: mode, layers_quantized: count }: Result) =>
  `${formatBytes(size * BYTES_PER_MB)} as ${mode}, ${formatNumber(count)} matrices changed`
