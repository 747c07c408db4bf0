/** `sluice users`: manages registered users without HTTP, by the rules of the accounts service. */
import { randomBytes } from 'node:crypto'
import type { User } from '../../../accounts/account-service.ts'
import { ServiceError, StartError } from '../../../core/errors.ts'
import { describeBudgets, findTeamId } from './teams-command.ts'
import { listAllPages, type Services } from '../../open-services.ts'
import { renderFacts, renderTable, toIsoDay } from '../../terminal/table.ts'
import { escapeUnseen, toJsonLine } from '../../terminal/terminal-text.ts'
import type {
  UserCreation,
  UserInvitation,
  UserPasswordChange,
  UsersCommand,
  UserTierChange,
} from './users-command-line.ts'

/** 24 characters of 64. */
const PASSWORD_BYTES = 18

/** @param onTarget is called with the id of the user that it is about, when it is found or made */
export async function answerUsers(
  command: UsersCommand,
  services: Services,
  onTarget: (userId: string) => void,
): Promise<string> {
  const { accounts } = services
  const findNamed = async (idOrEmail: string): Promise<User> => {
    const user = await accounts.findUser(idOrEmail)
    onTarget(user.userId)
    return user
  }
  switch (command.action) {
    case 'create':
      return await createUser(command, services, onTarget)
    case 'list': {
      const items = await listAllPages((page) => accounts.listUsers(page))
      if (command.printsJson) return toJsonLine({ users: items.map(toUserJson), count: items.length })
      return items.length === 0
        ? 'There are no users.'
        : renderTable(USER_COLUMNS, items.map(toUserRow)).join('\n')
    }
    case 'invite':
      return await inviteUsers(command, services)
    case 'password':
      return await changePassword(command, await findNamed(command.user), services)
    case 'set-tier':
      return await setTier(command, await findNamed(command.user), services)
    case 'set-role': {
      const { userId } = await findNamed(command.user)
      const user = await accounts.changeUser(userId, { role: command.role })
      return `${nameOf(user)} is ${user.role === 'admin' ? 'an admin' : 'a user'} now.`
    }
    case 'set-team': {
      const { userId } = await findNamed(command.user)
      const teamId = await findTeamId(command.team, services.teams)
      const user = await accounts.changeUser(userId, { teamId })
      return `${nameOf(user)} is in ${teamId === null ? 'no team' : `team ${command.team}`} now.`
    }
    case 'set-budget': {
      const { userId } = await findNamed(command.user)
      const user = await accounts.changeUser(userId, command.budgets)
      return `${nameOf(user)} may use ${describeBudgets(user)} now.`
    }
    case 'disable':
    case 'enable': {
      const { userId } = await findNamed(command.user)
      const user = await accounts.changeUser(userId, { disabled: command.action === 'disable' })
      return user.isDisabled
        ? `${nameOf(user)} is disabled: sessions have ended, and keys are refused until 'users enable'.`
        : `${nameOf(user)} is enabled: keys and logins are let in again.`
    }
    case 'delete': {
      const user = await findNamed(command.user)
      await accounts.deleteUser(user.userId)
      return `${nameOf(user)} is deleted, with all keys and sessions.`
    }
  }
}

async function createUser(
  { email, tier, password: given, spending, printsJson }: UserCreation,
  { accounts, teams }: Services,
  onTarget: (userId: string) => void,
): Promise<string> {
  const password = given ?? newPassword()
  // The rules of the API, whose library takes its time to load.
  const { createUserRequest } = await import('../../../api/schemas/accounts/users.ts')
  const request = requireValid(createUserRequest, { email, password, tier })
  const { team = null, ...budgets } = spending
  const teamId = await findTeamId(team, teams)
  const made = await accounts.createUser({ ...request, ...budgets, teamId })
  onTarget(made.userId)
  if (printsJson) {
    const madePassword = given === null ? { password } : {}
    return toJsonLine({
      user_id: made.userId,
      email: made.email,
      tier: made.tier,
      api_key: made.keySecret,
      ...madePassword,
    })
  }
  return [
    `The secret of the user's first key${given === null ? ' and the password' : ''}, shown now and never again:`,
    '',
    `  ${made.keySecret}`,
    ...(given === null ? [`  ${password}`] : []),
    '',
    ...renderFacts([
      ['id', made.userId],
      ['e-mail', made.email],
      ['tier', made.tier],
    ]),
  ].join('\n')
}

/** As the API checks a body. */
interface BodySchema<Body> {
  readonly safeParse: (given: unknown) =>
    | { readonly success: true; readonly data: Body }
    | {
        readonly success: false
        readonly error: {
          readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
        }
      }
}

/** By the rules of the API. @throws StartError */
function requireValid<Body>(schema: BodySchema<Body>, given: unknown): Body {
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const message = `The ${issue?.path.join('.')} ${issue?.message}.`
  throw new StartError(message, 2, { cause: new ServiceError('invalid_request', { message }) })
}

function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('base64url')
}

async function changePassword(
  { password: given }: UserPasswordChange,
  { userId }: User,
  { accounts }: Services,
): Promise<string> {
  const { changeUserRequest } = await import('../../../api/schemas/accounts/users.ts')
  const password = requireValid(changeUserRequest, { password: given ?? newPassword() }).password ?? ''
  const user = await accounts.changeUser(userId, { password })
  const said = `${nameOf(user)} has another password now; all sessions have ended.`
  return given === null
    ? [said, 'The password, shown now and never again:', '', `  ${password}`].join('\n')
    : said
}

/** A line for each address: its link, or why there is none. @throws StartError where there is none for any */
async function inviteUsers(
  { emails, team, url, printsJson, tier, role, expiresInDays }: UserInvitation,
  { invitations, teams }: Services,
): Promise<string> {
  const { inviteRequest } = await import('../../../api/schemas/accounts/invitations.ts')
  requireValid(inviteRequest, { emails, tier, role, expires_in_days: expiresInDays })
  const teamId = await findTeamId(team, teams)
  const { made, refused } = await invitations.invite({ emails, tier, role, teamId, expiresInDays })
  if (made.length === 0) {
    const reasons = refused.map(({ error }) => error.message).join(' ')
    throw new StartError(`Nobody was invited. ${reasons}`, 1, { cause: refused[0]?.error })
  }
  const linkOf = (token: string): string => `${url}#invite=${token}`
  if (printsJson) {
    return toJsonLine({
      invitations: made.map(({ invitation: { id, email, expiresAtUnixSeconds }, token }) => ({
        ...{ id, email, expires_at: expiresAtUnixSeconds, link: linkOf(token) },
      })),
      refused: refused.map(({ email, error }) => ({ email, code: error.code, detail: error.message })),
    })
  }
  return [
    `Links that work once, for ${expiresInDays} days, shown now and never again:`,
    '',
    ...made.map(({ invitation, token }) => `${escapeUnseen(invitation.email)}  ${linkOf(token)}`),
    ...refused.map(({ email, error }) => `${escapeUnseen(email)}  not invited: ${error.message}`),
  ].join('\n')
}

/** Says of the active keys too what tier they have: it is a key's tier that its requests get. */
async function setTier(
  { tier, withKeys }: UserTierChange,
  { userId }: User,
  { accounts, keys }: Services,
): Promise<string> {
  const user = await accounts.changeUser(userId, { tier, changesKeys: withKeys })
  const active = (await listAllPages((page) => keys.listAll(page, userId))).filter(({ isActive }) => isActive)
  const others = active.filter((key) => key.tier !== tier)
  const said = `${nameOf(user)} has tier ${user.tier} now`
  if (others.length > 0) {
    const tiers = [...new Set(others.map((key) => key.tier))].join(', ')
    const kept = others.length === 1 ? 'a key keeps its tier' : `${others.length} keys keep theirs`
    return `${said}; ${kept} (${tiers}), which 'users set-tier --keys' changes too.`
  }
  return withKeys && active.length > 0
    ? `${said}, and so ${active.length === 1 ? 'has the key' : `have the ${active.length} keys`}.`
    : `${said}.`
}

function nameOf({ email, userId }: User): string {
  return `User ${escapeUnseen(email)} (${userId})`
}

const USER_COLUMNS = ['id', 'e-mail', 'tier', 'role', 'disabled', 'created']

function toUserRow(user: User): readonly string[] {
  const { userId, email, tier, role, isDisabled, createdAtUnixSeconds } = user
  return [userId, email, tier, role, isDisabled ? 'yes' : 'no', toIsoDay(createdAtUnixSeconds)]
}

/** The row of the admin API's listing. */
function toUserJson(user: User) {
  return {
    user_id: user.userId,
    email: user.email,
    tier: user.tier,
    role: user.role,
    disabled: user.isDisabled,
    created_at: user.createdAtUnixSeconds,
    team_id: user.teamId,
    daily_token_budget: user.dailyTokenBudget,
    monthly_token_budget: user.monthlyTokenBudget,
  }
}
