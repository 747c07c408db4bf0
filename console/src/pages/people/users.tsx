/** All accounts: tier, role, disabled or not, deleted. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { readPages } from '../../api/pages.ts'
import { TIERS, type User } from '../../api/types.ts'
import { formatDate, plural } from '../../format.ts'
import { session } from '../../session.ts'
import { notify } from '../../ui/announce.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Problem, Ready } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { useTask } from '../../ui/use-task.ts'

interface UserPage {
  readonly users: readonly User[]
  readonly next_cursor?: string | null
}

/** All of them: the server finds a whole address only, and the search a part of one. */
async function loadUsers(signal: AbortSignal): Promise<readonly User[]> {
  const pages = await readPages((cursor) =>
    call<UserPage>('GET v1/admin/users', { query: { limit: 1000, cursor }, signal }),
  )
  return pages.flatMap(({ users }) => users)
}

/** More are found by their address. */
const MAX_SHOWN = 200

export function Users() {
  const [wanted, setWanted] = useState('')
  const [asked, setAsked] = useState<{ kind: 'disable' | 'delete'; user: User } | null>(null)
  const task = useTask()
  const loaded = useLoaded(loadUsers, '')
  const change = (user: User, body: Partial<Pick<User, 'tier' | 'role' | 'disabled'>>, said: string) =>
    task.run(async () => {
      // Shown as it is on the server, also when that refused.
      await call(`PATCH v1/admin/users/${user.user_id}`, { body }).finally(loaded.reload)
      notify(said)
    })
  return (
    <>
      <input
        class="input search"
        type="search"
        aria-label="Find by e-mail"
        placeholder="Find by e-mail"
        value={wanted}
        onInput={(event) => setWanted(event.currentTarget.value)}
      />
      <Problem error={task.error} />
      <Ready loaded={loaded} what="the users">
        {(users) => {
          const found = users.filter(({ email }) => email.toLowerCase().includes(wanted.trim().toLowerCase()))
          return (
            <>
              <UserTable users={found.slice(0, MAX_SHOWN)} onChange={change} onAsk={setAsked} />
              <p class="small muted" role="status">
                {wanted.trim() === '' ? '' : `${found.length} of `}
                {plural(users.length, 'user')}
                {found.length > MAX_SHOWN && `, the first ${MAX_SHOWN} shown`}
              </p>
            </>
          )
        }}
      </Ready>
      {asked !== null && (
        <Confirm
          title={`${asked.kind === 'delete' ? 'Delete' : 'Disable'} ${asked.user.email}?`}
          action={asked.kind === 'delete' ? 'Delete' : 'Disable'}
          onClose={() => setAsked(null)}
          onConfirm={async () => {
            const path = `v1/admin/users/${asked.user.user_id}`
            if (asked.kind === 'delete') await call(`DELETE ${path}`)
            else await call(`PATCH ${path}`, { body: { disabled: true } })
            notify(asked.kind === 'delete' ? 'The account is deleted.' : 'The account is disabled.')
            loaded.reload()
          }}
        >
          {asked.kind === 'delete'
            ? 'Its keys and sessions end now, and the account is gone. What it used stays counted.'
            : 'Its keys and sessions end now. The account can be enabled again, and then has the same keys.'}
        </Confirm>
      )}
    </>
  )
}

interface UserTableProps {
  readonly users: readonly User[]
  readonly onChange: (
    user: User,
    body: Partial<Pick<User, 'tier' | 'role' | 'disabled'>>,
    said: string,
  ) => void
  readonly onAsk: (asked: { kind: 'disable' | 'delete'; user: User }) => void
}

function UserTable({ users, ...actions }: UserTableProps) {
  return (
    <div class="table-frame folds">
      <table>
        <thead>
          <tr>
            <th scope="col">E-mail</th>
            <th scope="col">Tier</th>
            <th scope="col">Role</th>
            <th scope="col">Since</th>
            <th scope="col">
              <span class="hidden-text">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {users.map((user) => (
            <UserRow key={user.user_id} user={user} {...actions} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function UserRow({ user, onChange, onAsk }: Omit<UserTableProps, 'users'> & { readonly user: User }) {
  const isSelf = user.user_id === session.value?.user_id
  return (
    <tr>
      <th scope="row">
        {user.email} {isSelf && <span class="tag">you</span>}{' '}
        {user.disabled && <span class="tag bad">disabled</span>}
      </th>
      <td data-label="Tier">
        <select
          class="input compact"
          aria-label={`Tier of ${user.email}`}
          value={user.tier}
          onChange={({ currentTarget: { value } }) => {
            const tier = TIERS.find((one) => one === value)
            if (tier !== undefined) onChange(user, { tier }, `${user.email} is ${tier}.`)
          }}
        >
          {TIERS.map((tier) => (
            <option key={tier}>{tier}</option>
          ))}
        </select>
      </td>
      <td data-label="Role">
        <select
          class="input compact"
          aria-label={`Role of ${user.email}`}
          value={user.role}
          onChange={({ currentTarget: { value } }) =>
            onChange(
              user,
              { role: value === 'admin' ? 'admin' : 'user' },
              `${user.email} has the role ${value}.`,
            )
          }
        >
          <option>user</option>
          <option>admin</option>
        </select>
      </td>
      <td data-label="Since">{formatDate(user.created_at)}</td>
      <td class="actions">
        {user.disabled ? (
          <button
            type="button"
            class="button small"
            onClick={() => onChange(user, { disabled: false }, `${user.email} is enabled.`)}
          >
            Enable<span class="hidden-text"> {user.email}</span>
          </button>
        ) : (
          <button type="button" class="button small" onClick={() => onAsk({ kind: 'disable', user })}>
            Disable<span class="hidden-text"> {user.email}</span>
          </button>
        )}{' '}
        <button type="button" class="button small danger" onClick={() => onAsk({ kind: 'delete', user })}>
          Delete<span class="hidden-text"> {user.email}</span>
        </button>
      </td>
    </tr>
  )
}
