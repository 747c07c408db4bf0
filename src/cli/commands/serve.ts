/**
 * `sluice serve`: starts the server and runs until a signal. The first signal drains it (at most `--shutdown-timeout`),
 * a second one ends the process at once:
 *
 *   downloading ──signal──▶ exit 1
 *   starting ──signal──▶ stops as soon as it has started
 *   serving  ──signal──▶ draining ──closed──▶ exit 0
 *                        draining ──signal──▶ exit 130
 *
 * SIGHUP ends nothing: the server reads its admin keys again, and its certificate where it has one. SIGUSR2 replaces the worker
 * processes, where there are any. A service manager that
 * waits for it (`Type=notify` of systemd) is notified once the models are loaded.
 */
import { adviseGpu } from '../../app/doctor/gpu-advice.ts'
import { findWarning } from '../../config/rules.ts'
import type { ServerConfig } from '../../config/server-config.ts'
import type { Clock } from '../../core/clock.ts'
import type { RunningServer } from '../../app/create-server.ts'
import type { ServerHooks } from '../../app/models/server-hooks.ts'
import { showDownload } from '../terminal/download-progress.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { describeDemo, describeStart } from './describe-start.ts'

export type ServedServer = Pick<
  RunningServer,
  | 'address'
  | 'consoleUrl'
  | 'operatorKey'
  | 'withoutOperatorKey'
  | 'loaded'
  | 'reloadCertificate'
  | 'reloadAdminKeys'
  | 'replaceWorkers'
  | 'close'
>

export type CreateServer = (config: ServerConfig, hooks: ServerHooks) => Promise<ServedServer>

export interface ServeDeps {
  readonly createServer: CreateServer
  readonly terminal: Terminal
  readonly clock: Clock
  /** Reads the option again from where it came from. @throws StartError */
  readonly readAdminKeys: () => ServerConfig['adminKey']
}

/** The terminal sends Ctrl-C to npm and to the server, and npm forwards it: within this time it is the same signal. */
const SAME_SIGNAL_MS = 500

const EXIT_INTERRUPTED = 130

/**
 * Resolves with the exit code once the server has closed.
 * @throws whatever `createServer`, the first load and `close` throw
 */
export async function serve(config: ServerConfig, deps: ServeDeps): Promise<number> {
  const { terminal } = deps
  const stopped = firstSignal(deps)
  const stopping = new AbortController()
  void stopped.then(() => stopping.abort())
  let serving: ServedServer | null = null
  terminal.onHangUp(() => {
    serving?.reloadAdminKeys(deps.readAdminKeys)
    void serving?.reloadCertificate()
  })
  const server = await deps.createServer(config, {
    ...showDownload(deps),
    signal: stopping.signal,
    onLoadProgress: (modelId, fraction) =>
      terminal.showProgress(`sluice: loading ${modelId} ${Math.round(fraction * 100)} %`),
  })
  serving = server
  const { replaceWorkers } = server
  if (replaceWorkers !== null) terminal.onReplace(() => void replaceWorkers())
  terminal.print(`sluice: listening on ${server.address}`)
  const warning = findWarning(config)
  if (warning !== null) terminal.complain(`sluice: warning: ${warning}`)
  const advice = adviseGpu(config)
  if (advice !== null) terminal.complain(`sluice: ${advice}`)
  const demo = await describeDemo(config)
  if (demo !== null) terminal.print(demo)
  for (const line of describeStart(config, server)) terminal.print(line)
  void server.loaded.then(
    () => {
      terminal.showProgress(null)
      return terminal.notifyReady()
    },
    () => {},
  )
  return await stayUntilStopped(server, { ...config, stopped, terminal })
}

/** Closes the server at the first signal and returns the exit code. @throws what the first load throws, and `close` */
export async function stayUntilStopped(
  server: Pick<ServedServer, 'loaded' | 'close'>,
  {
    stopped,
    terminal,
    shutdownTimeout,
  }: { stopped: Promise<void>; terminal: Terminal; shutdownTimeout: number },
): Promise<number> {
  const loadFails = new Promise<never>((_, reject) => void server.loaded.catch(reject))
  try {
    await Promise.race([stopped, loadFails])
    terminal.complain(`sluice: stopping; running requests may take up to ${shutdownTimeout} s.`)
  } finally {
    terminal.showProgress(null)
    await server.close()
  }
  return 0
}

/** Resolves at the first signal; a later one exits. */
export function firstSignal({ terminal, clock }: Pick<ServeDeps, 'terminal' | 'clock'>): Promise<void> {
  return new Promise((resolve) => {
    let firstAtMs: number | null = null
    terminal.onSignal(() => {
      if (firstAtMs === null) {
        firstAtMs = clock.nowMs()
        resolve()
      } else if (clock.nowMs() - firstAtMs > SAME_SIGNAL_MS) {
        terminal.complain('sluice: stopped before the running requests were done.')
        terminal.exit(EXIT_INTERRUPTED)
      }
    })
  })
}
