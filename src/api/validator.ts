/** Runs a route's zod schemas and turns the first thing wrong into one sentence: field, bound and value given. */
import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { ServiceError } from '../core/errors.ts'

export const validatorCompiler: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  const isBody = httpPart === 'body'
  const subject = isBody ? 'The request body' : 'The query string'
  return (data) => {
    // No body at all is an empty one: the answer then names the first required field.
    const result = schema.safeParse(isBody ? (data ?? {}) : data)
    return result.success ? { value: result.data } : { error: toServiceError(result.error, subject) }
  }
}

function toServiceError(error: z.ZodError, subject: string): ServiceError {
  const issue = error.issues[0]
  if (issue === undefined) return new ServiceError('invalid_request', { message: 'The request is invalid.' })
  const field = formatPath(issue.path)
  const message = `${field === '' ? subject : field} ${issue.message}.`
  const isUnsupported = issue.code === 'custom' && issue.params?.['code'] === 'unsupported_value'
  return new ServiceError(
    isUnsupported ? 'unsupported_value' : 'invalid_request',
    { message },
    field === '' ? {} : { param: field },
  )
}

/** `messages[0].role` */
function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, depth) =>
      typeof key === 'number' ? `[${key}]` : depth === 0 ? String(key) : `.${String(key)}`,
    )
    .join('')
}
