import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import type { ApiKey } from '../../api/types.ts'
import { notify } from '../../ui/announce.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Problem } from '../../ui/states.tsx'
import { useTask } from '../../ui/use-task.ts'

interface RenameKeyProps {
  readonly of: ApiKey
  readonly onClose: () => void
  readonly onRenamed: () => void
}

export function RenameKey({ of: key, onClose, onRenamed }: RenameKeyProps) {
  const [name, setName] = useState(key.name)
  const task = useTask()
  const rename = async (): Promise<void> => {
    await call(`PATCH v1/keys/${key.id}`, { body: { name } })
    notify('The key has its new name.')
    onRenamed()
    onClose()
  }
  return (
    <Dialog title="Rename the key" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          task.run(rename)
        }}
      >
        <TextField label="Name" maxLength={100} value={name} onValue={setName} />
        <Problem error={task.error} />
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={task.isBusy}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  )
}
