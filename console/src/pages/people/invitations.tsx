/** Invitations and what became of them. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { readPages } from '../../api/pages.ts'
import type { Invitation } from '../../api/types.ts'
import { formatAgo } from '../../format.ts'
import { notify } from '../../ui/announce.tsx'
import { Empty, Problem, Ready } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { useTask } from '../../ui/use-task.ts'

interface InvitationPage {
  readonly invitations: readonly Invitation[]
  readonly next_cursor?: string | null
}

/** The latest first, which the server lists last. */
async function loadInvitations(signal: AbortSignal): Promise<readonly Invitation[]> {
  const pages = await readPages((cursor) =>
    call<InvitationPage>('GET v1/admin/invitations', { query: { limit: 1000, cursor }, signal }),
  )
  return pages.flatMap(({ invitations }) => invitations).toReversed()
}

const STATE_CLASSES = {
  pending: 'tag warn',
  accepted: 'tag good',
  expired: 'tag',
  revoked: 'tag bad',
} as const

export function Invitations({ invite }: { readonly invite: ComponentChildren }) {
  const loaded = useLoaded(loadInvitations, '')
  const task = useTask()
  const revoke = ({ id, email }: Invitation) =>
    task.run(async () => {
      await call(`DELETE v1/admin/invitations/${id}`).finally(loaded.reload)
      notify(`The invitation of ${email} is revoked.`)
    })
  return (
    <>
      <Problem error={task.error} />
      <Ready loaded={loaded} what="the invitations">
        {(all) =>
          all.length === 0 ? (
            <Empty title="No invitations yet" action={invite}>
              Paste the addresses of your team; each gets a link of its own to make an account with.
            </Empty>
          ) : (
            <InvitationTable all={all} onRevoke={revoke} />
          )
        }
      </Ready>
    </>
  )
}

interface InvitationTableProps {
  readonly all: readonly Invitation[]
  readonly onRevoke: (invitation: Invitation) => void
}

const ROWS_AT_ONCE = 200

function InvitationTable({ all, onRevoke }: InvitationTableProps) {
  const [shown, setShown] = useState(ROWS_AT_ONCE)
  return (
    <>
      <div class="table-frame folds">
        <table>
          <thead>
            <tr>
              <th scope="col">E-mail</th>
              <th scope="col">State</th>
              <th scope="col">Tier</th>
              <th scope="col">Expires</th>
              <th scope="col">
                <span class="hidden-text">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {all.slice(0, shown).map((one) => (
              <InvitationRow key={one.id} of={one} onRevoke={onRevoke} />
            ))}
          </tbody>
        </table>
      </div>
      {shown < all.length && (
        <button type="button" class="button wide" onClick={() => setShown(shown + ROWS_AT_ONCE)}>
          More
          <span class="hidden-text"> invitations</span>
        </button>
      )}
    </>
  )
}

function InvitationRow({
  of: one,
  onRevoke,
}: Omit<InvitationTableProps, 'all'> & { readonly of: Invitation }) {
  return (
    <tr>
      <th scope="row">{one.email}</th>
      <td data-label="State">
        <span class={STATE_CLASSES[one.state]}>{one.state}</span>
      </td>
      <td data-label="Tier">
        {one.tier}
        {one.role === 'admin' && ', admin'}
      </td>
      <td data-label="Expires">{one.state === 'pending' ? formatAgo(one.expires_at) : '–'}</td>
      <td class="actions">
        {one.state === 'pending' && (
          <button type="button" class="button small danger" onClick={() => onRevoke(one)}>
            Revoke<span class="hidden-text"> the invitation of {one.email}</span>
          </button>
        )}
      </td>
    </tr>
  )
}
