/** Turns any thrown value into one line for the user and an exit code; a stack trace only when debugging. */
import type { ServerConfig } from '../config/server-config.ts'
import { ServiceError, StartError } from '../core/errors.ts'
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
  const [message = ''] = (thrown instanceof Error ? thrown.message : String(thrown)).split('\n')
  return toLine(`unexpected error: ${message} (SLUICE_LOG_LEVEL=debug shows more)`)
}

/** Escaped, because the sentence may repeat text of a user or from a database. */
function toLine(sentence: string, exitCode = 1) {
  return { line: `sluice: ${escapeUnseen(sentence)}`, exitCode }
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
