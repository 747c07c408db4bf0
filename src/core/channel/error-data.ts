/** Errors as data, so that one thrown in another process is answered and logged as it would be in this one. */
import { type ErrorCode, ServiceError, StartError } from '../errors.ts'

/** What Node says of a failed system call: why a port cannot be listened on. */
interface SystemFields {
  readonly code?: string
  readonly syscall?: string
  readonly address?: string
  readonly port?: number
}

export type ErrorData =
  | {
      readonly kind: 'service'
      readonly code: ErrorCode
      readonly params: ServiceError['params']
      readonly param: string | null
      readonly retryAfterSeconds: number | null
      readonly cause: ErrorData | null
    }
  | { readonly kind: 'start'; readonly message: string; readonly exitCode: 1 | 2 }
  | {
      readonly kind: 'other'
      readonly name: string
      readonly message: string
      readonly stack: string | null
      readonly system: SystemFields
    }

export function toErrorData(thrown: unknown): ErrorData {
  if (thrown instanceof ServiceError) {
    const { code, params, param, retryAfterSeconds, cause } = thrown
    const causeData = cause === undefined ? null : toErrorData(cause)
    return { kind: 'service', code, params, param, retryAfterSeconds, cause: causeData }
  }
  if (thrown instanceof StartError) {
    return { kind: 'start', message: thrown.message, exitCode: thrown.exitCode }
  }
  if (!(thrown instanceof Error)) {
    return { kind: 'other', name: 'Error', message: String(thrown), stack: null, system: {} }
  }
  const { name, message, stack = null } = thrown
  const { code, syscall, address, port } = thrown as Error & SystemFields
  const system = typeof syscall === 'string' ? { code, syscall, address, port } : {}
  return { kind: 'other', name, message, stack, system: dropUndefined(system) }
}

export function fromErrorData(data: ErrorData): Error {
  switch (data.kind) {
    case 'service': {
      const { code, params, param, retryAfterSeconds, cause } = data
      return new ServiceError(code, params, {
        ...(param !== null && { param }),
        ...(retryAfterSeconds !== null && { retryAfterSeconds }),
        ...(cause !== null && { cause: fromErrorData(cause) }),
      })
    }
    case 'start':
      return new StartError(data.message, data.exitCode)
    case 'other': {
      const error = new Error(data.message)
      error.name = data.name
      if (data.stack !== null) error.stack = data.stack
      return Object.assign(error, data.system)
    }
  }
}

function dropUndefined(fields: { readonly [Name in keyof SystemFields]: SystemFields[Name] | undefined }) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as SystemFields
}
