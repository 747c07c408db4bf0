/** Turns any thrown value into one line for the user and an exit code; a stack trace only when debugging. */
import type { ServerConfig } from '../config/server-config.ts'
import { ServiceError, StartError } from '../core/errors.ts'
import { OPEN_FILE_LIMIT } from '../core/open-file-limit.ts'
import { errorCode } from '../core/system-error.ts'
import { escapeUnseen } from './terminal/terminal-text.ts'

/** Whether the log level asks for stack traces. */
export function showsStacks(config: Pick<ServerConfig, 'logLevel'>): boolean {
  return config.logLevel === 'debug' || config.logLevel === 'trace'
}

export function toFailure(
  thrown: unknown,
  showStack = false,
): { readonly line: string; readonly exitCode: number } {
  if (thrown instanceof StartError) return toLine(thrown.message, thrown.exitCode)
  if (thrown instanceof ServiceError) return toLine(thrown.message)
  const listenSentence = listenFailure(thrown)
  if (listenSentence !== null) return toLine(listenSentence)
  if (showStack && thrown instanceof Error)
    return { line: `sluice: ${thrown.stack ?? thrown.message}`, exitCode: 1 }
  if (isOutOfFiles(thrown)) return toLine(fileLimitSentence())
  const [message = ''] = (thrown instanceof Error ? thrown.message : String(thrown)).split('\n')
  return toLine(`unexpected error: ${message} (SLUICE_LOG_LEVEL=debug shows more)`)
}

/** Escaped, because the sentence may repeat text of a user or from a database. */
function toLine(sentence: string, exitCode = 1) {
  return { line: `sluice: ${escapeUnseen(sentence)}`, exitCode }
}

/** Loading the program opens up to 300 files at once. */
const LEAST_FILES = 512

/**
 * Below the least it fails in many ways, of which few name the limit: a package that "cannot be found", a thread that ends.
 * Asked only when something unexpected has happened, so that no setup that works is refused.
 */
function isOutOfFiles(thrown: unknown): boolean {
  return errorCode(thrown) === 'EMFILE' || OPEN_FILE_LIMIT < LEAST_FILES
}

function fileLimitSentence(): string {
  const given = Number.isFinite(OPEN_FILE_LIMIT) ? ` (${OPEN_FILE_LIMIT})` : ''
  return `the limit of open files${given} is too low: raise it to 1024 or more, with ulimit -n or LimitNOFILE of the systemd unit; each connection needs one.`
}

/** The message when the address cannot be listened on, by the error's code. */
const LISTEN_FAILURES: Readonly<Record<string, (where: string) => string>> = {
  EADDRINUSE: (where) => `${where} is in use by another program; choose another with --port.`,
  EACCES: (where) => `listening on ${where} is not permitted; choose a port above 1023 with --port.`,
  EADDRNOTAVAIL: (where) => `${where} is not an address of this machine; choose another with --host.`,
}

function listenFailure(thrown: unknown): string | null {
  if (!(thrown instanceof Error) || !('code' in thrown) || !('syscall' in thrown)) return null
  if (thrown.syscall === 'getaddrinfo' && 'hostname' in thrown) {
    return `the host '${String(thrown.hostname)}' is not known; choose another with --host.`
  }
  if (thrown.syscall !== 'listen') return null
  const address = 'address' in thrown ? String(thrown.address) : ''
  const port = 'port' in thrown ? `:${String(thrown.port)}` : ''
  const where = `${address.includes(':') ? `[${address}]` : address}${port}`
  return (
    LISTEN_FAILURES[String(thrown.code)]?.(where) ?? `listening on ${where} failed (${String(thrown.code)}).`
  )
}
