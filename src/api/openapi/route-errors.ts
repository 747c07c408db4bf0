/**
 * Which errors a route answers: those of the gates in front of it, which follow from what is declared of it, and its own. The
 * documentation lists them, and the tests refuse an answer that is not among them.
 */
import { type ErrorCode, ERRORS } from '../../core/errors.ts'
import type { AccessClass } from '../pipeline/access.ts'

/** Of what runs a model, or asks it for tokens alone. */
export const TOKENS_ERRORS = [
  ...['unsupported_value', 'prompt_empty', 'context_length_exceeded', 'model_not_found', 'no_model'],
  ...['upstream_refused', 'upstream_busy', 'tokenizing_queue_full', 'engine_failed', 'engine_unavailable'],
  'model_loading_failed',
] as const satisfies readonly ErrorCode[]

export const EMBEDDING_ERRORS = [
  ...TOKENS_ERRORS,
  ...['queue_full', 'queue_share_full'],
] as const satisfies readonly ErrorCode[]

/** Of a text that is continued. */
export const GENERATION_ERRORS = [
  ...EMBEDDING_ERRORS,
  ...['prompt_rejected', 'prompt_check_queue_full'],
  ...['constraint_invalid', 'constraint_too_costly', 'constraint_lost'],
] as const satisfies readonly ErrorCode[]

/** Of messages, which the model's template makes a prompt of. */
export const CHAT_ERRORS = [
  ...GENERATION_ERRORS,
  'chat_template_failed',
] as const satisfies readonly ErrorCode[]

/** Of what checks or sets a password. */
export const PASSWORD_ERRORS = [
  'too_many_logins',
  'password_queue_full',
] as const satisfies readonly ErrorCode[]

/** What its errors follow from. */
export interface RouteFacts {
  readonly method: string
  readonly access: AccessClass
  readonly hasBody: boolean
  readonly generates: boolean
  readonly isProbe: boolean
  readonly errors: readonly ErrorCode[]
}

/** Each once, in the order of the one table. */
export function listErrorCodes({ method, access, hasBody, generates, isProbe, errors }: RouteFacts) {
  const isSafe = method === 'GET'
  const hasCredential = access !== 'public'
  const needsStorage = hasCredential || hasBody
  const own: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
    ...errors,
    // An unknown parameter, or a query that cannot be read.
    ...(['invalid_request', 'malformed_request'] as const),
    ...(['address_refused', 'firewall_rejected', 'address_banned', 'host_refused'] as const),
    ...(isSafe ? [] : (['origin_refused'] as const)),
    ...(isProbe ? [] : (['address_rate_limit_exceeded', 'internal_error'] as const)),
    ...(hasBody
      ? (['malformed_json', 'unsupported_media_type', 'body_too_large', 'too_many_bodies'] as const)
      : []),
    ...(hasCredential ? (['unauthorized'] as const) : []),
    ...(hasCredential && !isSafe ? (['csrf_failed'] as const) : []),
    ...(needsStorage
      ? (['storage_lost', 'storage_full', 'database_unavailable', 'limits_unavailable'] as const)
      : []),
    ...(access === 'key' || access === 'visitor' ? (['rate_limit_exceeded'] as const) : []),
    ...(access === 'admin' || access === 'metrics'
      ? (['admin_disabled', 'admin_required', 'too_many_admin_keys', 'password_queue_full'] as const)
      : []),
    ...(generates ? (['budget_exceeded', 'concurrency_limit_exceeded', 'shutting_down'] as const) : []),
  ])
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => own.has(code))
}
