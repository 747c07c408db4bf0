/**
 * The body of `POST /v1/generate` as a valid type, or one sentence that names the field, the bound and the value. Bounds
 * and wording are the full server's; fields that the light server does not read are unknown to it and ignored.
 */
import { ServiceError } from '../core/errors.ts'

export interface GenerateRequest {
  readonly prompt: string
  readonly maxNewTokens: number
  readonly temperature: number
  readonly topK: number
  readonly topP: number
  /** Null is the default model. */
  readonly modelId: string | null
}

interface NumberRule {
  readonly kind: 'an integer' | 'a number'
  readonly min: number
  readonly max: number
  readonly whenAbsent: number
}

const NUMBER_FIELDS = {
  max_new_tokens: { kind: 'an integer', min: 1, max: 4096, whenAbsent: 256 },
  temperature: { kind: 'a number', min: 0.01, max: 5, whenAbsent: 1 },
  top_k: { kind: 'an integer', min: 0, max: 2_147_483_647, whenAbsent: 0 },
  top_p: { kind: 'a number', min: 0, max: 1, whenAbsent: 1 },
} as const satisfies Record<string, NumberRule>

const MAX_MODEL_CHARACTERS = 1024

type Body = Readonly<Record<string, unknown>>

/** No body at all is an empty one. @throws ServiceError `invalid_request` for the first field that is wrong. */
export function parseGenerateRequest(given: unknown): GenerateRequest {
  const body = given ?? {}
  if (!isObject(body)) throw invalid('', `must be a JSON object, but was ${describeValue(body)}`)
  return {
    prompt: parseText(body, 'prompt', 'a string'),
    maxNewTokens: parseNumber(body, 'max_new_tokens'),
    temperature: parseNumber(body, 'temperature'),
    topK: parseNumber(body, 'top_k'),
    topP: parseNumber(body, 'top_p'),
    modelId: parseModelId(body),
  }
}

function parseNumber(body: Body, field: keyof typeof NUMBER_FIELDS): number {
  const { kind, min, max, whenAbsent } = NUMBER_FIELDS[field]
  const value = body[field]
  if (value === undefined) return whenAbsent
  const isKind = kind === 'an integer' ? Number.isSafeInteger(value) : typeof value === 'number'
  if (isKind && Number(value) >= min && Number(value) <= max) return Number(value)
  throw mustBe(field, `${kind} between ${min} and ${max}`, value)
}

function parseModelId(body: Body): string | null {
  if (body['model'] === undefined || body['model'] === null) return null
  const rule = `a string of 0 to ${MAX_MODEL_CHARACTERS} characters`
  const modelId = parseText(body, 'model', rule)
  // Counted in code points, as JSON Schema counts.
  if (Array.from(modelId).length > MAX_MODEL_CHARACTERS) throw mustBe('model', rule, modelId)
  return modelId
}

/** In Unicode mode a surrogate matches only where it has no partner. */
const LONE_SURROGATE = /\p{Surrogate}/u

function parseText(body: Body, field: string, rule: string): string {
  const value = body[field]
  if (value === undefined) throw invalid(field, 'is required')
  if (typeof value !== 'string') throw mustBe(field, rule, value)
  if (LONE_SURROGATE.test(value)) {
    throw invalid(field, 'must be valid Unicode, but has a lone surrogate in it')
  }
  return value
}

function mustBe(field: string, rule: string, value: unknown): ServiceError {
  return invalid(field, `must be ${rule}, but was ${describeValue(value)}`)
}

/** An empty `field` is the body itself. */
function invalid(field: string, problem: string): ServiceError {
  const message = `${field === '' ? 'The request body' : field} ${problem}.`
  return new ServiceError('invalid_request', { message }, field === '' ? {} : { param: field })
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const MAX_SHOWN_CHARACTERS = 64

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length} ${value.length === 1 ? 'item' : 'items'}`
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return String(value)
  const shown = value.slice(0, MAX_SHOWN_CHARACTERS)
  return JSON.stringify(shown.length < value.length ? `${shown}…` : shown)
}
