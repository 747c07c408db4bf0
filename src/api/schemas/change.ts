/**
 * The change that a PATCH of the admin API asks for. Its fields may stand in the query string, as the interface has them for
 * keys, or in the body, as clients send them: one that stands in both must say the same.
 */
import { ServiceError } from '../../core/errors.ts'

type Change<Fields> = { readonly [Name in keyof Fields]: Exclude<Fields[Name], null> | undefined }

/**
 * Absent and null leave a field as it is.
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
    if (value === null || value === undefined) continue
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
