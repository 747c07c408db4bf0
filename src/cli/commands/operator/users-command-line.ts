/** The command lines of `sluice users ...`, parsed. `users-command.ts` runs them and is loaded only then. */
import type { Command } from 'commander'
import { MAX_EMAIL_LENGTH } from '../../../accounts/email.ts'
import { passwordText } from '../../../config/secret-kinds.ts'
import { choice, textLike, toggle } from '../../../config/value-kinds.ts'
import { type Role, ROLES } from '../../../core/credential.ts'
import type { Tier } from '../../../core/tiers.ts'
import { addCommandArgument, addCommandOption, type OnCommand } from '../../command-options.ts'
import {
  addSpendingCommands,
  addSpendingOptions,
  type Spending,
  type SpendingCommand,
  type SpendingFlags,
  readSpending,
} from './spending-command-line.ts'
import { finishFamily, JSON_OPTION, tierName, userId } from './operator-command-line.ts'

export interface UserCreation {
  readonly action: 'create'
  readonly email: string
  readonly tier: Tier
  /** Null makes one, which is printed. */
  readonly password: string | null
  readonly spending: Spending
  readonly printsJson: boolean
}

export interface UserTierChange {
  readonly action: 'set-tier'
  readonly user: string
  readonly tier: Tier
  /** Whether the user's keys get the tier as well. */
  readonly withKeys: boolean
}

interface UserRoleChange {
  readonly action: 'set-role'
  readonly user: string
  readonly role: Role
}

/** `user` is an id or an e-mail address. */
export type UsersCommand =
  | UserCreation
  | UserTierChange
  | UserRoleChange
  | { readonly action: 'list'; readonly printsJson: boolean }
  | { readonly action: 'disable' | 'enable' | 'delete'; readonly user: string }
  | SpendingCommand<'user'>

const email = textLike(
  'e-mail',
  `an e-mail address of at most ${MAX_EMAIL_LENGTH} characters`,
  (text) => text.includes('@') && text.length <= MAX_EMAIL_LENGTH,
)

const USER_ACTIONS = {
  disable: "refuse a user's keys and logins, and end the sessions, from the next request on",
  enable: "let a user's keys and logins in again",
  delete: 'delete a user with all keys and sessions; what they used stays counted',
} as const

export function addUsersCommands(program: Command, onCommand: OnCommand<UsersCommand>): void {
  const users = program.command('users')
  addUserCreation(users, onCommand)

  const list = users.command('list').description('list the registered users')
  addCommandOption(list, 'json', JSON_OPTION)
  list.action(({ json = false }: { json?: boolean }) =>
    onCommand({ action: 'list', printsJson: json }, list.opts()),
  )

  const setTier = users
    .command('set-tier')
    .description("give a user another tier; the user's keys keep theirs, unless --keys is given")
  addCommandArgument(setTier, userId, 'user')
  addCommandArgument(setTier, tierName, 'tier')
  addCommandOption(setTier, 'keys', {
    kind: toggle,
    defaultText: 'off',
    help: "give the user's keys the tier too",
  })
  setTier.action((user: string, tier: Tier, { keys: withKeys = false }: { keys?: boolean }) =>
    onCommand({ action: 'set-tier', user, tier, withKeys }, setTier.opts()),
  )

  const setRole = users
    .command('set-role')
    .description('make a user an admin, whose logins may use the admin API and its pages, or a user again')
  addCommandArgument(setRole, userId, 'user')
  addCommandArgument(setRole, choice(ROLES), 'role')
  setRole.action((user: string, role: Role) => onCommand({ action: 'set-role', user, role }, setRole.opts()))

  for (const action of ['disable', 'enable', 'delete'] as const) {
    const command = users.command(action).description(USER_ACTIONS[action])
    addCommandArgument(command, userId, 'user')
    command.action((user: string) => onCommand({ action, user }, command.opts()))
  }
  addSpendingCommands(users, { subject: 'user', id: userId }, onCommand)
  finishFamily(users, 'registered users')
}

interface UserFlags extends SpendingFlags {
  readonly tier?: Tier
  readonly password?: string
  readonly json?: boolean
}

function addUserCreation(users: Command, onCommand: OnCommand<UsersCommand>): void {
  const create = users
    .command('create')
    .description('make a user and a first key; its secret is printed now and never again')
  addCommandArgument(create, email, 'e-mail')
  addCommandOption(create, 'tier', { kind: tierName, defaultText: 'free', help: 'tier of user and key' })
  addCommandOption(create, 'password', {
    kind: passwordText,
    defaultText: 'one is made and printed',
    help: 'password of the user, or @FILE',
  })
  addSpendingOptions(create)
  addCommandOption(create, 'json', JSON_OPTION)
  create.action((address: string, given: UserFlags) => {
    const { tier = 'free', password = null, json: printsJson = false } = given
    const spending = readSpending(given)
    onCommand({ action: 'create', email: address, tier, password, spending, printsJson }, create.opts())
  })
}
