/** `GET /metrics` of a service with several workers, the same at each: sums over its processes, and what they share once. */
import { type Metrics, type MetricValues, renderSum } from '../../telemetry/metrics.ts'
import type { WorkerProcess } from './worker-process.ts'

export async function renderServiceMetrics(
  supervisor: Pick<Metrics, 'values'>,
  workers: readonly Pick<WorkerProcess, 'channel'>[],
): Promise<string> {
  const answers = await Promise.allSettled([
    supervisor.values(),
    ...workers.map(({ channel }) => channel.call<MetricValues | undefined>('metrics.values', [])),
  ])
  // One that dies at this moment, or starts, has nothing to add.
  return await renderSum(valuesOf(answers))
}

function valuesOf(
  answers: readonly PromiseSettledResult<MetricValues | undefined>[],
): readonly MetricValues[] {
  const values: MetricValues[] = []
  for (const answer of answers) {
    if (answer.status === 'fulfilled' && answer.value !== undefined) values.push(answer.value)
  }
  return values
}
