/** Usage in numbers: the sum of the time chosen, and a row for each group, which says all that the plots show. */
import type { UsageRow } from '../../api/types.ts'
import { formatMs, formatNumber, formatShort } from '../../format.ts'
import { type Group, sumOf } from './series.ts'

export function Totals({ rows }: { readonly rows: readonly UsageRow[] }) {
  const { requests, tokensIn, tokensOut, avgMs, errors } = sumOf(rows)
  const facts = [
    ['Requests', formatNumber(requests)],
    ['Tokens in', formatShort(tokensIn)],
    ['Tokens out', formatShort(tokensOut)],
    ['Latency, mean', formatMs(avgMs)],
    ['Errors', formatNumber(errors)],
  ]
  return (
    <div class="cards">
      {facts.map(([name, value]) => (
        <dl class="card stat" key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </dl>
      ))}
    </div>
  )
}

const TITLES: Readonly<Record<Group, string>> = {
  key: 'Key',
  model: 'Model',
  endpoint: 'Endpoint',
  user: 'Account',
  team: 'Team',
}

export function UsageTable({ rows, group }: { readonly rows: readonly UsageRow[]; readonly group: Group }) {
  const byTokens = [...rows].sort((one, other) => total(other) - total(one))
  return (
    <div class="table-frame folds">
      <table>
        <thead>
          <tr>
            <th scope="col">{TITLES[group]}</th>
            <th scope="col" class="number">
              Requests
            </th>
            <th scope="col" class="number">
              Tokens in
            </th>
            <th scope="col" class="number">
              Tokens out
            </th>
            <th scope="col" class="number">
              Latency, mean
            </th>
            <th scope="col" class="number">
              p50
            </th>
            <th scope="col" class="number">
              p95
            </th>
            <th scope="col" class="number">
              Errors
            </th>
          </tr>
        </thead>
        <tbody>
          {byTokens.map((row) => (
            <tr key={row[group as 'key'] ?? ''}>
              <th scope="row">{labelOf(row, group)}</th>
              <Cell label="Requests" text={formatNumber(row.requests)} />
              <Cell label="Tokens in" text={formatNumber(row.tokens_in)} />
              <Cell label="Tokens out" text={formatNumber(row.tokens_out)} />
              <Cell label="Latency, mean" text={formatMs(row.avg_response_ms)} />
              <Cell label="p50" text={msOrNone(row.p50_response_ms)} />
              <Cell label="p95" text={msOrNone(row.p95_response_ms)} />
              <Cell label="Errors" text={formatNumber(row.errors)} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const total = ({ tokens_in: tokensIn, tokens_out: tokensOut }: UsageRow) => tokensIn + tokensOut

const msOrNone = (ms: number | null) => (ms === null ? '–' : formatMs(ms))

function Cell({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <td class="number" data-label={label}>
      {text}
    </td>
  )
}

/** Sessions of browsers are no keys of the listing, and have no name. */
function labelOf(row: UsageRow, group: Group): string {
  const id = row[group as 'key'] ?? null
  return row.name || id || (group === 'team' ? 'No team' : 'Unknown')
}
