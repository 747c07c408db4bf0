/** What was used: by key, model and endpoint, over an hour to a month; an admin sees that of all accounts. */
import { useState } from 'preact/hooks'
import { call, request } from '../../api/client.ts'
import { readPages } from '../../api/pages.ts'
import type { UsageRow } from '../../api/types.ts'
import { session } from '../../session.ts'
import { Icon } from '../../ui/icons.tsx'
import { Choices, download, PageHead } from '../../ui/parts.tsx'
import { Empty, Problem, Ready } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { useTask } from '../../ui/use-task.ts'
import { joinCsv } from './csv.ts'
import { Plots } from './plots.tsx'
import { fillSpan, type Group, RANGES, type RangeName } from './series.ts'
import { TIMES } from './times.ts'
import { Totals, UsageTable } from './totals.tsx'

interface Wanted {
  readonly range: RangeName
  readonly group: Group
  readonly isOfAll: boolean
}

interface Report {
  readonly series: readonly UsageRow[]
  readonly groups: readonly UsageRow[]
  readonly sinceSeconds: number
  readonly wanted: Wanted
}

const routeOf = ({ isOfAll }: Wanted) => (isOfAll ? 'GET v1/admin/usage' : 'GET v1/usage')

const startOf = (range: RangeName) => {
  const { seconds, step } = RANGES[range]
  return Math.floor((Date.now() / 1000 - seconds) / step) * step
}

interface RowList {
  readonly data: readonly UsageRow[]
  readonly next_cursor?: string | null
}

async function loadReport(wanted: Wanted, signal: AbortSignal): Promise<Report> {
  const since = startOf(wanted.range)
  const { bucket, step } = RANGES[wanted.range]
  const read = async (query: Readonly<Record<string, string>>) => {
    const pages = await readPages((cursor) =>
      call<RowList>(routeOf(wanted), { query: { since, ...query, cursor }, signal }),
    )
    return pages.flatMap(({ data }) => data)
  }
  const [series, groups] = await Promise.all([read({ bucket }), read({ group_by: wanted.group })])
  const filled = fillSpan(series, { since, step, now: Date.now() / 1000 })
  return { series: filled, groups, sinceSeconds: since, wanted }
}

const GROUPS = [
  ['key', 'Key'],
  ['model', 'Model'],
  ['endpoint', 'Endpoint'],
] as const
const GROUPS_OF_ALL = [['user', 'Account'], ['team', 'Team'], ...GROUPS] as const

export default function Usage() {
  const isAdmin = session.value?.role === 'admin'
  const [wanted, setWanted] = useState<Wanted>({
    range: '24h',
    group: isAdmin ? 'user' : 'key',
    isOfAll: isAdmin,
  })
  const loaded = useLoaded((signal) => loadReport(wanted, signal), JSON.stringify(wanted))
  const change = (changed: Partial<Wanted>) => setWanted({ ...wanted, ...changed })
  return (
    <div class="page">
      <PageHead title="Usage" actions={<CsvButton wanted={wanted} />}>
        Requests, tokens and latency. Days are those of UTC.
      </PageHead>
      <div class="filters">
        <Choices
          label="Time"
          value={wanted.range}
          choices={Object.entries(RANGES).map(([name, { label }]) => [name as RangeName, label] as const)}
          onValue={(range) => change({ range })}
        />
        {isAdmin && (
          <Choices
            label="Whose"
            value={wanted.isOfAll ? 'all' : 'own'}
            choices={[
              ['all', 'All accounts'],
              ['own', 'Only mine'],
            ]}
            onValue={(whose) => change({ isOfAll: whose === 'all', group: 'key' })}
          />
        )}
      </div>
      <Ready loaded={loaded} what="the usage" nameOf={nameOf}>
        {(report) =>
          report.groups.length === 0 ? (
            <NothingUsed />
          ) : (
            <>
              <Totals rows={report.groups} />
              <Plots rows={report.series} bucket={RANGES[report.wanted.range].bucket} />
              <section class="stack tight" aria-label="By group">
                <div class="row apart">
                  <h2>By {wordOf(report.wanted.group)}</h2>
                  <Choices
                    label="Group"
                    value={wanted.group}
                    choices={wanted.isOfAll ? GROUPS_OF_ALL : GROUPS}
                    onValue={(group) => change({ group })}
                  />
                </div>
                <UsageTable rows={report.groups} group={report.wanted.group} />
              </section>
            </>
          )
        }
      </Ready>
    </div>
  )
}

const wordOf = (group: Group) => (group === 'user' ? 'account' : group)

/** Since when: a range begins with a whole hour or day, and so is longer than it is called. */
const nameOf = ({ wanted: { range, isOfAll }, sinceSeconds }: Report) =>
  `${isOfAll ? 'all accounts' : 'your account'} since ${TIMES[RANGES[range].bucket].full(sinceSeconds)}`

function NothingUsed() {
  return (
    <Empty
      title="Nothing was used in this time"
      action={
        <a class="button" href="#/playground">
          Open the playground
        </a>
      }
    >
      Each answered request is counted here a moment after it ends.
    </Empty>
  )
}

function CsvButton({ wanted }: { readonly wanted: Wanted }) {
  const task = useTask()
  const { bucket } = RANGES[wanted.range]
  const save = async (): Promise<void> => {
    const query = { since: startOf(wanted.range), group_by: wanted.group, bucket, format: 'csv' }
    const parts = await readPages(async (cursor) => {
      const response = await request(routeOf(wanted), { query: { ...query, cursor } })
      return { text: await response.text(), next_cursor: response.headers.get('x-next-cursor') }
    })
    const text = joinCsv(parts.map((part) => part.text))
    download(`usage-${wanted.range}-by-${wanted.group}.csv`, text, 'text/csv')
  }
  return (
    <>
      <button type="button" class="button" disabled={task.isBusy} onClick={() => task.run(save)}>
        <Icon name="download" /> CSV
      </button>
      <Problem error={task.error} />
    </>
  )
}
