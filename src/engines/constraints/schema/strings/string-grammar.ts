/** Strings of a schema as grammars: by their length, their pattern or their format. */
import { leastOf, mostOf, type Place } from '../counts.ts'
import { formatPatterns } from './formats.ts'
import { PLAIN, STRING_REST } from '../json-rules.ts'
import type { Schema } from '../keywords.ts'
import { regexToGrammar } from './regex-grammar.ts'
import { exactly, type CountedItem, upTo, type WriteOnce } from '../repetition.ts'
import { NoValueError, SchemaError } from '../schema-error.ts'

const CHARACTER: CountedItem = { plain: PLAIN, other: 'escaped' }
const QUOTATION_MARK = '"\\""'

/** What a grammar is written into. Each gives the name of a rule. */
export interface RuleWriter {
  readonly add: (body: string) => string
  readonly once: WriteOnce
  /** One of JSON's own. */
  readonly json: (name: string) => string
}

/** @throws SchemaError */
export function stringGrammar(schema: Schema, place: Place, rules: RuleWriter): string {
  const { path, isStrict } = place
  const [least, most] = [leastOf(schema, 'minLength', path), mostOf(schema, 'maxLength', place)]
  if (least > most) throw new NoValueError(`${path}/minLength`, `it is above maxLength, which is ${most}`)
  if (schema['pattern'] !== undefined) return patternGrammar(schema, place, rules)
  const { format } = schema
  const known = format === undefined ? null : formatPatterns(format, [least, most])
  if (known !== null) {
    if (known.within === null) refuseLengths(schema, 'format', place)
    return quoted(known.within ?? known.any, rules)
  }
  if (format !== undefined && isStrict) {
    const problem = `the format ${JSON.stringify(format)} is not supported in a strict schema`
    throw new SchemaError(`${path}/format`, problem)
  }
  if (least === 0 && most === Infinity) return rules.json('string')
  return ofLength([least, most], rules)
}

/** A string with so many characters, each escaped or not. */
function ofLength([least, most]: readonly [number, number], { add, json, once }: RuleWriter): string {
  json('escaped')
  const rest =
    most === Infinity
      ? once('the rest of a string', () => STRING_REST)
      : upTo(CHARACTER, most - least, { end: QUOTATION_MARK, writeOnce: once })
  return add(`${QUOTATION_MARK} ${exactly(CHARACTER, least, { rest, writeOnce: once })}`)
}

/**
 * A format beside it is an annotation: schema libraries write the pattern of the format there, their own wording of it. A pattern
 * that no grammar can have, with the lookaheads of Pydantic's decimals, is ignored where the schema is not strict.
 */
function patternGrammar({ pattern, ...others }: Schema, place: Place, rules: RuleWriter): string {
  refuseLengths(others, 'pattern', place)
  const at = `${place.path}/pattern`
  if (typeof pattern !== 'string') throw new SchemaError(at, 'it must be a string')
  try {
    return quoted(pattern, rules)
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    if (place.isStrict || !isRegularExpression(pattern)) throw error.inside(at)
    return stringGrammar(others, place, rules)
  }
}

/** A string whose text is one of a regular expression. @throws SchemaError */
function quoted(pattern: string, rules: RuleWriter): string {
  return rules.add(`"\\"" (${regexToGrammar(pattern, rules.once, { isInJson: true })}) "\\""`)
}

/** @throws SchemaError in a strict schema, for a length that is not kept to beside that keyword */
function refuseLengths(schema: Schema, keyword: 'format' | 'pattern', { path, isStrict }: Place): void {
  const length = ['minLength', 'maxLength'].find((one) => schema[one] !== undefined)
  if (length === undefined || !isStrict) return
  const problem = `'${length}' beside '${keyword}' is not supported in a strict schema`
  throw new SchemaError(`${path}/${length}`, problem)
}

/** Of JavaScript's, with flags and names as other languages write them. */
function isRegularExpression(pattern: string): boolean {
  const written = pattern
    .replaceAll(/\(\?[a-zA-Z]+\)/g, '')
    .replaceAll(/\(\?[a-zA-Z]+(-[a-zA-Z]+)?:/g, '(?:')
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\(\?P=(\w+)\)/g, '\\k<$1>')
  return ['u', ''].some((flags) => {
    try {
      return new RegExp(written, flags) instanceof RegExp
    } catch {
      return false
    }
  })
}
