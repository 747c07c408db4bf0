/** Accounts, invitations and what admins did, for an admin. */
import { useState } from 'preact/hooks'
import { Icon } from '../../ui/icons.tsx'
import { Choices, PageHead } from '../../ui/parts.tsx'
import { Audit } from './audit.tsx'
import { Invitations } from './invitations.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { Users } from './users.tsx'

type Part = 'users' | 'invitations' | 'audit'

export default function People() {
  const [part, setPart] = useState<Part>('users')
  const [isInviting, setInviting] = useState(false)
  // Another number loads the list of invitations anew.
  const [sent, setSent] = useState(0)
  const invite = (
    <button type="button" class="button primary" onClick={() => setInviting(true)}>
      <Icon name="plus" /> Invite people
    </button>
  )
  return (
    <div class="page">
      <PageHead title="People" actions={invite}>
        Who may use this server, and how much. An invitation is a link that works once.
      </PageHead>
      <div>
        <Choices
          label="Part"
          value={part}
          choices={[
            ['users', 'Users'],
            ['invitations', 'Invitations'],
            ['audit', 'Audit trail'],
          ]}
          onValue={setPart}
        />
      </div>
      {part === 'users' && <Users />}
      {part === 'invitations' && <Invitations key={sent} invite={invite} />}
      {part === 'audit' && <Audit />}
      {isInviting && <InviteDialog onClose={() => setInviting(false)} onSent={() => setSent(sent + 1)} />}
    </div>
  )
}
