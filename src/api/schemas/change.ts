/**
 * The change that a PATCH of the admin API asks for. Its fields may stand in the query string, as the interface has them for
 * keys, or in the body, as clients send them: one that stands in both must say the same.
 */
import { ServiceError } from '../../core/errors.ts'

/** Null takes these away (RFC 7396); of all other fields null is as good as nothing. */
const CLEARED_BY_NULL = ['team_id', 'daily_token_budget', 'monthly_token_budget'] as const

type Cleared = (typeof CLEARED_BY_NULL)[number]

type Change<Fields> = {
  readonly [Name in keyof Fields]: Name extends Cleared
    ? Fields[Name]
    : Exclude<Fields[Name], null> | undefined
}

const isCleared = (name: string) => CLEARED_BY_NULL.some((one) => one === name)

/**
 * Absent and null leave a field as it is, but for those that null takes away.
 * @param names of all fields
 * @throws ServiceError `invalid_request` for no field at all, and for one with two values
 */
export function mergeChange<Fields extends object>(
  query: { readonly [Name in keyof Fields]?: Fields[Name] | undefined },
  body: Fields,
  names: readonly string[],
): Change<Fields> {
  const merged: Record<string, unknown> = { ...query }
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || (value === null && !isCleared(name))) continue
    const other = merged[name]
    if (other !== undefined && other !== value) throw twoValues(name)
    merged[name] = value
  }
  if (Object.values(merged).every((value) => value === undefined)) throw nothingGiven(names)
  return merged as Change<Fields>
}

function nothingGiven(names: readonly string[]): ServiceError {
  const message = `The query string or the request body must hold at least one of ${names.join(', ')}.`
  return new ServiceError('invalid_request', { message })
}

function twoValues(name: string): ServiceError {
  const message = `${name} is given twice: the query string and the request body must not differ.`
  return new ServiceError('invalid_request', { message }, { param: name })
}
