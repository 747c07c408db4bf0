/** Strings of a schema as grammars: by their length, their pattern or their format. */
import { leastOf, mostOf, type Place } from '../counts.ts'
import { repeat } from '../ebnf.ts'
import { formatPatterns } from './formats.ts'
import { PLAIN, STRING_REST } from '../json-rules.ts'
import type { Schema } from '../keywords.ts'
import { regexToGrammar } from './regex-grammar.ts'
import { NoValueError, SchemaError } from '../schema-error.ts'

/** Each character up to a bound of length has a rule, and each takes milliseconds to compile. */
const MAX_COUNTED_CHARACTERS = 128
const BLOCK_CHARACTERS = 32
/** More take seconds to compile. Where the schema is not strict, a longer bound is none. */
const MAX_BOUND_CHARACTERS = 2500

/** What a grammar is written into. Each gives the name of a rule. */
export interface RuleWriter {
  readonly add: (body: string) => string
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
  return ofLength([least, most > MAX_BOUND_CHARACTERS && !isStrict ? Infinity : most], rules)
}

/**
 * A string with so many characters. One after the other, each with all that follows: a repeated rule of one character, escaped or
 * not, would make a mask a hundred times as slow, and long ones have no escaped characters.
 */
function ofLength([least, most]: readonly [number, number], rules: RuleWriter): string {
  rules.json('escaped')
  const counted = most === Infinity ? least : most
  const end = most === Infinity ? STRING_REST : '"\\""'
  if (counted > MAX_COUNTED_CHARACTERS) {
    const rest = most === Infinity ? end : upToMore(most - least, rules)
    return rules.add(`"\\"" ${repeat(PLAIN, least, least)} ${rest}`)
  }
  let rest = end
  for (let length = counted - 1; length >= 0; length--) {
    const next = rules.add(rest)
    rest = `${length < least ? '' : `${end} | `}${PLAIN} ${next} | escaped ${next}`
  }
  return rules.add(`"\\"" ${rules.add(rest)}`)
}

/** At most so many characters and the end: whole blocks, then what is left, so that a text is read in one way alone. */
function upToMore(most: number, rules: RuleWriter): string {
  const block = rules.add(`${PLAIN}{${BLOCK_CHARACTERS}}`)
  const tail = rules.add(`${repeat(PLAIN, 0, BLOCK_CHARACTERS - 1)} "\\""`)
  let rest = rules.add(`${repeat(PLAIN, 0, most % BLOCK_CHARACTERS)} "\\""`)
  for (let length = BLOCK_CHARACTERS; length <= most; length += BLOCK_CHARACTERS)
    rest = rules.add(`${block} ${rest} | ${tail}`)
  return rest
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
  return rules.add(`"\\"" (${regexToGrammar(pattern, { isInJson: true })}) "\\""`)
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
