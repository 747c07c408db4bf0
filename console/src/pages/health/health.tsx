/** Whether the server is well, and what it refused: for an admin who is asked why something did not work. */
import type { ComponentChildren } from 'preact'
import { isLive, type ServerStatus, status, statusError, useStatus } from '../../api/status.ts'
import { formatAgo, formatBytes, formatDate, formatDuration, formatNumber } from '../../format.ts'
import { PageHead } from '../../ui/parts.tsx'
import { Loading, Problem } from '../../ui/states.tsx'
import { Bans } from './bans.tsx'
import { Engines } from './engines.tsx'
import { LastErrors } from './last-errors.tsx'

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
    </div>
  )
}

const LOW_DISK_BYTES = 2_000_000_000
const SOON_SECONDS = 14 * 86_400

function Facts({ current }: { readonly current: ServerStatus }) {
  const { disk_free_bytes: disk, certificate_expires_at: expiry, bans, why_not_ready: problem } = current
  const databases = Object.entries(current.databases)
  return (
    <>
      <Warnings current={current} />
      <div class="cards">
        <Stat name="State">{problem === null ? 'Ready' : 'Not ready'}</Stat>
        <Stat name="Running for">{formatDuration(current.uptime_seconds)}</Stat>
        <Stat name="Waiting">{formatNumber(sum(Object.values(current.queue)))}</Stat>
        <Stat name="Server's memory">{formatBytes(current.memory_bytes)}</Stat>
        {disk !== null && <Stat name="Disk free">{formatBytes(disk)}</Stat>}
        {expiry !== null && <Stat name="Certificate ends">{formatDate(expiry)}</Stat>}
      </div>
      <Engines current={current} />
      <LastErrors current={current} />
      <div class="plots">
        <Answers current={current} />
        <Refusals current={current} />
        <Guards current={current} />
        <Bans count={bans} />
      </div>
      <p class="small muted">
        Interface version {current.version}
        {current.data_dir !== null && (
          <>
            , data in <code>{current.data_dir}</code>
          </>
        )}
        , databases:{' '}
        {databases.length === 0 ? 'files' : databases.map(([name, state]) => `${name} ${state}`).join(', ')}
      </p>
    </>
  )
}

function Warnings({ current }: { readonly current: ServerStatus }) {
  const { why_not_ready: problem, disk_free_bytes: disk, certificate_expires_at: expiry } = current
  const isExpiring = expiry !== null && expiry - Date.now() / 1000 < SOON_SECONDS
  const down = Object.entries(current.databases).filter(([, state]) => state === 'down')
  return (
    <>
      {problem !== null && <div class="note bad">{problem}</div>}
      {down.map(([name]) => (
        <div class="note bad" key={name}>
          The database {name} does not answer.
        </div>
      ))}
      {disk !== null && disk < LOW_DISK_BYTES && (
        <div class="note warn">Only {formatBytes(disk)} are free on the disk of the data folder.</div>
      )}
      {isExpiring && <div class="note warn">The TLS certificate expires {formatAgo(expiry)}.</div>}
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

function Answers({ current: { requests } }: { readonly current: ServerStatus }) {
  const byStatus = Object.entries(requests).sort(([one], [other]) => one.localeCompare(other))
  return (
    <section class="card stack tight" aria-label="Answers since the start">
      <h2>Answers since the start</h2>
      <Counts
        rows={byStatus.map(([code, count]) => [`${code} ${STATUS_MEANINGS[code] ?? ''}`, count])}
        none="Nothing was asked yet."
      />
    </section>
  )
}

function Refusals({ current: { refusals } }: { readonly current: ServerStatus }) {
  const byCount = Object.entries(refusals).sort(([, one], [, other]) => other - one)
  return (
    <section class="card stack tight" aria-label="Refusals by code">
      <h2>Refusals by code</h2>
      <Counts rows={byCount} none="Nothing was refused since the start." />
    </section>
  )
}

function Guards({ current: { guard_hits: hits } }: { readonly current: ServerStatus }) {
  return (
    <section class="card stack tight" aria-label="Guards since the start">
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
