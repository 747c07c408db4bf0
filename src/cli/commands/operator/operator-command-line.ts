/**
 * Parses the command lines of `sluice keys ...` and `sluice users ...`. `operator-commands.ts` runs the result and is
 * loaded only then.
 */
import {
  MAX_EXPIRY_DAYS,
  MAX_KEY_NAME_LENGTH,
  MAX_RATE_LIMIT_RPM,
} from '../../../accounts/keys/key-bounds.ts'
import type { Command } from 'commander'
import { isKeySecret } from '../../../accounts/keys/key-secret.ts'
import type { OptionName } from '../../../config/options.ts'
import {
  choice,
  textLike,
  toggle,
  type ValueKind,
  ValueProblem,
  wholeNumber,
} from '../../../config/value-kinds.ts'
import { StartError } from '../../../core/errors.ts'
import { type Tier, TIERS } from '../../../core/tiers.ts'
import {
  addCommandArgument,
  addCommandOption,
  addConfigOption,
  type OnCommand,
} from '../../command-options.ts'
import {
  addSpendingCommands,
  addSpendingOptions,
  type Spending,
  type SpendingCommand,
  type SpendingFlags,
  readSpending,
} from './spending-command-line.ts'

export interface KeyCreation {
  readonly action: 'create'
  readonly name: string
  readonly tier: Tier
  /** Id or e-mail address; null makes a key that is an account of its own. */
  readonly user: string | null
  /** Null never expires. */
  readonly expiresInDays: number | null
  /** Null takes the tier's. */
  readonly rateLimitRpm: number | null
  readonly spending: Spending
  readonly printsJson: boolean
}

export interface KeyListing {
  readonly action: 'list'
  /** Id or e-mail address; null lists the keys of all users. */
  readonly user: string | null
  readonly printsJson: boolean
}

/** `key` is an id or a prefix. */
export type KeysCommand =
  | KeyCreation
  | KeyListing
  | { readonly action: 'revoke'; readonly key: string }
  | { readonly action: 'rename'; readonly key: string; readonly name: string }
  /** From now on. */
  | { readonly action: 'extend'; readonly key: string; readonly expiresInDays: number }
  | { readonly action: 'set-tier'; readonly key: string; readonly tier: Tier }
  | SpendingCommand<'key'>

/** The location of the database; options of each of these commands, read as by `serve`. @public */
export const DATABASE_OPTIONS: readonly OptionName[] = ['apiDb', 'dataDir', 'config']

const keyName = textLike(
  'name',
  `at most ${MAX_KEY_NAME_LENGTH} characters without a null character`,
  (text) => Array.from(text).length <= MAX_KEY_NAME_LENGTH && !/\0|\p{Surrogate}/u.test(text),
)

const anyKeyId = textLike('id|prefix', 'the id or the prefix of a key', (text) => text !== '')
const keyId: ValueKind<string> = {
  ...anyKeyId,
  parse: (given) => {
    // Without the value, which would put a secret on the terminal and into its logs.
    if (typeof given === 'string' && isKeySecret(given)) {
      throw new ValueProblem('must be the id or the prefix of a key, but is a whole secret')
    }
    return anyKeyId.parse(given)
  },
}
export const userId = textLike('id|e-mail', 'the id or the e-mail address of a user', (text) => text !== '')
export const tierName = choice(TIERS)
const expiryDays = wholeNumber({ min: 1, max: MAX_EXPIRY_DAYS }, 'days')

export const JSON_OPTION = { kind: toggle, defaultText: 'off', help: 'print one JSON object, for scripts' }

export function addKeysCommands(program: Command, onCommand: OnCommand<KeysCommand>): void {
  const keys = program.command('keys')
  addKeyCreation(keys, onCommand)

  const list = keys.command('list').description('list the keys, revoked and expired ones too')
  addCommandOption(list, 'user', { kind: userId, defaultText: 'everyone', help: 'whose keys to list' })
  addCommandOption(list, 'json', JSON_OPTION)
  list.action(({ user = null, json = false }: { user?: string | null; json?: boolean }) =>
    onCommand({ action: 'list', user, printsJson: json }, list.opts()),
  )

  const revoke = keys.command('revoke').description('end a key, from its next request on')
  addCommandArgument(revoke, keyId, 'key')
  revoke.action((key: string) => onCommand({ action: 'revoke', key }, revoke.opts()))

  const rename = keys.command('rename').description('give a key another name')
  addCommandArgument(rename, keyId, 'key')
  addCommandArgument(rename, keyName, 'name')
  rename.action((key: string, name: string) => onCommand({ action: 'rename', key, name }, rename.opts()))

  const extend = keys.command('extend').description('let a key end so many days from now')
  addCommandArgument(extend, keyId, 'key')
  addCommandArgument(extend, expiryDays, 'days')
  extend.action((key: string, expiresInDays: number) =>
    onCommand({ action: 'extend', key, expiresInDays }, extend.opts()),
  )

  const setTier = keys.command('set-tier').description('give a key another tier, from its next request on')
  addCommandArgument(setTier, keyId, 'key')
  addCommandArgument(setTier, tierName, 'tier')
  setTier.action((key: string, tier: Tier) => onCommand({ action: 'set-tier', key, tier }, setTier.opts()))

  addSpendingCommands(keys, { subject: 'key', id: keyId }, onCommand)

  finishFamily(keys, 'API keys')
}

function addKeyCreation(keys: Command, onCommand: OnCommand<KeysCommand>): void {
  const create = keys.command('create').description('make a key; its secret is printed now and never again')
  addCommandOption(create, 'name', { kind: keyName, defaultText: 'none', help: 'what the key is called' })
  addCommandOption(create, 'tier', { kind: tierName, defaultText: 'free', help: 'tier of the key' })
  addCommandOption(create, 'user', {
    kind: userId,
    defaultText: 'nobody, an account of its own',
    help: 'who owns the key',
  })
  addCommandOption(create, 'expiresInDays', {
    kind: expiryDays,
    defaultText: 'never',
    help: 'days after which the key expires',
  })
  addCommandOption(create, 'rateLimitRpm', {
    kind: wholeNumber({ min: 1, max: MAX_RATE_LIMIT_RPM }),
    defaultText: "the tier's",
    help: 'requests per minute',
  })
  addSpendingOptions(create)
  addCommandOption(create, 'json', JSON_OPTION)
  create.action(({ json = false, ...given }: Partial<KeyCreation> & SpendingFlags & { json?: boolean }) => {
    const { name = '', tier = 'free', user = null, expiresInDays = null, rateLimitRpm = null } = given
    const spending = readSpending(given)
    onCommand(
      { action: 'create', name, tier, user, expiresInDays, rateLimitRpm, spending, printsJson: json },
      create.opts(),
    )
  })
}

/** Adds the common options; call when all commands of the family are added. */
export function finishFamily(family: Command, subject: string): void {
  const { commands } = family
  for (const command of commands) {
    for (const name of DATABASE_OPTIONS) addConfigOption(command, name, { heading: 'Database' })
  }
  const names = commands.map((command) => command.name()).join(', ')
  family
    .description(`${subject}: ${names}`)
    .helpCommand(true)
    .action(() => {
      throw new StartError(`'${family.name()}' needs one of its commands: ${names}`, 2)
    })
}
