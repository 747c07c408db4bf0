/** Registration, login, logout and change of password, and the users that the admin sees. */
import { z } from 'zod'
import type { User } from '../../../accounts/account-service.ts'
import { MAX_EMAIL_LENGTH } from '../../../accounts/email.ts'
import { ROLES } from '../../../core/credential.ts'
import { TIERS } from '../../../core/tiers.ts'
import { isWellFormed, NOT_WELL_FORMED } from '../../../net/requests/request-fields.ts'
import { boolean, must, text } from '../fields.ts'
import { nextCursor, pageQuery, queryChoice, userFilter } from '../query.ts'
import {
  budgetChanges,
  budgetFields,
  spendingQuery,
  teamChange,
  teamField,
  toBudgetBody,
} from '../spending.ts'

/** The HTML standard's pattern, with a dot required in the domain and every part bounded. */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i

/** Validated after trimming; the case is kept (spec: decisions, Accounts and keys). */
export const email = () => {
  const error = must(`an e-mail address of at most ${MAX_EMAIL_LENGTH} characters`)
  return z
    .string({ error })
    .trim()
    .refine((value) => value.length <= MAX_EMAIL_LENGTH && EMAIL.test(value), { error })
    .meta({ format: 'email', maxLength: MAX_EMAIL_LENGTH })
}

const PASSWORD_LENGTH = { min: 8, max: 128 }
const PASSWORD_RULE = `must be a string of ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters`

/** No message repeats a password, not even to the client that sent it. */
export const password = () =>
  z
    .string({ error: passwordProblem })
    .refine((value) => passwordProblem({ input: value }) === null, { error: passwordProblem })
    .meta({ minLength: PASSWORD_LENGTH.min, maxLength: PASSWORD_LENGTH.max, format: 'password' })

/** A password that is only compared with a stored one; it has no bounds. */
function anyPassword() {
  const error = ({ input }: { readonly input?: unknown }) =>
    input === undefined ? 'is required' : 'must be a string'
  return z.string({ error }).refine(isWellFormed, { error: NOT_WELL_FORMED }).meta({ format: 'password' })
}

function passwordProblem({ input }: { readonly input?: unknown }): string | null {
  if (input === undefined) return 'is required'
  if (typeof input !== 'string') return PASSWORD_RULE
  if (!isWellFormed(input)) return NOT_WELL_FORMED
  // Counted in code points, unless it is too long by any count.
  const length = input.length > 4 * PASSWORD_LENGTH.max ? input.length : Array.from(input).length
  const fits = length >= PASSWORD_LENGTH.min && length <= PASSWORD_LENGTH.max
  return fits ? null : `${PASSWORD_RULE}, but has ${length}`
}

/** The message leaves the value out: a body that was encoded twice by mistake is a string with a password in it. */
const object = { error: 'must be a JSON object' }

export const role = () => z.enum(ROLES, { error: must(`one of ${ROLES.join(', ')}`) })

export const tier = () => z.enum(TIERS, { error: must(`one of ${TIERS.join(', ')}`) })

export const registerRequest = z
  .object({ email: email(), password: password() }, object)
  .meta({ id: 'RegisterRequest' })

export const registerResponse = z
  .object({
    user_id: z.string(),
    email: z.string(),
    tier: z.enum(TIERS),
    api_key: z.string().describe('The whole secret, shown here and never again.'),
    message: z.string(),
  })
  .meta({ id: 'RegisterResponse' })

/** Anything but two strings is an invalid request; any two strings that match no account get the same answer. */
export const loginRequest = z
  .object(
    {
      email: text(),
      password: anyPassword(),
      cookie: boolean()
        .optional()
        .describe('Set the cookie `sluice_session` in the place of answering the token.'),
    },
    object,
  )
  .meta({ id: 'LoginRequest' })

export const loginResponse = z
  .object({
    user_id: z.string(),
    email: z.string(),
    tier: z.enum(TIERS).describe("The highest of the account's own and its active keys'."),
    token: z.string().describe('Good wherever a key is, for 24 hours.'),
    expires_at: z.number().describe('Unix seconds.'),
  })
  .meta({ id: 'LoginResponse' })

export const logoutResponse = z.object({ status: z.literal('logged_out') }).meta({ id: 'LogoutResponse' })

export const passwordRequest = z
  .object(
    {
      current_password: anyPassword(),
      new_password: password(),
    },
    object,
  )
  .meta({ id: 'PasswordRequest' })

export const passwordResponse = z
  .object({ status: z.literal('password_changed') })
  .meta({ id: 'PasswordResponse' })

export const user = z
  .object({
    user_id: z.string(),
    email: z.string(),
    tier: z.enum(TIERS).describe("The account's own; a key's may be higher."),
    role: z.enum(ROLES).describe("An admin's sessions may use the admin API; keys never may."),
    disabled: z.boolean(),
    created_at: z.number().describe('Unix seconds.'),
    ...teamField,
    ...budgetFields,
  })
  .meta({ id: 'User' })

export const userList = z
  .object({
    users: z.array(user),
    count: z.int().describe('Of all users, whatever the page.'),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'UserList' })

export const createUserRequest = z
  .object(
    {
      email: email(),
      password: password(),
      tier: tier().default('free'),
      role: role().default('user'),
      ...teamChange(),
      ...budgetChanges(),
    },
    object,
  )
  .meta({ id: 'CreateUserRequest' })

export const createUserResponse = registerResponse.omit({ message: true }).meta({ id: 'CreateUserResponse' })

const DISABLED_ENDS = 'True ends the keys and sessions of the user at once.'

/** Passwords travel in a body only. */
export const changeUserQuery = z.object({
  tier: queryChoice(TIERS).optional(),
  role: queryChoice(ROLES).optional(),
  disabled: queryChoice(['true', 'false'])
    .transform((given) => given === 'true')
    .optional()
    .describe(DISABLED_ENDS),
  ...spendingQuery(),
})

export const changeUserRequest = z
  .object(
    {
      tier: tier().nullish(),
      role: role().nullish(),
      disabled: boolean().nullish().describe(DISABLED_ENDS),
      password: password().nullish().describe('Ends all sessions of the user.'),
      ...teamChange(),
      ...budgetChanges(),
    },
    object,
  )
  .meta({ id: 'ChangeUserRequest' })

export const userListQuery = pageQuery.extend({ user: userFilter() })

export const userParams = z.object({ user_id: z.string() })

export const deletedUser = z
  .object({ status: z.literal('deleted'), user_id: z.string() })
  .meta({ id: 'DeletedUser' })

export function toUserBody(record: User): z.output<typeof user> {
  return {
    user_id: record.userId,
    email: record.email,
    tier: record.tier,
    role: record.role,
    disabled: record.isDisabled,
    created_at: record.createdAtUnixSeconds,
    team_id: record.teamId,
    ...toBudgetBody(record),
  }
}
