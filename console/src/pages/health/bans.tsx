/** Addresses that the firewall keeps out, and the way to let one in again. */
import { call } from '../../api/client.ts'
import type { Ban } from '../../api/types.ts'
import { formatAgo } from '../../format.ts'
import { notify } from '../../ui/announce.tsx'
import { Problem, Ready } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { useTask } from '../../ui/use-task.ts'

async function loadBans(signal: AbortSignal): Promise<readonly Ban[]> {
  return (await call<{ bans: readonly Ban[] }>('GET v1/admin/bans', { signal })).bans
}

/** @param props.count null where the firewall is off: then there is no list to ask for */
export function Bans({ count }: { readonly count: number | null }) {
  return (
    <section class="card stack tight" aria-label="Banned addresses">
      <h2>Banned addresses</h2>
      {count === null ? (
        <p class="muted">
          The firewall is off (<code>--enable-firewall</code> switches it on).
        </p>
      ) : (
        <BanList key={count} />
      )}
    </section>
  )
}

function BanList() {
  const loaded = useLoaded(loadBans, '')
  const task = useTask()
  const lift = ({ address }: Ban) =>
    task.run(async () => {
      await call(`DELETE v1/admin/bans/${encodeURIComponent(address)}`).finally(loaded.reload)
      notify(`${address} is let in again.`)
    })
  return (
    <>
      <Problem error={task.error} />
      <Ready loaded={loaded} what="the bans">
        {(bans) => {
          if (bans.length === 0) return <p class="muted">None.</p>
          return (
            <ul class="log-list">
              {bans.map((ban) => (
                <li key={ban.address}>
                  <span>
                    <code>{ban.address}</code>{' '}
                    <span class="small muted">
                      since {formatAgo(ban.since)}, ends {formatAgo(ban.until)}
                    </span>
                  </span>
                  <button type="button" class="button small" onClick={() => lift(ban)}>
                    Let in<span class="hidden-text"> {ban.address}</span>
                  </button>
                </li>
              ))}
            </ul>
          )
        }}
      </Ready>
    </>
  )
}
