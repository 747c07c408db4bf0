/** What crosses between supervisor and worker beside the shared state and the models: how a worker starts, and which methods need V8's format. */
import type { ServerConfig } from '../../config/server-config.ts'
import type { TlsIdentity } from '../../net/tls/certificate.ts'
import type { OperatorAccess } from '../state.ts'
import { USAGE_METHODS_IN_V8 } from './usage-calls.ts'

/** The file descriptor at which a worker finds its channel, behind the standard ones and Node's own. */
export const CHANNEL_FD = 4

export interface WorkerStart {
  /** From 1; one that takes the place of another has its number. */
  readonly number: number
  readonly config: ServerConfig
  readonly operator: OperatorAccess
  readonly browserSecret: string
  /** As the supervisor read it last. */
  readonly tls: TlsIdentity | null
  /** When the service was. */
  readonly openedAtUnixSeconds: number
}

const METHODS_IN_V8: ReadonlySet<string> = new Set([
  'start',
  'models.tell',
  'metrics.values',
  ...USAGE_METHODS_IN_V8,
])

export function needsV8(name: string): boolean {
  return METHODS_IN_V8.has(name)
}
