/** The command lines of `sluice users ...`, parsed. `users-command.ts` runs them and is loaded only then. */
import type { Command } from 'commander'
import { MAX_EMAIL_LENGTH } from '../../../accounts/email.ts'
import { INVITATION_DAYS, MAX_INVITED } from '../../../accounts/sessions/invitation-bounds.ts'
import { passwordText } from '../../../config/secret-kinds.ts'
import { choice, textLike, toggle, wholeNumber } from '../../../config/value-kinds.ts'
import { type Role, ROLES } from '../../../core/credential.ts'
import { StartError } from '../../../core/errors.ts'
import type { Tier } from '../../../core/tiers.ts'
import {
  addCommandArgument,
  addCommandArguments,
  addCommandOption,
  type OnCommand,
} from '../../command-options.ts'
import { DEFAULT_URL, serverUrl } from '../../server-url.ts'
import {
  addSpendingCommands,
  addSpendingOptions,
  type Spending,
  type SpendingCommand,
  type SpendingFlags,
  readSpending,
  teamId,
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

export interface UserInvitation {
  readonly action: 'invite'
  readonly emails: readonly string[]
  readonly tier: Tier
  readonly role: Role
  /** An id or a name; null for none. */
  readonly team: string | null
  readonly expiresInDays: number
  /** Of the console, for the links. */
  readonly url: string
  readonly printsJson: boolean
}

export interface UserPasswordChange {
  readonly action: 'password'
  readonly user: string
  /** Null makes one, which is printed. */
  readonly password: string | null
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
  | UserInvitation
  | UserPasswordChange
  | { readonly action: 'list'; readonly printsJson: boolean }
  | { readonly action: 'disable' | 'enable' | 'delete'; readonly user: string }
  | SpendingCommand<'user'>

const email = textLike(
  'e-mail',
  `an e-mail address of at most ${MAX_EMAIL_LENGTH} characters`,
  (text) => text.includes('@') && text.length <= MAX_EMAIL_LENGTH,
)

const NEW_PASSWORD = {
  kind: passwordText,
  defaultText: 'one is made and printed',
  help: 'password of the user: text, env:NAME or @FILE',
}

const USER_ACTIONS = {
  disable: "refuse a user's keys and logins, and end the sessions, from the next request on",
  enable: "let a user's keys and logins in again",
  delete: 'delete a user with all keys and sessions; what they used stays counted',
} as const

export function addUsersCommands(program: Command, onCommand: OnCommand<UsersCommand>): void {
  const users = program.command('users')
  addUserCreation(users, onCommand)

  addUserInvitation(users, onCommand)

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

  const changePassword = users
    .command('password')
    .description('give a user another password, which ends the sessions')
  addCommandArgument(changePassword, userId, 'user')
  addCommandOption(changePassword, 'password', NEW_PASSWORD)
  changePassword.action((user: string, { password = null }: { password?: string | null }) =>
    onCommand({ action: 'password', user, password }, changePassword.opts()),
  )

  for (const action of ['disable', 'enable', 'delete'] as const) {
    const command = users.command(action).description(USER_ACTIONS[action])
    addCommandArgument(command, userId, 'user')
    command.action((user: string) => onCommand({ action, user }, command.opts()))
  }
  addSpendingCommands(users, { subject: 'user', id: userId }, onCommand)
  finishFamily(users, 'registered users')
}

interface InvitationFlags {
  readonly tier?: Tier
  readonly role?: Role
  readonly team?: string
  readonly expiresInDays?: number
  readonly url?: string
  readonly json?: boolean
}

function addUserInvitation(users: Command, onCommand: OnCommand<UsersCommand>): void {
  const invite = users
    .command('invite')
    .description('invite people, also where registration is closed: prints a link for each, which works once')
  addCommandArguments(invite, email, 'e-mail')
  addCommandOption(invite, 'tier', { kind: tierName, defaultText: 'free', help: 'tier of the users' })
  addCommandOption(invite, 'role', { kind: choice(ROLES), defaultText: 'user', help: 'role of the users' })
  addCommandOption(invite, 'team', { kind: teamId, defaultText: 'none', help: 'team of the users' })
  addCommandOption(invite, 'expiresInDays', {
    kind: wholeNumber(INVITATION_DAYS, 'days'),
    defaultText: String(INVITATION_DAYS.default),
    help: 'days after which the links end',
  })
  addCommandOption(invite, 'url', {
    kind: serverUrl,
    defaultText: DEFAULT_URL,
    help: 'where people reach the console',
  })
  addCommandOption(invite, 'json', JSON_OPTION)
  invite.action((emails: readonly string[], given: InvitationFlags) => {
    if (emails.length > MAX_INVITED)
      throw new StartError(
        `at most ${MAX_INVITED} people may be invited at once, but there are ${emails.length}`,
        2,
      )
    const { tier = 'free', role = 'user', team = null, expiresInDays = INVITATION_DAYS.default } = given
    const { url = DEFAULT_URL, json: printsJson = false } = given
    onCommand({ action: 'invite', emails, tier, role, team, expiresInDays, url, printsJson }, invite.opts())
  })
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
  addCommandOption(create, 'password', NEW_PASSWORD)
  addSpendingOptions(create)
  addCommandOption(create, 'json', JSON_OPTION)
  create.action((address: string, given: UserFlags) => {
    const { tier = 'free', password = null, json: printsJson = false } = given
    const spending = readSpending(given)
    onCommand({ action: 'create', email: address, tier, password, spending, printsJson }, create.opts())
  })
}
