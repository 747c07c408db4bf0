/**
 * The one table of errors: code → status and message. Every answer that is not a success is made from a row of it,
 * whatever was thrown. The API renders errors; the layers below throw `ServiceError` only.
 * A message names the field, the bound and the value given (spec: Errors).
 */
import { withoutFolders } from './text/file-paths.ts'

type Params = Readonly<Record<string, string | number>>

interface ErrorRow {
  readonly status: number
  readonly message: (params: Params) => string
}

const row = (status: number, template: string): ErrorRow => ({
  status,
  message: (params) => template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? '')),
})

/** A row of what went wrong here: the id leads to its cause in the log. */
const failureRow = (template: string): ErrorRow => {
  const { message } = row(500, template)
  return {
    status: 500,
    message: (params) =>
      params['requestId'] === undefined
        ? message(params)
        : `${message(params)} Request id: ${String(params['requestId'])}`,
  }
}

/** A row whose `{message}` is about the server's files: callers learn the name of a file, never its folder. */
const fileRow = (status: number, template: string): ErrorRow => {
  const { message } = row(status, template)
  return {
    status,
    message: (params) => message({ ...params, message: withoutFolders(String(params['message'] ?? '')) }),
  }
}

export const ERRORS = {
  // 400: the request is wrong
  invalid_request: row(400, '{message}'),
  malformed_json: row(400, 'The request body is not valid JSON: {message}'),
  malformed_request: row(400, 'The HTTP request is malformed: {message}'),
  unsupported_media_type: row(400, "Content-Type must be application/json in UTF-8, but was '{given}'."),
  body_too_large: row(400, 'The request body must be at most {maxBytes} bytes.'),
  unsupported_value: row(400, '{message}'),
  /** `what` is empty, if it is not the prompt. */
  prompt_empty: {
    status: 400,
    message: ({ what = 'prompt' }) =>
      `${what} must not be empty: the model has no token to begin a text with.`,
  },
  /**
   * `given` is a number, or the words "at least" and one; `what` is too long, if it is not the prompt. The words are those that
   * clients look for.
   */
  context_length_exceeded: {
    status: 400,
    message: ({ max = '', given = '', what = 'the prompt' }) =>
      `This model's maximum context length is ${max} tokens, but ${what} is ${given} tokens long.`,
  },
  beams_too_large: row(
    400,
    "num_beams {beams} with a prompt of {promptTokens} tokens and {newTokens} new ones takes room for {given} tokens, but the model's beams have room for {max}.",
  ),
  constraint_invalid: row(400, '{field} cannot be compiled: {message}.'),
  constraint_too_costly: row(
    400,
    '{field} cannot be compiled: it takes too much time or memory; use fewer alternatives and smaller repetitions.',
  ),
  chat_template_failed: row(400, "The chat template of model '{model}' refuses these messages: {message}"),
  model_not_loadable: row(400, "Model '{model}' was not registered: {message}"),
  checkpoint_not_servable: row(400, 'The checkpoint cannot be served: {message}'),
  wrong_password: row(400, 'current_password is not the password of this account.'),
  user_required: row(
    400,
    'This credential belongs to no registered user, so there is no password to change.',
  ),
  keys_need_authentication: row(
    400,
    'Keys cannot be made or revoked while the server runs with --auth-mode none; use the admin API or sluice keys.',
  ),
  not_a_session: {
    status: 400,
    message: () => 'Only the token of a login can be logged out; revoke a key with DELETE /v1/keys/{key_id}.',
  },
  key_budget_by_key: row(
    400,
    'A budget of a new key is set with a login session: a key that an API key makes counts under the budgets of that one.',
  ),
  key_not_active: row(
    400,
    "expires_in_days must not be given for a key that is revoked or expired, but key '{keyId}' is {state}: a change never revives a key.",
  ),
  not_quantizable: row(
    400,
    "Model '{model}' cannot be quantized: its source holds weights of type {type} already; register it from full precision.",
  ),
  quantization_failed: fileRow(400, "Model '{model}' could not be quantized: {message}"),
  prompt_rejected: row(400, "{field} was refused by the prompt guard's rule '{rule}': {reason}"),
  upstream_refused: row(400, "The upstream of model '{model}' refused this request: {message}"),
  // 401, 403, 404
  /** `others`: further headers that the route takes a key in. */
  unauthorized: {
    status: 401,
    message: ({ others = ' or "x-api-key: <key>"' }) =>
      `Missing or invalid API key. Send it as "Authorization: Bearer <key>"${others}.`,
  },
  admin_disabled: row(401, 'The admin API is off: start the server with --admin-key to switch it on.'),
  invalid_link: row(
    401,
    'This link is wrong, was opened already, or is out of date; start the server again for another, or sign in.',
  ),
  invalid_invitation: row(
    401,
    'This invitation is wrong, was used or revoked, or has expired; ask for another one.',
  ),
  invalid_login: row(401, 'The e-mail address or the password is wrong.'),
  address_refused: row(403, 'This server takes no requests from your address.'),
  host_refused: row(
    403,
    "This server runs with --auth-mode none and answers only to localhost and the names of --allowed-hosts, but the request's Host is '{host}'; start it with --allowed-hosts {host} if that is its name.",
  ),
  origin_refused: row(
    403,
    "This server runs with --auth-mode none and takes {method} only from pages of its own host, but the request's Origin is '{origin}'; name that origin in --cors-origins to let its pages call.",
  ),
  csrf_failed: row(
    403,
    'A session in a cookie changes something only for a page of this server, which sends its "x-csrf-token" (GET /v1/auth/session); {message}.',
  ),
  admin_required: row(403, 'Only an admin may do this, and this session is not one of an admin.'),
  guest_required: row(
    403,
    'The first admin is made by who opened the link that the start printed; sluice users set-role makes an admin of any user.',
  ),
  firewall_rejected: row(403, "The firewall refused this request: it {reason} (rule '{rule}')."),
  address_banned: row(
    403,
    'Too many requests from your address were refused; it is let in again in {seconds} s.',
  ),
  not_found: row(404, 'There is no route {method} {path}{hint}'),
  model_not_found: row(404, "Model '{model}' does not exist."),
  response_not_found: row(404, "Response '{responseId}' does not exist: this server stores no responses."),
  registration_closed: row(404, 'Registration is closed on this server; ask its operator for an account.'),
  user_not_found: row(404, "User '{userId}' does not exist."),
  invitation_not_found: row(404, "Invitation '{invitationId}' does not exist, or is no longer open."),
  team_not_found: row(404, "Team '{teamId}' does not exist."),
  key_not_found: row(404, "Key '{keyId}' was not found."),
  ban_not_found: row(404, "Address '{address}' is not banned."),
  firewall_disabled: row(
    404,
    'The firewall is off: start the server with --enable-firewall to switch it on.',
  ),
  // 409
  email_taken: row(409, 'The e-mail address {email} is registered already.'),
  admin_exists: row(409, 'There is an admin already: sign in as one, or ask one for the role.'),
  last_admin: row(
    409,
    'This is the last admin, who can be neither demoted, disabled nor deleted: make another one first.',
  ),
  team_exists: row(409, "There is a team '{name}' already."),
  key_limit_reached: row(
    409,
    "An account of tier '{tier}' may have at most {max} active keys, and this one has {given}; revoke one first.",
  ),
  model_has_adapters: row(
    409,
    "Model '{model}' cannot be unregistered while its adapters are registered: unregister {adapters} first.",
  ),
  model_in_use: row(409, "Model '{model}' is not unloaded now: {message}. Try again when that is done."),
  quantization_running: row(409, "Model '{model}' is being quantized already; try again when that is done."),
  // 416
  range_not_satisfiable: row(
    416,
    'Range must begin before the end of the file, which is {sizeBytes} bytes long.',
  ),
  // 429
  queue_full: row(
    429,
    'The queue is full: at most {max} sequences may wait, {waiting} do, and this request brings {given}. Try again later.',
  ),
  queue_share_full: row(
    429,
    'The share of {whose} in the queue is full: at most {max} of these sequences may wait now, {waiting} do, and this request brings {given}. Try again later.',
  ),
  rate_limit_exceeded: row(
    429,
    'The rate limit of {limit} requests per minute is reached; try again in {seconds} s.',
  ),
  concurrency_limit_exceeded: row(
    429,
    'The limit of concurrent requests is {limit}, and the number running is {running}; try again when one has ended.',
  ),
  budget_exceeded: row(
    429,
    'The {field} of {whose} is {max} tokens, and {spent} are spent; it begins again at {resetsAt}.',
  ),
  address_rate_limit_exceeded: row(
    429,
    'The rate limit of {limit} requests per minute from one address is reached; try again in {seconds} s.',
  ),
  too_many_logins: row(
    429,
    'Too many logins: at most {maxPerEmail} a minute may fail for one e-mail, and at most {maxPerAddress} may come from one address; try again in {seconds} s.',
  ),
  too_many_registrations: row(
    429,
    'Too many registrations from one address: at most {max} a minute may be made; try again in {seconds} s.',
  ),
  too_many_admin_keys: row(
    429,
    'Too many wrong admin keys from one address: at most {max} a minute may be tried; try again in {seconds} s.',
  ),
  password_queue_full: row(
    429,
    'Too many passwords wait to be checked: at most {max} may; try again in {seconds} s.',
  ),
  quantization_too_soon: row(
    429,
    "Model '{model}' was quantized less than {pauseSeconds} s ago, and a key that is not the operator's must wait; try again in {seconds} s.",
  ),
  prompt_check_queue_full: row(
    429,
    'Too many long prompts wait to be checked: at most {max} may; try again in {seconds} s.',
  ),
  tokenizing_queue_full: row(
    429,
    'Too much text waits to be tokenized: at most {max} bytes {whose} may, {waiting} do, and this request brings {given}. Try again later.',
  ),
  upstream_busy: row(429, "The upstream of model '{model}' takes no more requests now: {message}"),
  // 500
  internal_error: failureRow('Internal server error.'),
  constraint_lost: failureRow(
    "The constraint of the answer could not be followed to the answer's end: the model has no token that may come next, or it takes too much time. Use a simpler one.",
  ),
  engine_failed: failureRow('The engine stopped while it worked on this request. Try again.'),
  // 503
  model_loading_failed: fileRow(503, "Model '{model}' could not be loaded: {message}"),
  engine_unavailable: fileRow(503, 'The engine of the model is not available: {message}'),
  beams_unavailable: fileRow(503, 'There is no room for a beam search: {message}'),
  no_model: row(
    503,
    'This server has no model: the last one was unregistered. Register one with POST /v1/admin/models.',
  ),
  not_ready: fileRow(503, "The default model '{model}' cannot take work: {message}"),
  storage_lost: row(
    503,
    "The server's database of {holds} was removed or replaced while the server runs, so nothing more can be recorded.",
  ),
  storage_full: row(
    503,
    "The server's database of {holds} takes no more rows: the disk is full. It goes on by itself once there is room.",
  ),
  /** A database on another machine: `storage_lost` is of a file. */
  database_unavailable: row(
    503,
    "The server's database of {holds} {trouble} at the moment; try again in {seconds} s.",
  ),
  limits_unavailable: row(
    503,
    "The server's limits cannot be checked at the moment; try again in {seconds} s.",
  ),
  too_many_bodies: row(
    503,
    'Too many request bodies wait to be answered: {bound} bytes may wait; try again in {seconds} s.',
  ),
  shutting_down: row(503, 'The server is shutting down.'),
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof ERRORS

export interface ServiceErrorOptions {
  readonly cause?: unknown
  /** Request field the error is about, for OpenAI clients' `param`. */
  readonly param?: string
  /** Whole seconds for `Retry-After`. */
  readonly retryAfterSeconds?: number
}

/** An error of the table; its message may be shown to the caller unless the status is 500. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly status: number
  readonly params: Params
  readonly param: string | null
  readonly retryAfterSeconds: number | null

  constructor(code: ErrorCode, params: Params = {}, options: ServiceErrorOptions = {}) {
    super(ERRORS[code].message(params), options.cause === undefined ? {} : { cause: options.cause })
    this.code = code
    this.status = ERRORS[code].status
    this.params = params
    this.param = options.param ?? null
    this.retryAfterSeconds = options.retryAfterSeconds ?? null
  }
}

/** An invariant of the program was violated; always a 500. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/**
 * One sentence for the operator. At the start it ends the program with the exit code; a running server that loads or
 * quantizes a model answers it as a `ServiceError`, whose cause it is.
 */
export class StartError extends Error {
  override readonly name = 'StartError'
  /** 2 for a wrong option, 1 for a model or database that cannot be opened. */
  readonly exitCode: 1 | 2

  /** @param options `cause`: what an API would answer in its place */
  constructor(message: string, exitCode: 1 | 2 = 1, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** Turns any thrown value into the error to answer with, which at 500 names the request; an unknown one becomes a 500 with it as the cause. */
export function toServiceError(thrown: unknown, requestId: string): ServiceError {
  if (thrown instanceof ServiceError) {
    const { status, code, params, cause } = thrown
    if (status !== 500 || requestId === '' || params['requestId'] !== undefined) return thrown
    return new ServiceError(code, { ...params, requestId }, { cause })
  }
  return new ServiceError('internal_error', { requestId }, { cause: thrown })
}

const MAX_SHOWN_LENGTH = 80

/** A value on one line, in single quotes when it is text. */
export function showValue(value: unknown): string {
  const json = toJson(value) ?? String(value)
  const line = typeof value === 'string' ? `'${json.slice(1, -1).replaceAll('\\"', '"')}'` : json
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}...` : line
}

/** Undefined for what JSON has no word for, or holds itself: code gives that, no file does. */
function toJson(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** @throws StartError where what a sentence calls `name`, in the plural, is no object */
export function requireObject(name: string, given: unknown): void {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return
  const isMissing = given === null || given === undefined
  const what = isMissing ? String(given) : `a ${Array.isArray(given) ? 'list' : typeof given}`
  throw new StartError(`The ${name} must be an object, but were ${what}.`, 2)
}
