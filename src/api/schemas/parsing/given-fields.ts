/**
 * Makes the schema of an object look at the fields that it is given, and no longer at all that it could have: a body has five of forty.
 * What the others come to is found out once. Where anything is wrong the schema itself runs, so that it says what it always says.
 * Called by `fields.ts`.
 *
 * Invariant: the result is that of the schema itself, whatever is given.
 */
import type { z } from 'zod'

type Payload = z.core.ParsePayload
type Context = z.core.ParseContextInternal
type Parse = z.core.$ZodTypeInternals['parse']
type Fields = ReadonlyMap<string, z.core.$ZodType>

/** Changes the schema in place: one that is derived from it, with `describe` or `extend`, is as it was. */
export function parseGivenFields<Schema extends z.ZodObject>(schema: Schema): Schema {
  const { _zod: internals } = schema
  const parseAll = internals.parse.bind(internals)
  // Without checks of its own a schema is run by its parser.
  const isRunByParser = internals.run === internals.parse
  const { catchall } = internals.def
  const keepsOthers = catchall?._zod.def.type === 'unknown'
  if (catchall !== undefined && !keepsOthers) return schema
  const fields: Fields = new Map(Object.entries(schema.shape))
  let absent: AbsentFields | null = null
  const parse: Parse = (payload, context) => {
    absent ??= absentFields(fields)
    const value = isPlain(payload.value, context)
      ? parseGiven(payload.value, { fields, absent, keepsOthers, context })
      : null
    if (value === null) return parseAll(payload, context)
    payload.value = value
    return payload
  }
  internals.parse = parse
  if (isRunByParser) internals.run = parse
  return schema
}

interface AbsentFields {
  readonly required: readonly string[]
  /** What those come to that are not given. */
  readonly values: Readonly<Record<string, unknown>>
}

function absentFields(fields: Fields): AbsentFields {
  const required: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, field] of fields) {
    const result = field._zod.run({ value: undefined, issues: [] }, {})
    const isOptional = field._zod.optin !== undefined
    if (!isOptional || result instanceof Promise || result.issues.length > 0) required.push(name)
    else if (result.value !== undefined) values[name] = result.value
  }
  return { required, values }
}

/** Zod has rules of its own for a prototype, and for what it waits for. */
function isPlain(value: unknown, context: Context): value is Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return (
    isObject &&
    context.async !== true &&
    context.direction !== 'backward' &&
    !Object.hasOwn(value, '__proto__')
  )
}

interface GivenOptions {
  readonly fields: Fields
  readonly absent: AbsentFields
  readonly keepsOthers: boolean
  readonly context: Context
}

/** Null where something is wrong. */
function parseGiven(
  given: Readonly<Record<string, unknown>>,
  { fields, absent, keepsOthers, context }: GivenOptions,
): Readonly<Record<string, unknown>> | null {
  for (const name of absent.required) if (!Object.hasOwn(given, name)) return null
  const value: Record<string, unknown> = { ...absent.values }
  for (const name of Object.keys(given)) {
    const field = fields.get(name)
    if (field !== undefined) {
      const result: Payload | Promise<Payload> = field._zod.run({ value: given[name], issues: [] }, context)
      if (result instanceof Promise || result.issues.length > 0) return null
      value[name] = result.value
    } else if (keepsOthers) value[name] = given[name]
  }
  return value
}
