/** The session's own settings: display, password, sign-out. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { formatDateTime } from '../../format.ts'
import { entry, session, signOut } from '../../session.ts'
import { notify } from '../../ui/announce.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useHold } from '../../ui/dialog-hold.ts'
import { TextField } from '../../ui/field.tsx'
import { Problem } from '../../ui/states.tsx'
import { ThemeChoice } from '../../ui/theme-choice.tsx'
import { useTask } from '../../ui/use-task.ts'

export function AccountDialog({ onClose }: { readonly onClose: () => void }) {
  const task = useTask()
  const current = session.value
  if (current === null) return null
  return (
    <Dialog title="Account and display" onClose={onClose}>
      <div class="stack tight">
        <h3>Display</h3>
        <ThemeChoice />
      </div>
      {current.kind === 'account' && <PasswordForm />}
      {current.kind === 'guest' && (
        <div class="note">
          <span>You are here as a guest.</span>
          <button type="button" class="button small" onClick={() => (entry.value = { kind: 'welcome' })}>
            Make the admin account
          </button>
        </div>
      )}
      {current.kind === 'open' ? (
        <p class="muted">This server runs without sign-in: everyone who reaches it may use it.</p>
      ) : (
        <div class="row apart">
          <span class="small muted">
            {current.expires_at !== null && `This session ends ${formatDateTime(current.expires_at)}.`}
          </span>
          <button type="button" class="button" disabled={task.isBusy} onClick={() => task.run(signOut)}>
            Sign out
          </button>
        </div>
      )}
      <Problem error={task.error} />
    </Dialog>
  )
}

function PasswordForm() {
  const [now, setNow] = useState('')
  const [next, setNext] = useState('')
  const task = useTask()
  useHold(task.isBusy)
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault()
        task.run(async () => {
          await call('POST v1/auth/password', { body: { current_password: now, new_password: next } })
          setNow('')
          setNext('')
          notify('The password is changed; all other sessions have ended.')
        })
      }}
    >
      <h3>Change the password</h3>
      <div class="two">
        <TextField
          label="Present password"
          type="password"
          autocomplete="current-password"
          required
          value={now}
          onValue={setNow}
        />
        <TextField
          label="New password"
          type="password"
          autocomplete="new-password"
          required
          minLength={8}
          value={next}
          onValue={setNext}
        />
      </div>
      <Problem error={task.error} />
      <div>
        <button type="submit" class="button" disabled={task.isBusy}>
          Change
        </button>
      </div>
    </form>
  )
}
