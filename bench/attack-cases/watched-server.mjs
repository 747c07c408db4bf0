// @ts-check
/** A server with the bundled model, and what watches it from outside and from inside while something is done to it. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../report/statistics.mjs'
import { readProcesses, resetPeaks } from '../servers/processes.mjs'
import { createKey, startServer } from '../servers/serve.mjs'

/**
 * @typedef {object} Figures what was seen since the last reading; null where nothing answered
 * @property {number | null} healthP99Ms
 * @property {number | null} healthMaxMs
 * @property {number} healthFailures
 * @property {number | null} loopMaxMs longest time that the HTTP process's event loop was held
 * @property {number | null} engineLoopMaxMs the same of the engine process, whose steps are part of it
 * @property {number} streamGapMaxMs between two pieces of an enterprise key's stream
 * @property {number} streamStartMaxMs until the first piece of such a stream
 * @property {number} streamFailures
 * @property {number} peakMb of the HTTP process's resident memory
 * @property {number} enginePeakMb
 */

const MODEL = path.join(import.meta.dirname, '../../models/demo')
const ENGINE = 'engine-main'
const HEALTH_EVERY_MS = 5
const READ_TIMEOUT_MS = 3000
const READ_EVERY_MS = 20
/** A server on which nothing waits or holds a loop for so long has got over what was done to it. */
const SETTLED_MS = 250

/**
 * @typedef {object} Reading what was seen since the one before; a loop that does not answer has no figure
 * @property {{ latencies: number[], failures: number, openMs: number }} healthLap
 * @property {{ failures: number, maxGapMs: number, maxStartMs: number, openMs: number }} streamLap
 * @property {number | null} loopMs
 * @property {number | null} engineLoopMs
 */

/** @typedef {Awaited<ReturnType<typeof startWatchedServer>>} WatchedServer */

/** @param {readonly string[]} [options] of the command line */
export async function startWatchedServer(options = []) {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-stall-'))
  const server = await startServer(['--checkpoint', MODEL, ...options], { loopDelaysTo: folder })
  const { address } = server
  const key = await createKey(address, 'enterprise')
  const health = fork(new URL('../load/health-watch.mjs', import.meta.url), [
    address,
    String(HEALTH_EVERY_MS),
  ])
  const stream = fork(new URL('stream-watch.mjs', import.meta.url), [address, key])
  const enginePid = findEngine()?.pid ?? null

  /** Processes that owe a figure: one that was held answers late, and its answer is of that time. @type {Set<number>} */
  const asked = new Set()

  function findEngine() {
    return readProcesses(server.pid).find(({ name }) => name === ENGINE)
  }

  /** @param {import('node:child_process').ChildProcess} watcher @returns {Promise<any>} */
  async function lap(watcher) {
    const answered = once(watcher, 'message')
    watcher.send('lap')
    const [result] = await answered
    return result
  }

  /** @param {number | null} pid @returns {Promise<number | null>} */
  async function readLoopDelay(pid) {
    if (pid === null) return null
    const file = path.join(folder, String(pid))
    if (!asked.has(pid)) {
      try {
        process.kill(pid, 'SIGUSR2')
      } catch {
        return null
      }
      asked.add(pid)
    }
    for (let waitedMs = 0; waitedMs < READ_TIMEOUT_MS; waitedMs += READ_EVERY_MS) {
      await sleep(READ_EVERY_MS)
      try {
        const { maxMs } = JSON.parse(readFileSync(file, 'utf8'))
        rmSync(file)
        asked.delete(pid)
        return maxMs
      } catch {
        // Not there yet: the loop is held.
      }
    }
    return null
  }

  async function readOnce() {
    const [healthLap, streamLap, loopMs, engineLoopMs] = await Promise.all([
      lap(health),
      lap(stream),
      readLoopDelay(server.pid),
      isEngineSame() ? readLoopDelay(enginePid) : null,
    ])
    return { healthLap, streamLap, loopMs, engineLoopMs }
  }

  const isEngineSame = () => enginePid !== null && findEngine()?.pid === enginePid

  return {
    address,
    key,
    isEngineSame,
    peakMb: () => readProcesses(server.pid)[0]?.peakMemoryMb ?? 0,

    /** What was seen before counts no more. */
    async reset() {
      await Promise.all([lap(health), lap(stream), readLoopDelay(server.pid), readLoopDelay(enginePid)])
      resetPeaks(enginePid === null ? [server.pid] : [server.pid, enginePid])
    },

    /**
     * Reads until nothing has waited or been held any more since the last reading. What was waited for in between counts.
     * @param {number} timeoutMs @returns {Promise<{ figures: Figures, hasSettled: boolean }>}
     */
    async read(timeoutMs) {
      const untilMs = performance.now() + timeoutMs
      const readings = [await readOnce()]
      while (!isCalm(readings.at(-1)) && performance.now() < untilMs) {
        await sleep(SETTLED_MS)
        readings.push(await readOnce())
      }
      const figures = {
        ...summarize(readings),
        peakMb: readProcesses(server.pid)[0]?.peakMemoryMb ?? 0,
        enginePeakMb: findEngine()?.peakMemoryMb ?? 0,
      }
      return { figures, hasSettled: isCalm(readings.at(-1)) }
    },

    /** At once, whatever it is doing. */
    async kill() {
      health.disconnect()
      stream.disconnect()
      // One that works on a flood would first finish what it has taken.
      for (const { pid } of readProcesses(server.pid)) process.kill(pid, 'SIGKILL')
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** @param {Reading | undefined} reading */
function isCalm(reading) {
  if (reading === undefined) return false
  const { healthLap, streamLap, loopMs, engineLoopMs } = reading
  const waits = [healthLap.openMs, streamLap.openMs, loopMs ?? Infinity, engineLoopMs ?? Infinity]
  return Math.max(...waits) < SETTLED_MS
}

/** @param {readonly Reading[]} readings @returns {Omit<Figures, 'peakMb' | 'enginePeakMb'>} */
function summarize(readings) {
  const latencies = readings.flatMap(({ healthLap }) => [...healthLap.latencies, healthLap.openMs])
  const sum = (/** @type {number[]} */ counts) => counts.reduce((total, count) => total + count, 0)
  const most = (/** @type {(number | null)[]} */ figures) => {
    const known = figures.filter((figure) => figure !== null)
    return known.length === 0 ? null : Math.max(...known)
  }
  return {
    healthP99Ms: percentile(latencies, 99),
    healthMaxMs: percentile(latencies, 100),
    healthFailures: sum(readings.map(({ healthLap }) => healthLap.failures)),
    loopMaxMs: most(readings.map(({ loopMs }) => loopMs)),
    engineLoopMaxMs: most(readings.map(({ engineLoopMs }) => engineLoopMs)),
    streamGapMaxMs: Math.max(...readings.map(({ streamLap }) => streamLap.maxGapMs)),
    streamStartMaxMs: Math.max(...readings.map(({ streamLap }) => streamLap.maxStartMs)),
    streamFailures: sum(readings.map(({ streamLap }) => streamLap.failures)),
  }
}
