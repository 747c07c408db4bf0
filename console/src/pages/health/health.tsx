/** Whether the server is well, and what it refused: for an admin who is asked why something did not work. */
import type { ComponentChildren } from 'preact'
import { isLive, type ServerStatus, status, statusError, useStatus } from '../../api/status.ts'
import { formatAgo, formatBytes, formatDate, formatDuration, formatNumber } from '../../format.ts'
import { PageHead } from '../../ui/parts.tsx'
import { Loading, Problem } from '../../ui/states.tsx'
import { Bans } from './bans.tsx'

export default function Health() {
  useStatus()
  const current = status.value
  return (
    <div class="page">
      <PageHead title="Health">How the server is this second, and what it refused since it started.</PageHead>
      {!isLive.value && <Problem error={statusError.value} />}
      {current === null ? (
        statusError.value === null && <Loading what="the status" />
      ) : (
        <Facts current={current} />
      )}
      <Bans />
    </div>
  )
}

const LOW_DISK_BYTES = 2_000_000_000
const SOON_SECONDS = 14 * 86_400

function Facts({ current }: { readonly current: ServerStatus }) {
  const { why_not_ready: problem, disk_free_bytes: disk, certificate_expires_at: expiry = null } = current
  const isExpiring = expiry !== null && expiry - Date.now() / 1000 < SOON_SECONDS
  return (
    <>
      {problem !== null && <div class="note bad">{problem}</div>}
      {disk !== null && disk < LOW_DISK_BYTES && (
        <div class="note warn">Only {formatBytes(disk)} are free on the disk of the data folder.</div>
      )}
      {isExpiring && <div class="note warn">The TLS certificate expires {formatAgo(expiry)}.</div>}
      <div class="cards">
        <Stat name="State">{problem === null ? 'Ready' : 'Not ready'}</Stat>
        <Stat name="Running since">{formatDuration(current.uptime_seconds)}</Stat>
        <Stat name="Waiting">{formatNumber(sum(Object.values(current.queue)))}</Stat>
        <Stat name="Memory">{formatBytes(current.memory_bytes)}</Stat>
        {disk !== null && <Stat name="Disk free">{formatBytes(disk)}</Stat>}
        {expiry !== null && <Stat name="Certificate until">{formatDate(expiry)}</Stat>}
      </div>
      <Engines current={current} />
      <div class="plots">
        <Answers current={current} />
        <Guards current={current} />
      </div>
      <LastErrors current={current} />
      <p class="small muted">
        Interface version {current.version}
        {typeof current.data_dir === 'string' && (
          <>
            , data in <code>{current.data_dir}</code>
          </>
        )}
        {Object.entries(current.databases ?? {}).map(([name, kind]) => `, ${name} in ${kind}`)}
      </p>
    </>
  )
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

function Stat({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <dl class="card stat">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </dl>
  )
}

function Engines({ current: { models } }: { readonly current: ServerStatus }) {
  return (
    <section class="stack tight">
      <h2>Engines</h2>
      <div class="table-frame folds">
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Ready
              </th>
              <th scope="col" class="number">
                Restarts
              </th>
            </tr>
          </thead>
          <tbody>
            {models.map(({ id, state, replicas, replicas_ready: ready, engine_deaths: deaths }) => (
              <tr key={id}>
                <th scope="row">{id}</th>
                <td data-label="State">
                  <span class={state === 'ready' ? 'tag good' : state === 'failed' ? 'tag bad' : 'tag warn'}>
                    {state}
                  </span>
                </td>
                <td class="number" data-label="Ready">
                  {replicas === null ? '–' : `${ready ?? 0} of ${replicas}`}
                </td>
                <td class="number" data-label="Restarts">
                  {formatNumber(deaths)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const STATUS_MEANINGS: Readonly<Record<string, string>> = {
  200: 'answered',
  400: 'wrong request',
  401: 'no valid key',
  403: 'not allowed, or banned',
  404: 'does not exist',
  409: 'in conflict',
  429: 'over a limit',
  499: 'the client left',
  500: 'failed here',
  503: 'not ready',
}

function Answers({ current: { requests, refusals } }: { readonly current: ServerStatus }) {
  const byStatus = Object.entries(requests).sort(([one], [other]) => one.localeCompare(other))
  const byCode = Object.entries(refusals ?? {}).sort(([, one], [, other]) => other - one)
  return (
    <section class="card stack tight">
      <h2>Answers since the start</h2>
      <Counts
        rows={byStatus.map(([code, count]) => [`${code} ${STATUS_MEANINGS[code] ?? ''}`, count])}
        none="Nothing was asked yet."
      />
      {byCode.length > 0 && (
        <>
          <h3>Refusals by code</h3>
          <Counts rows={byCode} none="" />
        </>
      )}
    </section>
  )
}

function Guards({ current: { guard_hits: hits } }: { readonly current: ServerStatus }) {
  return (
    <section class="card stack tight">
      <h2>Guards since the start</h2>
      <Counts
        rows={hits.map(({ guard, rule, count }) => [`${guard}: ${rule}`, count])}
        none="No guard refused or cut anything."
      />
    </section>
  )
}

interface CountsProps {
  readonly rows: readonly (readonly [name: string, count: number])[]
  readonly none: string
}

function Counts({ rows, none }: CountsProps) {
  if (rows.length === 0) return <p class="muted">{none}</p>
  return (
    <ul class="log-list">
      {rows.map(([name, count]) => (
        <li key={name}>
          <span>{name}</span>
          <span>{formatNumber(count)}</span>
        </li>
      ))}
    </ul>
  )
}

function LastErrors({ current: { last_errors: errors } }: { readonly current: ServerStatus }) {
  if (errors === undefined) return null
  return (
    <section class="card stack tight">
      <h2>Last errors</h2>
      {errors.length === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <ul class="log-list">
          {errors.map(({ at, code, status: answered, message, request_id: id }) => (
            <li key={`${at}${id ?? code}`}>
              <span>
                <code>{code}</code> {answered} {message}
              </span>
              <span class="small muted">
                {formatAgo(at)} {id !== null && id !== undefined && <code>{id}</code>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
