/** The account's own keys: how much of their limits is used, new ones, other names, and revocation. */
import { useState } from 'preact/hooks'
import { call, rateLimit } from '../../api/client.ts'
import type { ApiKey } from '../../api/types.ts'
import { formatAgo, formatDate, formatShort } from '../../format.ts'
import { session } from '../../session.ts'
import { notify } from '../../ui/announce.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Meter, PageHead } from '../../ui/parts.tsx'
import { Empty, Ready } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { CreateKey } from './create-key.tsx'
import { RenameKey } from './rename-key.tsx'

type Open = { readonly kind: 'create' } | { readonly kind: 'rename' | 'revoke'; readonly key: ApiKey } | null

const loadKeys = async (signal: AbortSignal) =>
  (await call<{ keys: readonly ApiKey[] }>('GET v1/keys', { signal })).keys

export default function Keys() {
  const [open, setOpen] = useState<Open>(null)
  const loaded = useLoaded(loadKeys, '')
  const close = () => setOpen(null)
  const create = (
    <button type="button" class="button primary" onClick={() => setOpen({ kind: 'create' })}>
      <Icon name="plus" /> New key
    </button>
  )
  return (
    <div class="page">
      <PageHead title="Keys" actions={create}>
        A key lets a program use this server in your name. Its secret is shown once, when it is made.
      </PageHead>
      <Ready loaded={loaded} what="your keys">
        {(keys) => (
          <>
            <Allowance />
            <KeyList keys={keys} onOpen={setOpen} create={create} />
          </>
        )}
      </Ready>
      {open?.kind === 'create' && <CreateKey onClose={close} onCreated={loaded.reload} />}
      {open?.kind === 'rename' && <RenameKey of={open.key} onClose={close} onRenamed={loaded.reload} />}
      {open?.kind === 'revoke' && (
        <Confirm
          title={`Revoke “${nameOf(open.key)}”?`}
          action="Revoke"
          onClose={close}
          onConfirm={async () => {
            await call(`DELETE v1/keys/${open.key.id}`)
            notify('The key is revoked.')
            loaded.reload()
          }}
        >
          Programs that use <code>{open.key.key_prefix}…</code> are refused from this moment on. This cannot
          be undone.
        </Confirm>
      )}
    </div>
  )
}

const nameOf = ({ name, key_prefix: prefix }: ApiKey) => (name === '' ? `${prefix}…` : name)

/** Of the session that this page has. */
function Allowance() {
  const limit = rateLimit.value
  return (
    <section class="card" aria-label="Your tier">
      <div class="meters">
        <dl class="stat">
          <dt>Your tier</dt>
          <dd>{session.value?.tier}</dd>
        </dl>
        {limit !== null && (
          <Meter
            label="This page, this minute"
            used={limit.limit - limit.remaining}
            max={limit.limit}
            format={formatShort}
          />
        )}
      </div>
    </section>
  )
}

interface KeyListProps {
  readonly keys: readonly ApiKey[]
  readonly onOpen: (open: Open) => void
  readonly create: preact.ComponentChildren
}

function KeyList({ keys, onOpen, create }: KeyListProps) {
  const active = keys.filter((key) => key.is_active)
  const ended = keys.filter((key) => !key.is_active)
  if (keys.length === 0) {
    return (
      <Empty title="No keys yet" action={create}>
        Make one to call this server from a program: any client of OpenAI's or Anthropic's API works with it.
      </Empty>
    )
  }
  return (
    <>
      <div class="key-list">
        {active.map((key) => (
          <KeyCard key={key.id} of={key} onOpen={onOpen} />
        ))}
      </div>
      {ended.length > 0 && (
        <details>
          <summary>Revoked and expired ({ended.length})</summary>
          <ul class="plain-list">
            {ended.map((key) => (
              <li key={key.id} class="ended-key">
                <span>{nameOf(key)}</span>
                <span class="small muted">
                  <code>{key.key_prefix}…</code>, made {formatDate(key.created_at)}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

function KeyCard({ of: key, onOpen }: { readonly of: ApiKey; readonly onOpen: (open: Open) => void }) {
  const { requests_this_minute: requests, open_requests: running } = key
  return (
    <article class="card key" aria-label={`Key ${nameOf(key)}`}>
      <div class="row apart">
        <div>
          <h2>{nameOf(key)}</h2>
          <p class="small muted">
            <code>{key.key_prefix}…</code> {key.tier}, made {formatDate(key.created_at)}
          </p>
        </div>
        <div class="row">
          <button type="button" class="button small" onClick={() => onOpen({ kind: 'rename', key })}>
            Rename<span class="hidden-text"> {nameOf(key)}</span>
          </button>
          <button type="button" class="button small danger" onClick={() => onOpen({ kind: 'revoke', key })}>
            Revoke<span class="hidden-text"> {nameOf(key)}</span>
          </button>
        </div>
      </div>
      <dl class="facts">
        <div>
          <dt>Last used</dt>
          <dd>{key.last_used === null ? 'Never' : formatAgo(key.last_used)}</dd>
        </div>
        <div>
          <dt>Expires</dt>
          <dd>{key.expires_at === null ? 'Never' : formatDate(key.expires_at)}</dd>
        </div>
      </dl>
      <div class="meters">
        <Meter label="Requests this minute" used={requests} max={key.rate_limit_rpm} format={formatShort} />
        <Meter label="Requests at once" used={running} max={key.max_concurrent_requests} />
        {key.budgets.map(({ period, spent_tokens: spent, max_tokens: max, resets_at: resets }) => (
          <Meter
            key={period}
            label={period === 'day' ? 'Tokens today' : 'Tokens this month'}
            used={spent}
            max={max}
            format={formatShort}
            note={`Begins again ${formatAgo(resets)}`}
          />
        ))}
      </div>
    </article>
  )
}
