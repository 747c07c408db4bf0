/**
 * The dependencies of the API; `app/open-service.ts` and tests build them. Only `app.ts` takes all of them: every other part
 * declares with `Pick` those that it uses.
 */
import type { AccountService } from '../accounts/account-service.ts'
import type { AdminCheck } from '../accounts/admin-secret.ts'
import type { Authenticator } from '../accounts/authenticator.ts'
import type { BrowserSessions } from '../accounts/sessions/browser-sessions.ts'
import type { GuestService } from '../accounts/sessions/guest-service.ts'
import type { AuditLog } from '../accounts/audit-log.ts'
import type { FindGroupNames } from '../accounts/group-names.ts'
import type { InvitationService } from '../accounts/sessions/invitation-service.ts'
import type { KeyService } from '../accounts/keys/key-service.ts'
import type { TeamService } from '../accounts/team-service.ts'
import type { Clock } from '../core/clock.ts'
import type { ServiceError } from '../core/errors.ts'
import type { OutputGuard } from '../guards/output/output-guard.ts'
import type { AddressRules } from '../guards/address-list.ts'
import type { TrustedProxies } from '../guards/trusted-proxies.ts'
import type { Firewall } from '../guards/firewall/firewall.ts'
import type { HttpBounds } from '../net/http-bounds.ts'
import type { OwnHosts } from '../net/own-hosts.ts'
import type { AddressLimiter } from '../limits/address-limiter.ts'
import type { PromptGuard } from '../guards/prompt/prompt-guard.ts'
import type { TokenBudgets } from '../limits/token-budgets.ts'
import type { RequestLimiter } from '../limits/request-limiter.ts'
import type { QuantizeJobs } from '../models/quantize-jobs.ts'
import type { Models } from '../models/registry.ts'
import type { CheckCheckpoint } from '../protocol/checkpoint-report.ts'
import type { Log } from '../telemetry/log.ts'
import type { Tracing } from '../telemetry/tracing.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { RecentErrors } from '../telemetry/recent-errors.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import type { UsageReports } from '../usage/usage-reports.ts'
import type { ConsoleFiles } from './console/console-files.ts'
import type { StartSilenceTimer } from './silence-timer.ts'

export interface AppDeps {
  readonly registry: Models
  readonly quantizeJobs: Pick<QuantizeJobs, 'quantize'>
  readonly checkCheckpoint: CheckCheckpoint
  /** The access class of quantization: any key, or the admin key. */
  readonly modelAdmin: 'key' | 'admin'
  /** Of a chat that names no number; `context` is as many as its tier and the model's context allow. */
  readonly defaultMaxTokens: number | 'context'
  readonly authenticator: Authenticator
  /** Null where the admin API is off. */
  readonly adminCheck: AdminCheck | null
  /** The same at the metrics, which other keys open too. */
  readonly metricsCheck: AdminCheck | null
  /** Null where no traces are sent. */
  readonly tracing: Tracing | null
  readonly accounts: AccountService
  readonly browserSessions: BrowserSessions
  readonly guests: GuestService
  readonly invitations: InvitationService
  readonly keys: KeyService
  readonly limiter: Pick<RequestLimiter, 'admit' | 'inUse'>
  /** Null where no proxy is trusted. */
  readonly trustedProxies: TrustedProxies | null
  /** Null where no address is refused. */
  readonly addressRules: AddressRules | null
  /** Null where it is off. */
  readonly firewall: Firewall | null
  /** Null where addresses are not limited. */
  readonly addressLimiter: AddressLimiter | null
  /** Null where answers are not checked. */
  readonly outputGuard: OutputGuard | null
  /** Null where prompts are not scanned. */
  readonly promptGuard: PromptGuard | null
  readonly tokenBudgets: Pick<TokenBudgets, 'spend' | 'report'>
  readonly teams: TeamService
  readonly auditLog: AuditLog
  readonly usageRecorder: Pick<UsageRecorder, 'record'>
  readonly usageReports: UsageReports
  readonly findGroupNames: FindGroupNames
  /** Origins whose pages may call from a browser; none is the default. */
  readonly corsOrigins: readonly string[]
  /** Where every caller is let in: the names it must have called. Null where a key is asked for. */
  readonly ownHosts: OwnHosts | null
  /** Null where it was not built, or is off. */
  readonly console: ConsoleFiles | null
  readonly clock: Clock
  /** By the clock. */
  readonly startedMs: number
  readonly log: Log
  readonly metrics: Metrics
  readonly recentErrors: RecentErrors
  /** Why this server cannot take work now, for its `ready`; null while it can. */
  readonly whyNotReady: () => ServiceError | null
  /** Where the data folder is, and what is free there; null where there is none. */
  readonly disk: () => Promise<{ readonly folder: string; readonly freeBytes: number } | null>
  /** Knows of databases that were removed under the server. */
  readonly storageWatch: { readonly lost: ServiceError | null }
  /** True from SIGTERM on: new generation requests are refused. */
  readonly isDraining: () => boolean
  /** @default HTTP_BOUNDS */
  readonly httpBounds?: Partial<HttpBounds>
  /** @default Node's own timers */
  readonly startSilenceTimer?: StartSilenceTimer
}
