/** The process as the commands see it, so that a test can replace the terminal and its signals. */
import type { ServerConfig } from '../../config/server-config.ts'
import type { Clock } from '../../core/clock.ts'

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Writes a line to standard output. */
  print(line: string): void
  /** Writes a line to standard error. */
  complain(line: string): void
  /** Shows a line that the next one overwrites, on a terminal only; null removes it. */
  showProgress(line: string | null): void
  /** Calls back at each SIGINT and SIGTERM, which then do not end the process. */
  onSignal(handler: () => void): void
  /** Calls back at each SIGHUP, which then does not end the process. */
  onHangUp(handler: () => void): void
  /** Ends the process at once. */
  exit(code: number): void
}

/** What a command gets beside its own arguments: the options that it shares with `serve`, resolved. */
export interface CommandContext<Name extends keyof ServerConfig = never> {
  readonly config: Pick<ServerConfig, Name>
  readonly terminal: Terminal
  readonly clock: Clock
}

/** Resolves when all output has been written, for which an exit would not wait. */
export function flushOutput(): Promise<void> {
  return new Promise((resolve) => void process.stdout.write('', () => resolve()))
}

export function createProcessTerminal(): Terminal {
  return {
    env: process.env,
    print: (line) => void process.stdout.write(`${line}\n`),
    complain: (line) => void process.stderr.write(`${line}\n`),
    showProgress: (line) => {
      if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${line ?? ''}`)
    },
    onSignal: (handler) => {
      process.on('SIGINT', handler)
      process.on('SIGTERM', handler)
    },
    onHangUp: (handler) => void process.on('SIGHUP', handler),
    exit: (code) => process.exit(code),
  }
}
