/** Invitations and what became of them. */
import type { ComponentChildren } from 'preact'
import { call } from '../../api/client.ts'
import type { Invitation } from '../../api/types.ts'
import { formatAgo } from '../../format.ts'
import { notify } from '../../ui/announce.tsx'
import { Empty, Problem, Ready } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { useTask } from '../../ui/use-task.ts'

const loadInvitations = async (signal: AbortSignal) =>
  (
    await call<{ invitations: readonly Invitation[] }>('GET v1/admin/invitations', {
      query: { limit: 1000 },
      signal,
    })
  ).invitations

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
                  {all.toReversed().map((one) => (
                    <tr key={one.id}>
                      <th scope="row">{one.email}</th>
                      <td data-label="State">
                        <span class={STATE_CLASSES[one.state]}>{one.state}</span>
                      </td>
                      <td data-label="Tier">
                        {one.tier}
                        {one.role === 'admin' && ', admin'}
                      </td>
                      <td data-label="Expires">
                        {one.state === 'pending' ? formatAgo(one.expires_at) : '–'}
                      </td>
                      <td class="actions">
                        {one.state === 'pending' && (
                          <button type="button" class="button small danger" onClick={() => revoke(one)}>
                            Revoke<span class="hidden-text"> the invitation of {one.email}</span>
                          </button>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Ready>
    </>
  )
}
