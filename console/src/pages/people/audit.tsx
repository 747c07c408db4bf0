/** What admins did, the latest first. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { readPages } from '../../api/pages.ts'
import type { AuditRecord } from '../../api/types.ts'
import { formatDateTime } from '../../format.ts'
import { Choices } from '../../ui/parts.tsx'
import { Empty, Ready } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'

const DAY_SECONDS = 86_400
const SPANS = [
  ['1', 'Last day'],
  ['7', '7 days'],
  ['30', '30 days'],
] as const

interface AuditPage {
  readonly records: readonly AuditRecord[]
  readonly next_cursor?: string | null
}

interface Trail {
  readonly since: number
  /** The latest first. */
  readonly records: readonly AuditRecord[]
}

async function loadTrail(days: number, signal: AbortSignal): Promise<Trail> {
  const since = Math.floor(Date.now() / 1000) - days * DAY_SECONDS
  const pages = await readPages((cursor) =>
    call<AuditPage>('GET v1/admin/audit', { query: { since, cursor }, signal }),
  )
  return { since, records: pages.flatMap(({ records }) => records).toReversed() }
}

const nameOf = ({ since }: Trail) => `since ${formatDateTime(since)}`

export function Audit() {
  const [days, setDays] = useState<(typeof SPANS)[number][0]>('7')
  const loaded = useLoaded((signal) => loadTrail(Number(days), signal), days)
  return (
    <>
      <div>
        <Choices label="Time" value={days} choices={SPANS} onValue={setDays} />
      </div>
      <Ready loaded={loaded} what="the audit trail" nameOf={nameOf}>
        {({ records }) =>
          records.length === 0 ? (
            <Empty title="Nothing was done">
              Each change by an admin or the command line is recorded here.
            </Empty>
          ) : (
            <div class="table-frame folds">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Action</th>
                    <th scope="col">By</th>
                    <th scope="col">When</th>
                    <th scope="col">About</th>
                    <th scope="col">Answer</th>
                  </tr>
                </thead>
                <tbody>
                  {records.map((record) => (
                    <Row key={record.id} record={record} />
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

function Row({
  record: { action, actor, created_at: at, target, details, status },
}: {
  readonly record: AuditRecord
}) {
  const given = Object.entries(details).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  const isRefused = status === null || status >= 400
  return (
    <tr>
      <th scope="row">
        <code>{action}</code>
        {given.length > 0 && <div class="small muted details">{given.join(', ')}</div>}
      </th>
      <td data-label="By">{actor}</td>
      <td data-label="When">{formatDateTime(at)}</td>
      <td data-label="About">
        <code class="small">{target ?? '–'}</code>
      </td>
      <td data-label="Answer">
        <span class={isRefused ? 'tag bad' : 'tag good'}>{status ?? 'cut off'}</span>
      </td>
    </tr>
  )
}
