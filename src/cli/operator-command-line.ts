/**
 * The words of `sluice keys ...` and `sluice users ...`: what each command takes, and what it asks for once they are
 * read. What the commands do stands in `keys-command.ts` and `users-command.ts`, which are loaded only to be run.
 */
import type { Command } from 'commander'
import type { OptionName } from '../config/server-config.ts'
import { choice, textLike, toggle, wholeNumber } from '../config/value-kinds.ts'
import { type Tier, TIERS } from '../core/tiers.ts'
import { addCommandArgument, addCommandOption, addConfigOption } from './command-options.ts'

export type KeysCommand =
  | {
      readonly action: 'create'
      readonly name: string
      readonly tier: Tier
      /** Id or e-mail address; null makes a key that is an account of its own. */
      readonly user: string | null
      /** Null never expires. */
      readonly expiresInDays: number | null
      /** Null takes the tier's. */
      readonly rateLimitRpm: number | null
      readonly printsJson: boolean
    }
  | {
      readonly action: 'list'
      /** Id or e-mail address; null lists everyone's. */
      readonly user: string | null
      readonly printsJson: boolean
    }
  | { readonly action: 'revoke'; readonly key: string }
  | { readonly action: 'set-tier'; readonly key: string; readonly tier: Tier }

export type UsersCommand =
  | { readonly action: 'list'; readonly printsJson: boolean }
  | { readonly action: 'set-tier'; readonly user: string; readonly tier: Tier }

export type OperatorCommandLine = (
  | { readonly kind: 'keys'; readonly command: KeysCommand }
  | { readonly kind: 'users'; readonly command: UsersCommand }
) & {
  /** Text of the configuration's options. */
  readonly flags: Readonly<Record<string, unknown>>
}

type OnCommand = (commandLine: OperatorCommandLine) => void

/** Where the database is; taken by every one of these commands, as `serve` takes them. */
const DATABASE_OPTIONS: readonly OptionName[] = ['apiDb', 'dataDir', 'config']

const MAX_NAME_LENGTH = 64
const SECRET_LENGTH = 'sk-svc-'.length + 64

const keyName = textLike(
  'name',
  `at most ${MAX_NAME_LENGTH} characters without a null character`,
  (text) => Array.from(text).length <= MAX_NAME_LENGTH && !/\0|\p{Surrogate}/u.test(text),
)
const tier = choice(TIERS)
const user = textLike('id|e-mail', 'the id or the e-mail address of a user', (text) => text !== '')
const keyId = textLike('id|prefix', 'the id or the prefix of a key', (text) => text !== '')

const USER = { kind: user, defaultText: 'none' }
const JSON_OPTION = { kind: toggle, defaultText: 'off', help: 'print one JSON object, for scripts' }

interface CreateOptions {
  readonly name?: string
  readonly tier?: Tier
  readonly user?: string
  readonly expiresInDays?: number
  readonly rateLimitRpm?: number
  readonly json?: boolean
}

export function addKeysCommands(program: Command, onCommand: OnCommand): void {
  const keys = program.command('keys')
  const create = keys.command('create').description('make a key; its secret is printed once')
  addCommandOption(create, 'name', { kind: keyName, defaultText: 'none', help: 'what the key is called' })
  addCommandOption(create, 'tier', { kind: tier, defaultText: 'free', help: 'tier of the key' })
  addCommandOption(create, 'user', {
    ...USER,
    help: 'who owns the key; without an owner it is an account of its own',
  })
  addCommandOption(create, 'expiresInDays', {
    kind: wholeNumber({ min: 1, max: 3650 }, 'days'),
    defaultText: 'never',
    help: 'days after which the key ends',
  })
  addCommandOption(create, 'rateLimitRpm', {
    kind: wholeNumber({ min: 1, max: 1_000_000 }),
    defaultText: "the tier's",
    help: 'requests per minute',
  })
  addCommandOption(create, 'json', JSON_OPTION)
  create.action(({ name = '', tier = 'free', user, expiresInDays, rateLimitRpm, json }: CreateOptions) =>
    onCommand({
      kind: 'keys',
      command: {
        action: 'create',
        name,
        tier,
        user: user ?? null,
        expiresInDays: expiresInDays ?? null,
        rateLimitRpm: rateLimitRpm ?? null,
        printsJson: json === true,
      },
      flags: create.opts(),
    }),
  )

  const list = keys.command('list').description('list the keys, revoked and expired ones too')
  addCommandOption(list, 'user', { ...USER, defaultText: 'everyone', help: 'whose keys to list' })
  addCommandOption(list, 'json', JSON_OPTION)
  list.action(({ user, json }: Pick<CreateOptions, 'user' | 'json'>) =>
    onCommand({
      kind: 'keys',
      command: { action: 'list', user: user ?? null, printsJson: json === true },
      flags: list.opts(),
    }),
  )

  const revoke = keys.command('revoke').description('end a key, from the next request on')
  addCommandArgument(revoke, keyId, 'key')
  revoke.action((key: string) =>
    onCommand({ kind: 'keys', command: { action: 'revoke', key }, flags: revoke.opts() }),
  )

  const setTier = keys.command('set-tier').description('give a key another tier')
  addCommandArgument(setTier, keyId, 'key')
  addCommandArgument(setTier, tier, 'tier')
  setTier.action((key: string, tier: Tier) =>
    onCommand({ kind: 'keys', command: { action: 'set-tier', key, tier }, flags: setTier.opts() }),
  )
  finishFamily(keys, 'API keys')
}

export function addUsersCommands(program: Command, onCommand: OnCommand): void {
  const users = program.command('users')
  const list = users.command('list').description('list the registered users')
  addCommandOption(list, 'json', JSON_OPTION)
  list.action(({ json }: Pick<CreateOptions, 'json'>) =>
    onCommand({
      kind: 'users',
      command: { action: 'list', printsJson: json === true },
      flags: list.opts(),
    }),
  )

  const setTier = users
    .command('set-tier')
    .description("give a user's account another tier; its keys keep theirs")
  addCommandArgument(setTier, user, 'user')
  addCommandArgument(setTier, tier, 'tier')
  setTier.action((user: string, tier: Tier) =>
    onCommand({ kind: 'users', command: { action: 'set-tier', user, tier }, flags: setTier.opts() }),
  )
  finishFamily(users, 'registered users')
}
