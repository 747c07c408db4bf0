/** Invites up to 100 addresses at once; each link is shown here and nowhere again. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { type Invitation, TIERS } from '../../api/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm } from '../../ui/dialog-form.tsx'
import { SelectField, TextAreaField, toChoices } from '../../ui/field.tsx'
import { Icon } from '../../ui/icons.tsx'
import { CopyButton, download } from '../../ui/parts.tsx'
import { describeAddresses, findOthers, readAddresses } from './addresses.ts'

interface Invited {
  readonly invitations: readonly (Invitation & { readonly link_path: string })[]
  readonly errors: readonly { readonly email: string; readonly detail: string }[]
}

interface InviteDialogProps {
  readonly onClose: () => void
  readonly onSent: () => void
}

export function InviteDialog({ onClose, onSent }: InviteDialogProps) {
  const [invited, setInvited] = useState<Invited | null>(null)
  return (
    <Dialog title={invited === null ? 'Invite people' : 'Links to pass on'} onClose={onClose}>
      {invited === null ? (
        <InviteForm
          onClose={onClose}
          onInvited={(given) => {
            setInvited(given)
            onSent()
          }}
        />
      ) : (
        <Links invited={invited} onClose={onClose} />
      )}
    </Dialog>
  )
}

const MAX_ADDRESSES = 100
const EXPIRIES = [
  { value: '1', label: 'In a day' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
]

interface InviteFormProps {
  readonly onClose: () => void
  readonly onInvited: (invited: Invited) => void
}

function InviteForm({ onClose, onInvited }: InviteFormProps) {
  const [text, setText] = useState('')
  const [tier, setTier] = useState('free')
  const [role, setRole] = useState('user')
  const [days, setDays] = useState('7')
  const emails = readAddresses(text)
  const problem =
    emails.length > MAX_ADDRESSES
      ? `At most ${MAX_ADDRESSES} addresses at once; these are ${emails.length}.`
      : null
  const send = async (): Promise<void> => {
    const body = { emails, tier, role, expires_in_days: Number(days) }
    onInvited(await call<Invited>('POST v1/admin/invitations', { body }))
  }
  return (
    <DialogForm
      action="Make the links"
      isReady={emails.length > 0 && problem === null}
      onSubmit={send}
      onClose={onClose}
    >
      <TextAreaField
        label="E-mail addresses"
        hint={describeAddresses(emails, findOthers(text))}
        problem={problem}
        rows={6}
        required
        value={text}
        onValue={setText}
      />
      <div class="two">
        <SelectField label="Tier" choices={toChoices(TIERS)} value={tier} onValue={setTier} />
        <SelectField label="Role" choices={toChoices(['user', 'admin'])} value={role} onValue={setRole} />
        <SelectField label="Links expire" choices={EXPIRIES} value={days} onValue={setDays} />
      </div>
    </DialogForm>
  )
}

function Links({
  invited: { invitations, errors },
  onClose,
}: {
  readonly invited: Invited
  readonly onClose: () => void
}) {
  const links = invitations.map(({ email, link_path: path }) => ({
    email,
    url: new URL(path, document.baseURI).href,
  }))
  const all = links.map(({ email, url }) => `${email}\t${url}`).join('\n')
  return (
    <>
      <p role="status">
        {links.length === 0
          ? 'No invitation was made.'
          : 'Send each link to its address. They are shown here only; an open invitation can be revoked and made again.'}
      </p>
      {errors.length > 0 && (
        <div class="note bad" role="alert">
          <ul class="log-list">
            {errors.map(({ email, detail }) => (
              <li key={email}>
                {email}: {detail}
              </li>
            ))}
          </ul>
        </div>
      )}
      <ul class="stack tight bare-list">
        {links.map(({ email, url }) => (
          <li key={email} class="secret">
            <span>
              <strong>{email}</strong>
              <br />
              <code class="small">{url}</code>
            </span>
            <CopyButton text={url} />
          </li>
        ))}
      </ul>
      <div class="row end">
        {links.length > 1 && (
          <>
            <CopyButton text={all} label="Copy all" />
            <button
              type="button"
              class="button small"
              onClick={() => download('invitations.tsv', all, 'text/plain')}
            >
              <Icon name="download" size={16} /> Save all
            </button>
          </>
        )}
        <button type="button" class="button primary" onClick={onClose}>
          Done
        </button>
      </div>
    </>
  )
}
