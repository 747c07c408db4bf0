/** The process as the commands see it, so that a test can replace the terminal and its signals. */
import type { ServerConfig } from '../../config/server-config.ts'
import type { Clock } from '../../core/clock.ts'
import { standardError } from '../../core/output/standard-error.ts'
import { notifyReady } from './service-manager.ts'

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Writes a line to standard output, and calls back where it cannot be written. */
  print(line: string, onLost?: () => void): void
  /** Writes a line to standard error. */
  complain(line: string): void
  /** Shows a line that the next one overwrites, on a terminal only; null removes it. */
  showProgress(line: string | null): void
  /** Calls back at each SIGINT and SIGTERM, which then do not end the process. */
  onSignal(handler: () => void): void
  /** Calls back at each SIGHUP, which then does not end the process. */
  onHangUp(handler: () => void): void
  /** Calls back at each SIGUSR2, which then does not end the process. */
  onReplace(handler: () => void): void
  /** Says to the service manager that started the process, if one did, that it serves. */
  notifyReady(): void
  /** Ends the process, whatever runs, as soon as its output is written or a second later. */
  exit(code: number): void
}

/** What a command gets beside its own arguments: the options that it shares with `serve`, resolved. */
export interface CommandContext<Name extends keyof ServerConfig = never> {
  readonly config: Pick<ServerConfig, Name>
  readonly terminal: Terminal
  readonly clock: Clock
}

/** A reader that has not taken the last lines by then takes none. */
const FLUSH_MS = 1000

let isEnding = false

/**
 * Ends the process when all output has been written, which its end would not wait for. The first call decides: writing to a reader
 * that has gone is an error of the output, and calls again.
 */
async function endProcess(code: number): Promise<void> {
  if (isEnding) return
  isEnding = true
  if (process.stdout.writableLength > 0)
    await new Promise<void>((resolve) => void process.stdout.write('', () => resolve()))
  await standardError.flush(FLUSH_MS)
  // Where no file can be opened it cannot be loaded.
  const loaded = await import('../../engines/child/exit-at-once.ts').catch(() => null)
  const exitCode = code === 0 ? Number(process.exitCode ?? 0) : code
  loaded?.exitAtOnce(exitCode)
  process.exit(exitCode)
}

export function createProcessTerminal(): Terminal {
  return {
    env: process.env,
    print: (line, onLost) =>
      void process.stdout.write(`${line}\n`, (error) => {
        if (error) onLost?.()
      }),
    complain: (line) => standardError.write(`${line}\n`),
    showProgress: (line) => {
      if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${line ?? ''}`)
    },
    onSignal: (handler) => {
      process.on('SIGINT', handler)
      process.on('SIGTERM', handler)
    },
    onHangUp: (handler) => void process.on('SIGHUP', handler),
    onReplace: (handler) => void process.on('SIGUSR2', handler),
    notifyReady: () =>
      notifyReady(process.env, (problem) => standardError.write(`sluice: warning: ${problem}\n`)),
    exit: (code) => void endProcess(code),
  }
}
