import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import type { ApiKey } from '../../api/types.ts'
import { notify } from '../../ui/announce.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm } from '../../ui/dialog-form.tsx'
import { TextField } from '../../ui/field.tsx'

interface RenameKeyProps {
  readonly of: ApiKey
  readonly onClose: () => void
  readonly onRenamed: () => void
}

export function RenameKey({ of: key, onClose, onRenamed }: RenameKeyProps) {
  const [name, setName] = useState(key.name)
  const rename = async (): Promise<void> => {
    await call(`PATCH v1/keys/${key.id}`, { body: { name } })
    notify('The key has its new name.')
    onRenamed()
    onClose()
  }
  return (
    <Dialog title="Rename the key" onClose={onClose}>
      <DialogForm action="Rename" onSubmit={rename} onClose={onClose}>
        <TextField label="Name" maxLength={64} value={name} onValue={setName} />
      </DialogForm>
    </Dialog>
  )
}
