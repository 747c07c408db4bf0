/**
 * A JSON schema as a grammar of the JSON texts that it allows. XGrammar has a converter of its own, which drops what it does
 * not know without a word; this one names the place of everything that it cannot keep to.
 * A grammar may allow less than its schema: properties come in the order in which the schema names them, objects that name
 * their properties have no others unless `additionalProperties` says so, a pattern is the whole text.
 * Invariant: what a strict schema's grammar allows is valid; of another schema, but for the keywords of `IGNORED`.
 */
import { isDeepStrictEqual } from 'node:util'
import { leastOf, mostOf, schemasOf, type Place } from './counts.ts'
import { literal } from './ebnf.ts'
import { addJsonRule, writeRules } from './json-rules.ts'
import { repeat } from './repetition.ts'
import {
  assertionsOf,
  ignoredKeyword,
  impliedType,
  isIgnored,
  isSchemaObject,
  othersOf,
  type Schema,
} from './keywords.ts'
import { closeObject, JoinedSchemas, type OptionsKeyword } from './combined/joined-schemas.ts'
import { typesOf } from './combined/merge-schemas.ts'
import { type Multiples, multiplesGrammar } from './numbers/multiples-grammar.ts'
import { type Bound, integerGrammar, numberGrammar } from './numbers/number-grammar.ts'
import { keyNotAmong, writeObject } from './object-grammar.ts'
import { resolvePointer } from './schema-pointer.ts'
import { NoValueError, SchemaError, SelfReferenceError } from './schema-error.ts'
import { type RuleWriter, stringGrammar } from './strings/string-grammar.ts'
import { StructuralIds } from './structural-ids.ts'

export { jsonObjectGrammar } from './json-rules.ts'

const MAX_DEPTH = 256
const MAX_GRAMMAR_LENGTH = 2 * 1024 * 1024
/** Rules that are written and left out again, as their schema turns out to allow no value. */
const MAX_LEFT_OUT = 10_000

export interface SchemaOptions {
  /** Whether keywords that are not kept to are refused. */
  readonly isStrict: boolean
}

/** @throws SchemaError */
export function schemaToGrammar(schema: unknown, options: SchemaOptions): string {
  return new SchemaConverter(schema, options).convert()
}

class SchemaConverter {
  readonly #root: unknown
  readonly #options: SchemaOptions
  readonly #joined: JoinedSchemas
  readonly #rules = new Map<string, string>()
  /** Rules by the pointer of the schema they stand for, or by the number of the schemas that they stand for together. */
  readonly #references = new Map<string, string>()
  /** What is wrong with those of them that allow no value: they need not be looked at again. */
  readonly #impossible = new Map<string, NoValueError>()
  /** Rules being written that a value has not begun in: one of them would be a rule that begins with itself. */
  #unbegun = new Set<string>(['root'])
  readonly #ids = new StructuralIds()
  readonly #writer: RuleWriter = {
    add: (body) => this.#rule(body),
    json: (name) => this.#json(name),
    once: (key, write) => this.#shared(key, { path: '', write: () => this.#counted(write()) }),
  }
  #length = 0
  #leftOut = 0
  #selfReferences = 0
  #depth = 0
  /** How many of those it is in: what has no value in there is left out without a word. */
  #attempts = 0
  #names = 0

  constructor(root: unknown, options: SchemaOptions) {
    this.#root = root
    this.#options = options
    this.#joined = new JoinedSchemas(root, options.isStrict)
  }

  convert(): string {
    this.#rules.set('root', '')
    this.#references.set('#', 'root')
    this.#rules.set('root', this.#visit(this.#root, ''))
    return writeRules(this.#rules)
  }

  /** An expression for the values of a schema. */
  #visit(schema: unknown, path: string): string {
    if (schema === true) return this.#json('value')
    if (schema === false) throw new NoValueError(path, 'false allows no value')
    if (!isSchemaObject(schema)) throw new SchemaError(path, 'a schema must be an object or a boolean')
    if (++this.#depth > MAX_DEPTH) throw new SchemaError(path, `schemas are nested deeper than ${MAX_DEPTH}`)
    const expression = this.#visitObject(schema, path)
    this.#depth--
    return expression
  }

  #visitObject(schema: Schema, path: string): string {
    const ignored = this.#options.isStrict ? ignoredKeyword(schema) : undefined
    if (ignored !== undefined) {
      throw new SchemaError(
        `${path}/${ignored}`,
        `the keyword '${ignored}' is not supported in a strict schema`,
      )
    }
    const { $ref, allOf, ...rest } = assertionsOf(schema)
    if ($ref !== undefined) return this.#reference($ref, schema, path)
    if (allOf !== undefined) {
      const all = schemasOf(allOf, `${path}/allOf`)
      const isAlone = all.length === 1 && Object.keys(rest).length === 0
      return isAlone ? this.#visit(all[0], `${path}/allOf/0`) : this.#merged([rest, ...all], path)
    }
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      if (rest[keyword] !== undefined) return this.#anyOf(keyword, rest, path)
    }
    // A schema that is not strict may evaluate properties by keywords that are not kept to.
    const flat = this.#options.isStrict ? closeObject(rest) : rest
    const { const: only, ...others } = flat
    if (only !== undefined) {
      const among = others['enum'] ?? [only]
      const values = Array.isArray(among) ? among.filter((one) => isDeepStrictEqual(one, only)) : among
      return this.#enum({ ...others, enum: values }, path)
    }
    if (flat['enum'] !== undefined) return this.#enum(flat, path)
    const type = flat['type'] ?? impliedType(flat)
    if (type === null) return this.#json('value')
    return this.#typed(typesOf(type), flat, path)
  }

  #reference($ref: unknown, schema: Schema, path: string): string {
    const target = resolvePointer(this.#root, $ref, `${path}/$ref`)
    const pointer = $ref as string
    const { $ref: _own, ...siblings } = assertionsOf(schema)
    if (Object.keys(siblings).length > 0) return this.#merged([{ $ref, ...siblings }], path)
    return this.#shared(pointer, { path: `${path}/$ref`, write: () => this.#visit(target, pointer.slice(1)) })
  }

  /** Of several schemas of one value: one rule wherever they come together, or recursion through them would have no end. */
  #merged(schemas: readonly unknown[], path: string): string {
    const write = (): string => this.#visit(this.#joined.merge(schemas, path), path)
    return this.#shared(String(this.#ids.of(schemas)), { path, write })
  }

  /** The name of the rule with this key, written where it is first asked for. */
  #shared(key: string, { path, write }: { readonly path: string; readonly write: () => string }): string {
    const known = this.#references.get(key)
    if (known !== undefined && this.#unbegun.has(known))
      throw new SelfReferenceError(path, 'it refers to itself')
    if (known !== undefined) return known
    const impossible = this.#impossible.get(key)
    if (impossible !== undefined) throw impossible
    const name = this.#newName()
    this.#references.set(key, name)
    this.#rules.set(name, '')
    this.#unbegun.add(name)
    try {
      this.#rules.set(name, write())
    } catch (error) {
      if (error instanceof NoValueError) this.#impossible.set(key, error)
      throw error
    }
    this.#unbegun.delete(name)
    return name
  }

  /** Null where it allows no value, or those that it is an option of; then nothing is left of what was written for it. */
  #attempt(write: () => string): string | null {
    const [rules, references, depth] = [this.#rules.size, this.#references.size, this.#depth]
    const unbegun = new Set(this.#unbegun)
    this.#attempts++
    try {
      return write()
    } catch (error) {
      if (!(error instanceof NoValueError || error instanceof SelfReferenceError)) throw error
      if (error instanceof SelfReferenceError) this.#selfReferences++
      // What is written and left out, perhaps again and again, is work without a length that is counted.
      this.#leftOut += this.#rules.size - rules
      if (this.#leftOut > MAX_LEFT_OUT)
        throw new SchemaError('', 'the schema has too many parts without a value')
      shorten(this.#rules, rules)
      shorten(this.#references, references)
      this.#depth = depth
      this.#unbegun = unbegun
      return null
    } finally {
      this.#attempts--
    }
  }

  /** A schema of what stands inside a value. */
  #visitInside(schema: unknown, path: string): string {
    const unbegun = this.#unbegun
    this.#unbegun = new Set()
    const expression = this.#visit(schema, path)
    this.#unbegun = unbegun
    return expression
  }

  #anyOf(keyword: OptionsKeyword, schema: Schema, path: string): string {
    const { [keyword]: _, ...base } = schema
    const at = `${path}/${keyword}`
    const options = this.#joined.optionsOf(keyword, schema, path)
    const hasBase = Object.keys(base).length > 0
    const selfReferences = this.#selfReferences
    const alternatives = options.flatMap((option, index) => {
      const optionPath = `${at}/${index}`
      const one = this.#attempt(() =>
        hasBase ? this.#merged([base, option], optionPath) : this.#visit(option, optionPath),
      )
      return one === null ? [] : [one]
    })
    if (alternatives.length === 0 && this.#selfReferences > selfReferences)
      throw new SelfReferenceError(at, 'it refers to itself')
    if (alternatives.length === 0) throw new NoValueError(at, 'it allows no value')
    return this.#rule(alternatives.join(' | '))
  }

  #enum(schema: Schema, path: string): string {
    const values = schema['enum']
    if (!Array.isArray(values)) throw new SchemaError(`${path}/enum`, 'it must be an array')
    const beside = Object.keys(schema).find(
      (keyword) => keyword !== 'enum' && keyword !== 'type' && !isIgnored(keyword),
    )
    if (beside !== undefined && this.#options.isStrict) {
      const problem = `'${beside}' beside 'enum' or 'const' is not supported in a strict schema`
      throw new SchemaError(`${path}/${beside}`, problem)
    }
    const types = schema['type'] === undefined ? null : typesOf(schema['type'])
    const isClosed = schema['unevaluatedProperties'] === false && this.#options.isStrict
    const allowed = values.filter(
      (value) =>
        (types === null || types.some((type) => isOfType(value, type))) &&
        !(isClosed && isSchemaObject(value) && Object.keys(value).length > 0),
    )
    if (allowed.length === 0) throw new NoValueError(`${path}/enum`, 'it allows no value')
    return this.#rule(allowed.map((value) => literal(JSON.stringify(value))).join(' | '))
  }

  #typed(types: readonly string[], schema: Schema, path: string): string {
    const [type] = types
    if (type === undefined) throw new NoValueError(`${path}/type`, 'it allows no value')
    if (types.length > 1) {
      const write = (one: string) => (): string => this.#typed([one], schema, path)
      const alternatives = types.map((one) => this.#optional(null, write(one)))
      const possible = alternatives.filter((alternative) => alternative !== null)
      if (possible.length === 0) throw new NoValueError(path, 'none of its types allows a value')
      return this.#rule(possible.join(' | '))
    }
    switch (type) {
      case 'null':
        return '"null"'
      case 'boolean':
        return '("true" | "false")'
      case 'integer':
      case 'number':
        return this.#number(type, schema, path)
      case 'string':
        return stringGrammar(schema, this.#place(path), this.#writer)
      case 'array':
        return this.#rule(this.#array(schema, path))
      case 'object':
        return this.#object(schema, path)
      default:
        throw new SchemaError(`${path}/type`, `the type ${JSON.stringify(type)} does not exist`)
    }
  }

  #number(type: 'integer' | 'number', schema: Schema, path: string): string {
    const least = tightest([boundOf(schema, 'minimum', path), boundOf(schema, 'exclusiveMinimum', path)], 1)
    const most = tightest([boundOf(schema, 'maximum', path), boundOf(schema, 'exclusiveMaximum', path)], -1)
    const { multipleOf: of = null } = schema
    if (of !== null) {
      if (typeof of !== 'number' || !Number.isFinite(of) || of <= 0)
        throw new SchemaError(`${path}/multipleOf`, 'it must be a number above 0')
      const multiples = this.#multiples({ of, isInteger: type === 'integer', bounds: { least, most } }, path)
      if (multiples !== null) return multiples
    }
    if (least === null && most === null) return this.#json(type)
    const grammarOf = type === 'integer' ? integerGrammar : numberGrammar
    const write = (): string => {
      const grammar = grammarOf({ least, most }, this.#writer.add)
      if (grammar === null) throw new NoValueError(path, 'no number lies between its bounds')
      return grammar
    }
    return this.#shared(`${type} ${JSON.stringify([least, most])}`, { path, write })
  }

  /** Null where they cannot be kept to, and need not be. @throws SchemaError in a strict schema, and where there are none */
  #multiples(multiples: Multiples, path: string): string | null {
    const { of } = multiples
    try {
      const grammar = multiplesGrammar(multiples, () => this.#newName())
      if (grammar === null) throw new NoValueError(path, `no multiple of ${of} lies between its bounds`)
      for (const [name, body] of grammar.rules) this.#rule(body, name)
      return this.#rule(grammar.expression)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      if (!this.#options.isStrict) return null
      throw new SchemaError(`${path}/multipleOf`, `multiples of ${of} are not supported in a strict schema`)
    }
  }

  #array(schema: Schema, path: string): string {
    const ws = this.#json('ws')
    const prefix = schemasOf(
      schema['prefixItems'] ?? (Array.isArray(schema['items']) ? schema['items'] : []),
      `${path}/prefixItems`,
      0,
    )
    const rest = Array.isArray(schema['items']) ? false : (schema['items'] ?? prefix.length === 0)
    const least = leastOf(schema, 'minItems', path)
    const given = mostOf(schema, 'maxItems', this.#place(path))
    const most = rest === false ? Math.min(given, prefix.length) : given
    if (least > most)
      throw new NoValueError(`${path}/minItems`, `it is above the ${most} items that the array may have`)
    const fixed = this.#fixedItems(prefix.slice(0, most), least, path)
    const hasMore = most > fixed.length && fixed.length === prefix.length
    const item = hasMore ? this.#item(rest, `${path}/items`, least <= fixed.length) : null
    if (fixed.length === 0 && item === null) return `"[" ${ws} "]"`
    const comma = this.#json('comma')
    // From the last to the first: behind each optional item stand those after it.
    let tail =
      item === null
        ? ''
        : repeat(
            `(${comma} ${item})`,
            [Math.max(0, least - Math.max(fixed.length, 1)), most - Math.max(fixed.length, 1)],
            this.#writer.once,
          )
    for (let index = fixed.length - 1; index >= 1; index--) {
      // A rule for what follows: so many groups inside each other could not be read.
      const one = `${comma} ${fixed[index]} ${tail === '' ? '' : this.#rule(tail)}`
      tail = index < least ? one : `(${one})?`
    }
    const items = `${fixed[0] ?? item} ${tail} ${ws}`
    return `"[" ${ws} ${least > 0 ? items : `(${items})?`} "]"`
  }

  /** Up to the first that has no value. */
  #fixedItems(schemas: readonly unknown[], least: number, path: string): readonly string[] {
    const items: string[] = []
    for (const schema of schemas) {
      const item = this.#item(schema, `${path}/prefixItems/${items.length}`, items.length >= least)
      if (item === null) break
      items.push(item)
    }
    return items
  }

  #item(schema: unknown, path: string, isOptional: boolean): string | null {
    const write = (): string => this.#rule(this.#visitInside(schema, path))
    return isOptional ? this.#optional(schema, write) : write()
  }

  /** Null where it has no value. A strict schema is told of that, unless it says so itself or this is in one of several options. */
  #optional(schema: unknown, write: () => string): string | null {
    const isTold = this.#options.isStrict && schema !== false && this.#attempts === 0
    return isTold ? write() : this.#attempt(write)
  }

  #object(schema: Schema, path: string): string {
    const properties = schema['properties'] ?? {}
    if (!isSchemaObject(properties)) throw new SchemaError(`${path}/properties`, 'it must be an object')
    const required = schema['required'] ?? []
    if (!Array.isArray(required)) throw new SchemaError(`${path}/required`, 'it must be an array')
    const named = Object.keys(properties)
    const unnamed = required.map(String).filter((name) => !Object.hasOwn(properties, name))
    const given = othersOf(schema)
    const others = given ?? named.length === 0
    if (given === false && unnamed.length > 0) {
      throw new NoValueError(`${path}/required`, `${JSON.stringify(unnamed[0])} is not among the properties`)
    }
    if (named.length === 0 && unnamed.length === 0 && others === true) return this.#json('object')
    const ws = this.#json('ws')
    const [comma, colon] = [this.#json('comma'), this.#json('colon')]
    const member = (key: string, value: string): string => this.#rule(`${key} ${colon} ${value}`)
    const members = [...named, ...unnamed].flatMap((name) => {
      const isRequired = required.includes(name)
      const isNamed = Object.hasOwn(properties, name)
      const write = (): string =>
        isNamed
          ? this.#visitInside(properties[name], `${path}/properties/${escapePointer(name)}`)
          : this.#visitInside(given ?? true, `${path}/additionalProperties`)
      const value = isRequired ? write() : this.#optional(properties[name], write)
      if (value === null) return []
      return [{ member: member(literal(JSON.stringify(name)), value), isRequired }]
    })
    const other = this.#optional(others, () => {
      const value = this.#visitInside(others, `${path}/additionalProperties`)
      return member(
        keyNotAmong([...named, ...unnamed], (body) => this.#rule(body)),
        value,
      )
    })
    return this.#rule(writeObject({ members, other, ws, comma }, (body) => this.#rule(body)))
  }

  #place(path: string): Place {
    return { path, isStrict: this.#options.isStrict }
  }

  /** The name of a rule with this body. */
  #rule(body: string, name = this.#newName()): string {
    this.#rules.set(name, this.#counted(body))
    return name
  }

  #counted(body: string): string {
    this.#length += body.length
    if (this.#length > MAX_GRAMMAR_LENGTH) throw new SchemaError('', 'the schema is too large')
    return body
  }

  #newName(): string {
    return `r${this.#names++}`
  }

  #json(name: string): string {
    addJsonRule(this.#rules, name)
    return name
  }
}

/** Deletes what was added since the map had this size. */
function shorten(map: Map<string, string>, size: number): void {
  if (map.size === size) return
  for (const key of [...map.keys()].slice(size)) map.delete(key)
}

function boundOf(schema: Schema, keyword: string, path: string): Bound | null {
  const value = schema[keyword]
  if (value === undefined) return null
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new SchemaError(`${path}/${keyword}`, 'it must be a number')
  }
  return { value, isExclusive: keyword.startsWith('exclusive') }
}

/** @param inwards 1 for lower bounds, -1 for upper ones */
function tightest(bounds: readonly (Bound | null)[], inwards: 1 | -1): Bound | null {
  const given = bounds.filter((bound) => bound !== null)
  const tighter = (a: Bound, b: Bound): number =>
    inwards * (b.value - a.value) || Number(b.isExclusive) - Number(a.isExclusive)
  return given.toSorted(tighter)[0] ?? null
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isSchemaObject(value)
  return typeof value === type
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
