/**
 * What several schemas of one value say together, references among them followed: `allOf`, and keywords beside `$ref` and `anyOf`.
 * Only the first of several sees what the others say of properties: one that closes its object is closed before it is joined.
 */
import { schemasOf, type Place } from '../counts.ts'
import { areDisjoint } from './disjoint.ts'
import { assertionsOf, isSchemaObject, type Schema } from '../keywords.ts'
import { mergeSchemas } from './merge-schemas.ts'
import { resolvePointer } from '../schema-pointer.ts'
import { SchemaError } from '../schema-error.ts'

const MAX_DEPTH = 256
/** Options inside options double them each time, and may leave little behind that is written. */
const MAX_JOINED = 10_000
const LISTS = ['enum', 'const'] as const

export type OptionsKeyword = 'anyOf' | 'oneOf'

export class JoinedSchemas {
  readonly #root: unknown
  readonly #isStrict: boolean
  /** Parts of others as they are joined, by themselves: a part of many is looked at once. */
  readonly #parts = new WeakMap<object, unknown>()
  #depth = 0
  #joined = 0

  constructor(root: unknown, isStrict: boolean) {
    this.#root = root
    this.#isStrict = isStrict
  }

  /** @param schemas of one value, of which the first sees the properties of all */
  merge([first, ...parts]: readonly unknown[], path: string): unknown {
    if (++this.#joined > MAX_JOINED) throw new SchemaError('', 'the schema is too large')
    return parts.reduce(
      (merged, part, index) => {
        const at = `${path}/allOf/${index}`
        return mergeSchemas(merged, this.#part(part, at), this.#place(at))
      },
      this.followed(first, path),
    )
  }

  /** The schema that a `$ref` stands for, with what stands beside it. */
  followed(schema: unknown, path: string, hops = 0): unknown {
    if (!isSchemaObject(schema) || schema['$ref'] === undefined) return schema
    if (hops > MAX_DEPTH) throw new SchemaError(`${path}/$ref`, 'it refers to itself')
    const { $ref, ...siblings } = assertionsOf(schema)
    const target = this.followed(resolvePointer(this.#root, $ref, `${path}/$ref`), path, hops + 1)
    if (Object.keys(siblings).length === 0) return target
    return mergeSchemas(this.#closed(target, path), siblings, this.#place(path))
  }

  /** @throws SchemaError in a strict schema, for options of `oneOf` that may be valid together */
  optionsOf(keyword: OptionsKeyword, schema: Schema, path: string): readonly unknown[] {
    const at = `${path}/${keyword}`
    const options = schemasOf(schema[keyword], at)
    if (keyword === 'anyOf' || !this.#isStrict) return options
    if (areDisjoint(options.map((option, index) => this.followed(option, `${at}/${index}`)))) return options
    throw new SchemaError(
      at,
      "in a strict schema the options of 'oneOf' must exclude each other by their type or a constant property",
    )
  }

  #part(schema: unknown, path: string): unknown {
    if (!isSchemaObject(schema)) return schema
    if (!this.#parts.has(schema)) this.#parts.set(schema, this.#closed(this.followed(schema, path), path))
    return this.#parts.get(schema)
  }

  /** The same, with no property that it closes its object to, whatever it is joined with. */
  #closed(schema: unknown, path: string): unknown {
    if (!this.#isStrict || !isSchemaObject(schema) || schema['unevaluatedProperties'] !== false) return schema
    if (++this.#depth > MAX_DEPTH) throw new SchemaError(path, `schemas are nested deeper than ${MAX_DEPTH}`)
    const closed = this.#closedOptions(this.#withoutAllOf(schema, path), path)
    this.#depth--
    return closed
  }

  #withoutAllOf(schema: unknown, path: string): unknown {
    let current = schema
    for (let hops = 0; isSchemaObject(current) && current['allOf'] !== undefined; hops++) {
      if (hops > MAX_DEPTH) throw new SchemaError(`${path}/allOf`, 'it refers to itself')
      const { allOf, ...own } = assertionsOf(current)
      current = this.merge([own, ...schemasOf(allOf, `${path}/allOf`)], path)
    }
    return current
  }

  /** Each option sees its own properties, and is closed where it is joined. */
  #closedOptions(schema: unknown, path: string): unknown {
    if (!isSchemaObject(schema)) return schema
    const keyword = (['anyOf', 'oneOf'] as const).find((one) => schema[one] !== undefined)
    if (keyword === undefined) return closeObject(schema)
    const { [keyword]: _, ...own } = schema
    return { anyOf: this.optionsOf(keyword, schema, path).map((option) => ({ ...own, allOf: [option] })) }
  }

  #place(path: string): Place {
    return { path, isStrict: this.#isStrict }
  }
}

/** What a schema without options evaluates is what it describes. The values of a list are looked at one by one. */
export function closeObject(schema: Schema): Schema {
  if (schema['unevaluatedProperties'] !== false || LISTS.some((one) => schema[one] !== undefined))
    return schema
  const { unevaluatedProperties, ...open } = schema
  return { additionalProperties: unevaluatedProperties, ...open }
}
