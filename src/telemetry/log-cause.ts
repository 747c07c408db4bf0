/** Logs what the answer to a 500 hides from the caller. */
import type { ServiceError } from '../core/errors.ts'
import type { Log } from './log.ts'

export function logCause(error: ServiceError, requestId: string, log: Pick<Log, 'error'>): void {
  if (error.status === 500)
    log.error({ requestId, code: error.code, err: error.cause ?? error }, 'request failed')
}
