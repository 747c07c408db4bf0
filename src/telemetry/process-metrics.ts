/** Metrics of Node and of this process. */
import { readdir } from 'node:fs/promises'
import { collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'

/** Default metrics that iterate over every open connection and so block the event loop. */
const SLOW_DEFAULTS = [
  ...['handles', 'resources', 'requests'].flatMap((kind) => [
    `nodejs_active_${kind}`,
    `nodejs_active_${kind}_total`,
  ]),
  'process_open_fds',
]

/** Every open file of this process, on Linux. */
const OPEN_FILES = '/proc/self/fd'

let metrics: readonly Metric[] | null = null

/**
 * The same for every server in this process: the library never takes off what it puts at the event loop and at the garbage
 * collector, a timer of 100 turns a second among it, which would keep each server that has been closed.
 */
export function processMetrics(): readonly Metric[] {
  metrics ??= createProcessMetrics()
  return metrics
}

function createProcessMetrics(): Metric[] {
  const register = new Registry()
  collectDefaultMetrics({ register })
  for (const name of SLOW_DEFAULTS) register.removeSingleMetric(name)
  const defaults = register.getMetricsAsArray().flatMap(({ name }) => register.getSingleMetric(name) ?? [])
  return process.platform === 'linux' ? [...defaults, openFiles()] : defaults
}

function openFiles(): Gauge {
  return new Gauge({
    name: 'process_open_fds',
    help: 'Number of open file descriptors.',
    registers: [],
    // Counted in another thread: the system builds the list for each call, with an entry for each connection.
    async collect() {
      const names = await readdir(OPEN_FILES).catch(() => null)
      if (names !== null) this.set(names.length)
    },
  })
}
