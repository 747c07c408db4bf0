/** What was refused or failed lately, with the id that the log and the client's answer have as well. */
import { useState } from 'preact/hooks'
import type { ServerStatus } from '../../api/status.ts'
import { formatAgo } from '../../format.ts'

/** The others are asked for: on a phone each is a card. */
const SHOWN = 10

export function LastErrors({ current: { last_errors: errors } }: { readonly current: ServerStatus }) {
  const [isAll, setAll] = useState(false)
  const shown = isAll ? errors : errors.slice(0, SHOWN)
  return (
    <section class="stack tight" aria-label="Last errors">
      <h2>Last errors</h2>
      {errors.length === 0 ? (
        <p class="muted">No request ended with an error since the start.</p>
      ) : (
        <div class="table-frame folds">
          <table>
            <thead>
              <tr>
                <th scope="col">Code</th>
                <th scope="col">Answer</th>
                <th scope="col">Request</th>
                <th scope="col">When</th>
                <th scope="col">Request id</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ request_id: id, at, code, status: answered, method, route }) => (
                <tr key={id + at}>
                  <th scope="row">
                    <code>{code}</code>
                  </th>
                  <td data-label="Answer">{answered}</td>
                  <td data-label="Request">
                    {method} {route ?? 'an unknown path'}
                  </td>
                  <td data-label="When">{formatAgo(at)}</td>
                  <td data-label="Request id">
                    <code class="small">{id}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shown.length < errors.length && (
        <div>
          <button type="button" class="button" onClick={() => setAll(true)}>
            Show all {errors.length}
          </button>
        </div>
      )}
    </section>
  )
}
