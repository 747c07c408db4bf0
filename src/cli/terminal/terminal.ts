/** The process as the commands see it, so that a test can stand in for the terminal and its signals. */
export type StopSignal = 'SIGINT' | 'SIGTERM'

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Writes a line to standard output. */
  print(line: string): void
  /** Writes a line to standard error. */
  complain(line: string): void
  /** Shows a line that the next one overwrites, on a terminal only; null removes it. */
  showProgress(line: string | null): void
  /** Calls back at each SIGINT and SIGTERM, which then end nothing by themselves. */
  onSignal(handler: (signal: StopSignal) => void): void
  /** Calls back at each SIGHUP, which then ends nothing by itself. */
  onHangUp(handler: () => void): void
  /** Ends the process at once. */
  exit(code: number): void
}

/** Resolves when all output has been written, for which the end of the process would not wait. */
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
      process.on('SIGINT', () => handler('SIGINT'))
      process.on('SIGTERM', () => handler('SIGTERM'))
    },
    onHangUp: (handler) => void process.on('SIGHUP', handler),
    exit: (code) => process.exit(code),
  }
}
