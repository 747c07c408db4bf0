/**
 * Fields of request bodies and parameters of queries as both servers check them: bounds as data, and the one wording of
 * what is wrong with a value. The full server's schemas are made of it (`api/schemas/fields.ts`), and so is the light
 * server's parser, which may load no package.
 */
import { type ErrorCode, ServiceError } from '../../core/errors.ts'
import { nearestName } from '../../core/text/nearest-name.ts'

/** Both ends included. */
export interface Bounds {
  readonly min: number
  readonly max: number
}

export interface NumberField extends Bounds {
  readonly isInteger: boolean
  readonly default: number
}

/** Numbers in the body of `POST /v1/generate` that both servers read. */
export const GENERATE_NUMBERS = {
  max_new_tokens: { isInteger: true, min: 1, max: 4096, default: 256 },
  temperature: { isInteger: false, min: 0.01, max: 5, default: 1 },
  /** -1 is 0, as vLLM's clients write it. */
  top_k: { isInteger: true, min: -1, max: 2_147_483_647, default: 0 },
  top_p: { isInteger: false, min: 0, max: 1, default: 1 },
} as const satisfies Record<string, NumberField>

export const MODEL_ID_CHARACTERS: Bounds = { min: 0, max: 1024 }

export function numberRule({ isInteger, min, max }: Bounds & { readonly isInteger: boolean }): string {
  return `${isInteger ? 'an integer' : 'a number'} between ${min} and ${max}`
}

export function lengthRule({ min, max }: Bounds): string {
  return `a string of ${min} to ${max} characters`
}

/** Counted in code points, as people and JSON Schema count: one or two UTF-16 units each, so a long text needs no count. */
export function hasLength(text: string, { min, max }: Bounds): boolean {
  if (text.length < min || text.length > 2 * max) return false
  return text.length <= max || Array.from(text).length <= max
}

/** Without lone surrogates. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}

export const NOT_WELL_FORMED = 'must be valid Unicode, but has a lone surrogate in it'

/** What is wrong with a value that breaks a rule; it follows the field's name. */
export function brokenRule(rule: string, given: unknown): string {
  return given === undefined ? 'is required' : `must be ${rule}, but was ${describeValue(given)}`
}

const MAX_SHOWN_CHARACTERS = 64

export function describeValue(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length} ${value.length === 1 ? 'item' : 'items'}`
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return String(value)
  const shown = value.slice(0, MAX_SHOWN_CHARACTERS)
  return JSON.stringify(shown.length < value.length ? `${shown}…` : shown)
}

export interface FieldProblem {
  /** Null for the body or the query string as a whole. */
  readonly field: string | null
  readonly problem: string
  /** @default 'The request body' */
  readonly subject?: string
  /** @default 'invalid_request' */
  readonly code?: Extract<ErrorCode, 'invalid_request' | 'unsupported_value'>
}

export function toFieldError({ field, problem, subject, code }: FieldProblem): ServiceError {
  const message = `${field ?? subject ?? 'The request body'} ${problem}.`
  return new ServiceError(code ?? 'invalid_request', { message }, field === null ? {} : { param: field })
}

/** For a query with a parameter that its route does not take. @param known those that it takes */
export function unknownParameter(name: string, known: readonly string[]): ServiceError {
  const hint = known.length === 0 ? 'this route takes none' : `did you mean '${nearestName(name, known)}'?`
  const end = known.length === 0 ? '.' : ''
  const message = `The query has an unknown parameter ${describeValue(name)}: ${hint}${end}`
  return new ServiceError('invalid_request', { message }, { param: name.slice(0, MAX_SHOWN_CHARACTERS) })
}
