/**
 * The command lines of `sluice usage` and `sluice audit`, parsed. `usage-command.ts` and `audit-command.ts` run them and are
 * loaded only then.
 */
import type { Command } from 'commander'
import type { OptionName } from '../../../config/options.ts'
import { choice, textLike, toggle, type ValueKind, ValueProblem } from '../../../config/value-kinds.ts'
import { StartError } from '../../../core/errors.ts'
import {
  USAGE_BUCKETS,
  type UsageBucket,
  USAGE_GROUPS,
  type UsageGroup,
} from '../../../storage/usage-store.ts'
import { addCommandOption, addConfigOption, type OnCommand } from '../../command-options.ts'
import { DATABASE_OPTIONS, JSON_OPTION, userId } from './operator-command-line.ts'

export interface UsageCommand {
  readonly groupBy: UsageGroup
  readonly bucket: UsageBucket | null
  /** Unix seconds. */
  readonly since: number | null
  /** Unix seconds, exclusive. */
  readonly until: number | null
  /** Id or e-mail address. */
  readonly user: string | null
  readonly format: 'table' | 'json' | 'csv'
}

export interface AuditCommand {
  /** Unix seconds. */
  readonly since: number | null
  /** Unix seconds, exclusive. */
  readonly until: number | null
  /** Null lists all. */
  readonly only: string | null
  readonly printsJson: boolean
}

const EXPECTED_MOMENT = 'a day such as 2026-11-23, a time such as 2026-11-23T14:00Z, or Unix seconds'

const ISO = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** Days begin at midnight in UTC. */
const moment: ValueKind<number> = {
  placeholder: 'time',
  expected: EXPECTED_MOMENT,
  parse: (given) => {
    const text = String(given)
    const seconds = /^\d{1,12}(?:\.\d{1,6})?$/.test(text)
      ? Number(text)
      : Date.parse(ISO.test(text) ? text : '') / 1000
    if (Number.isNaN(seconds)) throw new ValueProblem(`must be ${EXPECTED_MOMENT}, but was '${text}'`)
    return seconds
  },
}

interface UsageFlags extends Partial<Omit<UsageCommand, 'format'>> {
  readonly json?: boolean
  readonly csv?: boolean
}

const USAGE_OPTIONS: readonly OptionName[] = ['apiDb', 'usageDb', 'dataDir', 'config']

export function addUsageCommand(program: Command, onCommand: OnCommand<UsageCommand>): void {
  const usage = program
    .command('usage')
    .usage('[options]')
    .description('tokens and requests by key, user, team, model or endpoint, while the server runs or not')
  addCommandOption(usage, 'groupBy', {
    kind: choice(USAGE_GROUPS),
    defaultText: 'key',
    help: 'one row for each',
  })
  addCommandOption(usage, 'bucket', {
    kind: choice(USAGE_BUCKETS),
    defaultText: 'the whole span',
    help: 'one row for each hour or day of UTC',
  })
  addCommandOption(usage, 'since', {
    kind: moment,
    defaultText: 'all there is',
    help: 'beginning, inclusive: a day, a time or Unix seconds',
  })
  addCommandOption(usage, 'until', { kind: moment, defaultText: 'now', help: 'end, exclusive' })
  addCommandOption(usage, 'user', { kind: userId, defaultText: 'everyone', help: 'whose usage' })
  addCommandOption(usage, 'json', JSON_OPTION)
  addCommandOption(usage, 'csv', { kind: toggle, defaultText: 'off', help: 'print comma-separated values' })
  for (const name of USAGE_OPTIONS) addConfigOption(usage, name, { heading: 'Databases' })
  usage.action((flags: UsageFlags) => {
    const { groupBy = 'key', bucket = null, since = null, until = null, user = null, json, csv } = flags
    if (json === true && csv === true) throw new StartError('--json and --csv cannot be given together', 2)
    if (until !== null && until <= (since ?? 0)) throw new StartError('--until must be later than --since', 2)
    const format = json === true ? 'json' : csv === true ? 'csv' : 'table'
    onCommand({ groupBy, bucket, since, until, user, format }, usage.opts())
  })
}

const actionName = textLike('action', 'the name of an action', (text) => text !== '')

export function addAuditCommand(program: Command, onCommand: OnCommand<AuditCommand>): void {
  const audit = program
    .command('audit')
    .usage('[options]')
    .description('what was done as the admin, on the API and on the command line, oldest first')
  addCommandOption(audit, 'since', {
    kind: moment,
    defaultText: 'all there is',
    help: 'beginning, inclusive: a day, a time or Unix seconds',
  })
  addCommandOption(audit, 'until', { kind: moment, defaultText: 'now', help: 'end, exclusive' })
  addCommandOption(audit, 'action', {
    kind: actionName,
    defaultText: 'all',
    help: 'only these, such as key.revoke',
  })
  addCommandOption(audit, 'json', JSON_OPTION)
  for (const name of DATABASE_OPTIONS) addConfigOption(audit, name, { heading: 'Database' })
  audit.action((flags: { since?: number; until?: number; action?: string; json?: boolean }) => {
    const { since = null, until = null, action: only = null, json: printsJson = false } = flags
    if (until !== null && until <= (since ?? 0)) throw new StartError('--until must be later than --since', 2)
    onCommand({ since, until, only, printsJson }, audit.opts())
  })
}
