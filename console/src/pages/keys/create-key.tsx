/** A new key: what it is for and how far it goes, then its secret, once. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm } from '../../ui/dialog-form.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Secret } from '../../ui/parts.tsx'

const EXPIRIES = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]

interface CreateKeyProps {
  readonly onClose: () => void
  readonly onCreated: () => void
}

export function CreateKey({ onClose, onCreated }: CreateKeyProps) {
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <Dialog title={secret === null ? 'New key' : 'Your new key'} onClose={onClose}>
      {secret === null ? (
        <CreateForm
          onClose={onClose}
          onSecret={(made) => {
            setSecret(made)
            onCreated()
          }}
        />
      ) : (
        <>
          <p role="status">Copy it now. It is not shown again, and the server keeps only a hash of it.</p>
          <Secret text={secret} />
          <div class="row end">
            <button type="button" class="button primary" onClick={onClose}>
              Done
            </button>
          </div>
        </>
      )}
    </Dialog>
  )
}

interface CreateFormProps {
  readonly onClose: () => void
  readonly onSecret: (secret: string) => void
}

const toNumber = (text: string) => (text.trim() === '' ? null : Number(text))

function CreateForm({ onClose, onSecret }: CreateFormProps) {
  const [name, setName] = useState('')
  const [expiry, setExpiry] = useState('')
  const [daily, setDaily] = useState('')
  const [monthly, setMonthly] = useState('')
  const create = async (): Promise<void> => {
    const body = {
      ...{ name, expires_in_days: toNumber(expiry) },
      ...{ daily_token_budget: toNumber(daily), monthly_token_budget: toNumber(monthly) },
    }
    onSecret((await call<{ key: string }>('POST v1/keys', { body })).key)
  }
  return (
    <DialogForm action="Make the key" onSubmit={create} onClose={onClose}>
      <TextField label="Name" hint="What it is for" maxLength={64} value={name} onValue={setName} />
      <SelectField label="Expires" choices={EXPIRIES} value={expiry} onValue={setExpiry} />
      <div class="two">
        <Budget label="Tokens a day" value={daily} onValue={setDaily} />
        <Budget label="Tokens a month" value={monthly} onValue={setMonthly} />
      </div>
    </DialogForm>
  )
}

interface BudgetProps {
  readonly label: string
  readonly value: string
  readonly onValue: (text: string) => void
}

function Budget(props: BudgetProps) {
  return (
    <TextField {...props} type="number" min={1} step={1} placeholder="no limit" hint="In and out together" />
  )
}
