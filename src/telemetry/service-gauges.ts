/** The state of the service around its models, read for each rendering: whether what it needs is up, its certificate, its budgets, its build. */
import { Counter, Gauge } from 'prom-client'
import { standardError } from '../core/output/standard-error.ts'

/** How much of the budgets that callers count under is spent. */
interface BudgetUse {
  readonly scope: string
  readonly period: string
  /** Of the fullest one; above 1 where requests that were running have exceeded it. */
  readonly spentRatio: number
}

interface Build {
  /** Of the package. */
  readonly version: string
  /** Of the interface. */
  readonly interfaceVersion: string
}

export interface ServiceSources {
  readonly isReady: () => boolean
  /** @default it is not told */
  readonly build?: Build
  /** Null or left out without Redis. */
  readonly isRedisUp?: (() => boolean) | null
  /** By its name, for databases that are servers. @default none is */
  readonly isDatabaseUp?: Readonly<Record<string, () => boolean>>
  /** When the certificate in use ends, in Unix seconds. @default null, where there is none */
  readonly certificateExpiresAt?: () => number | null
  /** @default there are none */
  readonly budgetUse?: () => readonly BudgetUse[]
}

/** For a registry. */
export function createServiceGauges(sources: ServiceSources): readonly (Counter | Gauge)[] {
  const { isReady, build, isRedisUp = null, isDatabaseUp = {}, certificateExpiresAt, budgetUse } = sources
  const databases = Object.entries(isDatabaseUp)
  return [
    new Gauge({
      name: 'sluice_ready',
      aggregator: 'max',
      help: '1 while the default model can take work.',
      registers: [],
      collect() {
        this.set(isReady() ? 1 : 0)
      },
    }),
    new Counter({
      name: 'sluice_log_lines_dropped_total',
      help: 'Lines of the log that were dropped because their reader did not take them.',
      registers: [],
      collect() {
        this.reset()
        this.inc(standardError.droppedLines)
      },
    }),
    ...(build === undefined ? [] : [buildInfo(build)]),
    ...(isRedisUp === null ? [] : [redisUp(isRedisUp)]),
    ...(databases.length === 0 ? [] : [databaseUp(databases)]),
    ...(certificateExpiresAt === undefined ? [] : [certificateExpiry(certificateExpiresAt)]),
    ...(budgetUse === undefined ? [] : [budgetSpent(budgetUse)]),
  ]
}

function buildInfo({ version, interfaceVersion }: Build): Gauge {
  return new Gauge({
    name: 'sluice_build_info',
    aggregator: 'max',
    help: '1, with the versions of the package, of the interface and of Node in its labels.',
    labelNames: ['version', 'interface_version', 'node_version'],
    registers: [],
    collect() {
      this.set({ version, interface_version: interfaceVersion, node_version: process.versions.node }, 1)
    },
  })
}

function redisUp(isRedisUp: () => boolean): Gauge {
  return new Gauge({
    name: 'sluice_redis_up',
    help: '1 while Redis answers what is shared between instances; only with `--redis`.',
    registers: [],
    collect() {
      this.set(isRedisUp() ? 1 : 0)
    },
  })
}

function databaseUp(databases: readonly (readonly [string, () => boolean])[]): Gauge {
  return new Gauge({
    name: 'sluice_database_up',
    help: '1 while PostgreSQL answers, as the last statement found it; `accounts`, `usage`; only for databases that are a `postgres://` URL.',
    labelNames: ['database'],
    registers: [],
    collect() {
      for (const [database, isUp] of databases) this.set({ database }, isUp() ? 1 : 0)
    },
  })
}

function certificateExpiry(expiresAt: () => number | null): Gauge {
  return new Gauge({
    name: 'sluice_certificate_expiry_timestamp_seconds',
    aggregator: 'min',
    help: 'When the TLS certificate in use ends, in Unix seconds; only with TLS.',
    registers: [],
    collect() {
      const at = expiresAt()
      if (at !== null) this.set(at)
    },
  })
}

function budgetSpent(budgetUse: () => readonly BudgetUse[]): Gauge {
  return new Gauge({
    name: 'sluice_budget_spent_ratio',
    aggregator: 'max',
    help: 'The share that is spent of the fullest token budget in its period, of those under which something was asked for in the last 15 minutes.',
    labelNames: ['scope', 'period'],
    registers: [],
    collect() {
      this.reset()
      for (const { scope, period, spentRatio } of budgetUse()) this.set({ scope, period }, spentRatio)
    },
  })
}
