// @ts-check
/**
 * Loaded into each process of a measured server: on SIGUSR2 the longest time that its event loop was held since the last
 * signal is written to the file of its process id in the folder `BENCH_LOOP_DELAYS`.
 */
import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

/** The histogram holds the time between two ticks of its timer: so much of each figure is no delay. */
const RESOLUTION_MS = 2

const folder = process.env['BENCH_LOOP_DELAYS']
// A worker thread loads it too, and has no signals.
if (isMainThread && folder !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  process.on('SIGUSR2', () => {
    const maxMs = delay.count === 0 ? 0 : Math.max(0, delay.max / 1e6 - RESOLUTION_MS)
    delay.reset()
    const file = path.join(folder, String(process.pid))
    // Renamed, so that no reader meets half of it.
    writeFileSync(`${file}.part`, JSON.stringify({ maxMs }))
    renameSync(`${file}.part`, file)
  })
}
