/** `sluice keys`, `sluice users` and `sluice teams`: manage them without HTTP, through the same services. */
import os from 'node:os'
import type { CreatedKey, KeyService } from '../../../accounts/keys/key-service.ts'
import type { KeyRecord } from '../../../accounts/keys/key-record.ts'
import type { AdminKeyBody } from '../../../api/schemas/keys.ts'
import { ServiceError, StartError } from '../../../core/errors.ts'
import type { CommandLine } from '../../command-line.ts'
import { listAllPages, type Services, withServices } from '../../open-services.ts'
import type { KeyCreation, KeyListing, KeysCommand } from './operator-command-line.ts'
import { answerTeams, describeBudgets, findTeamId } from './teams-command.ts'
import { answerUsers } from './users-command.ts'
import { renderFacts, renderTable, toIsoDay } from '../../terminal/table.ts'
import type { CommandContext } from '../../terminal/terminal.ts'
import { escapeUnseen, toJsonLine } from '../../terminal/terminal-text.ts'

type OperatorCommand = Extract<CommandLine, { kind: 'keys' | 'users' | 'teams' }>

/** Resolves with the exit code. */
export async function runOperatorCommand(
  operatorCommand: OperatorCommand,
  context: CommandContext<'apiDb' | 'dataDir'>,
): Promise<number> {
  const { command } = operatorCommand
  // A user who will own the key exists already, so the database does.
  const createsDatabase = command.action === 'create' && (!('user' in command) || command.user === null)
  const { terminal } = context
  await withServices(context, { createsDatabase }, async (services) => {
    let target = namedTarget(operatorCommand)
    const act = () => answerCommand(operatorCommand, services, (id) => void (target = id))
    const printed = await audited(operatorCommand, services, { target: () => target, act })
    terminal.print(printed, () => {
      const lost = describeLost(operatorCommand, target)
      if (lost !== null) terminal.complain(`sluice: ${lost}`)
    })
  })
  return 0
}

/** Of what has a secret that is printed once: how to end what nobody can use. Null of any other. */
function describeLost({ kind, command }: OperatorCommand, id: string | null): string | null {
  if (command.action !== 'create' || kind === 'teams') return null
  const end = kind === 'keys' ? 'revoke' : 'delete'
  return `${SUBJECTS[kind]} ${id} was made, and its secret cannot be shown again: 'sluice ${kind} ${end} ${id}' ends it.`
}

function answerCommand(
  { kind, command }: OperatorCommand,
  services: Services,
  onTarget: OnTarget,
): Promise<string> {
  switch (kind) {
    case 'keys':
      return answerKeys(command, services, onTarget)
    case 'users':
      return answerUsers(command, services, onTarget)
    case 'teams':
      return answerTeams(command, services, onTarget)
  }
}

/** Called with the id of what a command is about, when it is found or made. */
type OnTarget = (id: string) => void

const SUBJECTS = { keys: 'key', users: 'user', teams: 'team' } as const

interface Deed {
  /** The id of what the command is about, as far as it is known. */
  readonly target: () => string | null
  readonly act: () => Promise<string>
}

/** What only lists is not in the audit log. */
function audited(
  { kind, command }: OperatorCommand,
  { auditLog }: Services,
  { target, act }: Deed,
): Promise<string> {
  const { action, ...given } = command
  if (action === 'list') return act()
  const details = toDetails(given)
  const name = action === 'invite' ? 'invitation.create' : `${SUBJECTS[kind]}.${action}`
  const actor = `command-line:${userName()}`
  return auditLog.record({ actor, action: name, details, requestId: null, target }, act)
}

/** How a command prints, and where a link leads, is nothing that it changes. */
const PRESENTATION = new Set(['printsJson', 'url'])

/** What was asked for, under the names that the admin API has for it. */
function toDetails(given: object): Record<string, unknown> {
  const details = Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    if (PRESENTATION.has(name)) return []
    const isGroup = name === 'spending' || name === 'budgets'
    return isGroup ? Object.entries(toDetails(value as object)) : [[toSnakeCase(name), value]]
  })
  return Object.fromEntries(details) as Record<string, unknown>
}

const toSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The number of a user who has no name here, as in a container that is run as any user. */
function userName(): string {
  try {
    return os.userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

/** As it was given: what is not found is in the audit log by that. */
function namedTarget({ kind, command }: OperatorCommand): string | null {
  switch (kind) {
    case 'keys':
      return 'key' in command ? command.key : null
    case 'users':
      return 'user' in command ? command.user : null
    case 'teams':
      return 'team' in command ? command.team : null
  }
}

async function answerKeys(command: KeysCommand, services: Services, onTarget: OnTarget): Promise<string> {
  const findNamed = async (idOrPrefix: string): Promise<KeyRecord> => {
    const key = await findKey(idOrPrefix, services.keys)
    onTarget(key.id)
    return key
  }
  switch (command.action) {
    case 'create':
      return await createKey(command, services, onTarget)
    case 'list':
      return await listKeys(command, services)
    case 'revoke':
      return await revokeKey(await findNamed(command.key), services.keys)
    case 'rename': {
      const { id } = await findNamed(command.key)
      const { keyPrefix, name } = await services.keys.change(id, { name: command.name })
      return `Key ${keyPrefix} (${id}) is called '${escapeUnseen(name)}' now.`
    }
    case 'extend': {
      const { id } = await findNamed(command.key)
      const { expiresInDays } = command
      const { keyPrefix, expiresAtUnixSeconds } = await services.keys.change(id, { expiresInDays })
      const end = expiresAtUnixSeconds === null ? 'never' : toIsoDay(expiresAtUnixSeconds)
      return `Key ${keyPrefix} (${id}) expires ${end} now.`
    }
    case 'set-team': {
      const { id } = await findNamed(command.key)
      const teamId = await findTeamId(command.team, services.teams)
      const { keyPrefix } = await services.keys.change(id, { teamId })
      const where = teamId === null ? "no team of its own, and so in its user's" : `team ${command.team}`
      return `Key ${keyPrefix} (${id}) is in ${where} now.`
    }
    case 'set-budget': {
      const { id } = await findNamed(command.key)
      const key = await services.keys.change(id, command.budgets)
      return `Key ${key.keyPrefix} (${id}) may use ${describeBudgets(key)} now.`
    }
    case 'set-tier': {
      const { id } = await findNamed(command.key)
      const { keyPrefix, tier, rateLimitRpm } = await services.keys.change(id, { tier: command.tier })
      return `Key ${keyPrefix} (${id}) has tier ${tier} now, ${rateLimitRpm} requests per minute.`
    }
  }
}

async function createKey(
  command: KeyCreation,
  { accounts, keys, teams }: Services,
  onTarget: OnTarget,
): Promise<string> {
  const { name, tier, expiresInDays, rateLimitRpm, spending, printsJson } = command
  const { team = null, ...budgets } = spending
  const user = command.user === null ? null : await accounts.findUser(command.user)
  const made = await keys.createFor({
    name,
    tier,
    expiresInDays,
    userId: user?.userId ?? null,
    customRateLimitRpm: rateLimitRpm,
    spending: { ...budgets, teamId: await findTeamId(team, teams) },
  })
  onTarget(made.record.id)
  const email = user?.email ?? null
  return printsJson
    ? toJsonLine({ key: made.keySecret, ...toKeyJson(made.record, email) })
    : describeCreatedKey(made, email)
}

function describeCreatedKey({ record, keySecret }: CreatedKey, email: string | null): string {
  const expiry = record.expiresAtUnixSeconds
  const facts: [string, string][] = [
    ['id', record.id],
    ['name', record.name],
    ['tier', record.tier],
    ['requests per minute', String(record.rateLimitRpm)],
    ['owner', email ?? ''],
    ['expires', expiry === null ? 'never' : toIsoDay(expiry)],
  ]
  return [
    'The secret of the new key, shown now and never again:',
    '',
    `  ${keySecret}`,
    '',
    ...renderFacts(facts),
  ].join('\n')
}

const KEY_COLUMNS = [
  'id',
  'prefix',
  'name',
  'tier',
  'active',
  'rpm',
  'owner',
  'created',
  'expires',
  'last used',
]

async function listKeys({ user, printsJson }: KeyListing, services: Services): Promise<string> {
  const { accounts, keys: service } = services
  const owner = user === null ? null : await accounts.findUser(user)
  const records = await listAllPages((page) => service.listAll(page, owner?.userId ?? null))
  const users = owner === null ? await listAllPages((page) => accounts.listUsers(page)) : [owner]
  const emails = new Map(users.map(({ userId, email }) => [userId, email]))
  const emailOf = ({ userId }: KeyRecord) => (userId === null ? null : (emails.get(userId) ?? null))

  if (printsJson) {
    const keys = records.map((record) => toKeyJson(record, emailOf(record)))
    return toJsonLine({ keys, count: keys.length })
  }
  if (records.length === 0) return 'There are no keys.'
  return renderTable(
    KEY_COLUMNS,
    records.map((record) => toKeyRow(record, emailOf(record))),
  ).join('\n')
}

function toKeyRow(record: KeyRecord, email: string | null): readonly string[] {
  const { id, keyPrefix, name, tier, isActive, rateLimitRpm } = record
  const { expiresAtUnixSeconds: expiry, lastUsedAtUnixSeconds: lastUse } = record
  return [
    id,
    keyPrefix,
    name,
    tier,
    isActive ? 'yes' : 'no',
    String(rateLimitRpm),
    email ?? '',
    toIsoDay(record.createdAtUnixSeconds),
    expiry === null ? 'never' : toIsoDay(expiry),
    lastUse === null ? 'never' : toIsoDay(lastUse),
  ]
}

/** The row of the admin API's listing, with the owner's e-mail address. */
function toKeyJson(record: KeyRecord, email: string | null): AdminKeyBody & { email: string | null } {
  return {
    id: record.id,
    key_prefix: record.keyPrefix,
    name: record.name,
    tier: record.tier,
    is_active: record.isActive,
    created_at: record.createdAtUnixSeconds,
    expires_at: record.expiresAtUnixSeconds,
    rate_limit_rpm: record.rateLimitRpm,
    last_used: record.lastUsedAtUnixSeconds,
    user_id: record.userId,
    team_id: record.teamId,
    daily_token_budget: record.dailyTokenBudget,
    monthly_token_budget: record.monthlyTokenBudget,
    email,
  }
}

async function revokeKey({ id, keyPrefix }: KeyRecord, keys: KeyService): Promise<string> {
  try {
    await keys.revokeAny(id)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'key_not_found') throw error
    throw new StartError(`Key ${keyPrefix} (${id}) is revoked already.`, 1, { cause: error })
  }
  return `Key ${keyPrefix} (${id}) is revoked.`
}

/**
 * The key with this id or this prefix.
 * @throws ServiceError `key_not_found`; StartError when more than one key has the prefix
 */
async function findKey(idOrPrefix: string, keys: KeyService): Promise<KeyRecord> {
  const items = await listAllPages((page) => keys.listAll(page))
  const found = items.filter(({ id, keyPrefix }) => id === idOrPrefix || keyPrefix === idOrPrefix)
  const [key, ...others] = found
  if (key === undefined) throw new ServiceError('key_not_found', { keyId: idOrPrefix })
  if (others.length === 0) return key
  const ids = found.map(({ id }) => id).join(', ')
  throw new StartError(
    `${found.length} keys have the prefix '${idOrPrefix}'; give the id of one: ${ids}.`,
    1,
    {
      cause: new ServiceError('key_not_found', { keyId: idOrPrefix }),
    },
  )
}
