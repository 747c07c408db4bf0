/** Runs a route's zod schemas and turns the first thing wrong into one sentence: field, bound and value given. */
import type { FastifySchemaCompiler } from 'fastify'
import { z } from 'zod'
import { ServiceError } from '../../core/errors.ts'
import { isJsonObject } from './fields.ts'
import { ITEMS_PER_SLICE } from './parsing/long-array.ts'
import { toFieldError, unknownParameter } from '../../net/requests/request-fields.ts'

export const validatorCompiler: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  const isBody = httpPart === 'body'
  const subject = isBody ? 'The request body' : 'The query string'
  return (data) => {
    // No body at all is an empty one: the answer then names the first required field.
    const result = checked.get(data) ?? schema.safeParse(isBody ? (data ?? {}) : data)
    if (result.success) return { value: result.data }
    return { error: findUnknownParameter(result.error, schema) ?? toRequestError(result.error, subject) }
  }
}

/** Results for bodies that were checked before Fastify asks, which takes no result of an asynchronous validator. */
const checked = new WeakMap<object, z.ZodSafeParseResult<unknown>>()

/** Checks a body with long arrays in slices, before the validator is asked about it. */
export async function validateInSlices(schema: unknown, body: unknown): Promise<void> {
  if (!isJsonObject(body) || !(schema instanceof z.ZodType) || !holdsLongArray(body)) return
  checked.set(body, await schema.safeParseAsync(body))
}

function holdsLongArray(body: object): boolean {
  return Object.values(body).some((value) => Array.isArray(value) && value.length > ITEMS_PER_SLICE)
}

/** Only schemas of queries refuse names: a misspelt one explains what is said to be missing. */
function findUnknownParameter({ issues }: z.ZodError, schema: z.ZodType): ServiceError | null {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys')
  if (issue?.code !== 'unrecognized_keys' || !(schema instanceof z.ZodObject)) return null
  return unknownParameter(issue.keys[0] ?? '', Object.keys(schema.shape))
}

function toRequestError({ issues: [issue] }: z.ZodError, subject: string): ServiceError {
  if (issue === undefined) return new ServiceError('invalid_request', { message: 'The request is invalid.' })
  const path = formatPath(issue.path)
  const isUnsupported = issue.code === 'custom' && issue.params?.['code'] === 'unsupported_value'
  return toFieldError({
    field: path === '' ? null : path,
    problem: issue.message,
    subject,
    code: isUnsupported ? 'unsupported_value' : 'invalid_request',
  })
}

/** `messages[0].role` */
function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, depth) =>
      typeof key === 'number' ? `[${key}]` : depth === 0 ? String(key) : `.${String(key)}`,
    )
    .join('')
}
