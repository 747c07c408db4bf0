/** Validates the body of `POST /v1/generate`. Fields that the light server does not support must be neutral. */
import type { GenerationRequest } from '../generation/generation-request.ts'
import { UNBUILT_FIELDS } from '../net/requests/other-fields/generation.ts'
import {
  brokenRule,
  GENERATE_NUMBERS,
  hasLength,
  isWellFormed,
  lengthRule,
  MODEL_ID_CHARACTERS,
  NOT_WELL_FORMED,
  numberRule,
  toFieldError,
} from '../net/requests/request-fields.ts'
import { findUnbuiltField } from '../net/requests/other-fields/unbuilt-fields.ts'

export interface GenerateRequest extends Pick<GenerationRequest, 'modelId' | 'maxNewTokens' | 'sampling'> {
  readonly prompt: string
}

type Body = Readonly<Record<string, unknown>>

const KNOWN_FIELDS: ReadonlySet<string> = new Set(['prompt', 'model', ...Object.keys(GENERATE_NUMBERS)])

/** No body at all is an empty one. @throws ServiceError for the first field that is wrong. */
export function parseGenerateRequest(given: unknown): GenerateRequest {
  const body = given ?? {}
  if (!isObject(body)) throw toFieldError({ field: null, problem: brokenRule('a JSON object', body) })
  const unbuilt = findUnbuiltField(body, { table: UNBUILT_FIELDS, known: KNOWN_FIELDS })
  if (unbuilt !== null) throw toFieldError({ ...unbuilt, code: 'unsupported_value' })
  return {
    prompt: parseText(body, 'prompt', 'a string'),
    maxNewTokens: parseNumber(body, 'max_new_tokens'),
    sampling: {
      temperature: parseNumber(body, 'temperature'),
      topK: Math.max(parseNumber(body, 'top_k'), 0),
      topP: parseNumber(body, 'top_p'),
      repetitionPenalty: 1,
      seed: null,
    },
    modelId: parseModelId(body),
  }
}

function parseNumber(body: Body, field: keyof typeof GENERATE_NUMBERS): number {
  const bounds = GENERATE_NUMBERS[field]
  const value = body[field]
  if (value === undefined) return bounds.default
  const isNumber = bounds.isInteger ? Number.isSafeInteger(value) : typeof value === 'number'
  if (isNumber && Number(value) >= bounds.min && Number(value) <= bounds.max) return Number(value)
  throw toFieldError({ field, problem: brokenRule(numberRule(bounds), value) })
}

function parseModelId(body: Body): string | null {
  if (body['model'] === undefined || body['model'] === null) return null
  const rule = lengthRule(MODEL_ID_CHARACTERS)
  const modelId = parseText(body, 'model', rule)
  if (hasLength(modelId, MODEL_ID_CHARACTERS)) return modelId
  throw toFieldError({ field: 'model', problem: brokenRule(rule, modelId) })
}

function parseText(body: Body, field: string, rule: string): string {
  const value = body[field]
  if (typeof value !== 'string') throw toFieldError({ field, problem: brokenRule(rule, value) })
  if (!isWellFormed(value)) throw toFieldError({ field, problem: NOT_WELL_FORMED })
  return value
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
