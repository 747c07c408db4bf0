/** The engine processes of each model. */
import type { ServerStatus } from '../../api/status.ts'
import { formatNumber } from '../../format.ts'
import { STATE_CLASSES } from '../../ui/state-classes.ts'

export function Engines({ current: { models } }: { readonly current: ServerStatus }) {
  return (
    <section class="stack tight" aria-label="Engines">
      <h2>Engines</h2>
      {models.length === 0 ? (
        <p class="muted">No model is served.</p>
      ) : (
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
                  Running
                </th>
                <th scope="col" class="number">
                  Waiting
                </th>
                <th scope="col" class="number">
                  KV cache
                </th>
                <th scope="col" class="number">
                  Restarts
                </th>
              </tr>
            </thead>
            <tbody>
              {models.map(({ id, state, replicas, replicas_ready: ready, ...live }) => (
                <tr key={id}>
                  <th scope="row">{id}</th>
                  <td data-label="State">
                    <span class={STATE_CLASSES[state]}>{state}</span>
                  </td>
                  <td class="number" data-label="Ready">
                    {replicas === null ? '–' : `${ready ?? 0} of ${replicas}`}
                  </td>
                  <td class="number" data-label="Running">
                    {live.slots === null
                      ? formatNumber(live.running)
                      : `${live.running} of ${formatNumber(live.slots)}`}
                  </td>
                  <td class="number" data-label="Waiting">
                    {formatNumber(live.waiting)}
                  </td>
                  <td class="number" data-label="KV cache">
                    {live.kv_tokens_used === null || live.kv_tokens_total === null
                      ? '–'
                      : `${Math.round((live.kv_tokens_used / live.kv_tokens_total) * 100)} %`}
                  </td>
                  <td class="number" data-label="Restarts">
                    {formatNumber(live.engine_deaths)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
