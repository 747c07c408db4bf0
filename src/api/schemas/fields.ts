/**
 * Building blocks of request schemas. Each rule carries its own sentence, "must be <rule>, but was <value>", so that
 * a wrong type and a broken bound read the same and always name the bound (`net/requests/request-fields.ts` has the words);
 * `validator.ts` puts the field's name in front. Nothing is coerced: `"1"` is not a number.
 */
import { z } from 'zod'
import type { FieldTable } from '../../net/requests/other-fields/field-table.ts'
import { UNBUILT_FIELDS } from '../../net/requests/other-fields/generation.ts'
import { describeOtherFields, findUnbuiltField } from '../../net/requests/other-fields/unbuilt-fields.ts'
import {
  type Bounds,
  brokenRule,
  GENERATE_NUMBERS,
  hasLength,
  isWellFormed,
  lengthRule,
  MODEL_ID_CHARACTERS,
  NOT_WELL_FORMED,
  type NumberField,
  numberRule,
} from '../../net/requests/request-fields.ts'
import { parseGivenFields } from './parsing/given-fields.ts'
import { longArray } from './parsing/long-array.ts'

interface Issue {
  readonly input?: unknown
}

/** The error of a schema, with the rule and the value given. */
export function must(rule: string): (issue: Issue) => string {
  return ({ input }) => brokenRule(rule, input)
}

/** `'a', 'b' or 'c'` */
export function quoteNames(names: readonly string[]): string {
  const quoted = names.map((name) => `'${name}'`)
  return [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)].filter((part) => part !== '').join(' or ')
}

export function oneOf<const Names extends readonly [string, ...string[]]>(names: Names) {
  return z.enum(names, { error: must(quoteNames(names)) })
}

/**
 * The error of a union of objects that are told apart by their `type`.
 * @param reasons why others are not read
 */
export function mustBeOfType(
  types: readonly string[],
  reasons: ReadonlyMap<unknown, string> = new Map(),
): (issue: Issue) => string {
  const rule = quoteNames(types)
  return ({ input }) => {
    if (!isJsonObject(input)) return brokenRule(`an object of type ${rule}`, input)
    const reason = reasons.get(input['type'])
    return `${brokenRule(rule, input['type'])}${reason === undefined ? '' : `: ${reason}`}`
  }
}

export function bounded({ isInteger, min, max }: Omit<NumberField, 'default'>): z.ZodNumber {
  const error = must(numberRule({ isInteger, min, max }))
  const anyNumber: z.ZodNumber = isInteger ? z.int({ error }) : z.number({ error })
  return anyNumber.min(min, { error }).max(max, { error })
}

export const number = (min: number, max: number) => bounded({ isInteger: false, min, max })

export const integer = (min: number, max: number) => bounded({ isInteger: true, min, max })

export function integerFrom(min: number) {
  const error = must(`an integer of at least ${min}`)
  return z.number({ error }).min(min, { error }).refine(Number.isInteger, { error }).meta({ type: 'integer' })
}

/** Whether it is a token of the model is asked once there is one, of all of them together. */
export const anyTokenId = () => z.number().meta({ type: 'integer', minimum: 0 })

export function boolean() {
  return z.boolean({ error: must('true or false') })
}

/** A string without lone surrogates, which no UTF-8 could carry back. */
export function text(rule = 'a string') {
  return z.string({ error: must(rule) }).refine(isWellFormed, { error: NOT_WELL_FORMED })
}

function boundedText(bounds: Bounds) {
  const rule = lengthRule(bounds)
  return text(rule)
    .refine((value) => hasLength(value, bounds), { error: must(rule) })
    .meta({ minLength: bounds.min, maxLength: bounds.max })
}

/** Text that a database keeps: some of them end it at a null character. */
export function storedText(min: number, max: number) {
  return boundedText({ min, max }).refine((value) => !value.includes('\0'), {
    error: 'must not contain a null character',
  })
}

export function arrayOf<Item extends z.ZodType>(
  item: Item,
  { min, max, of }: { min: number; max: number; of: string },
) {
  const error = must(
    max === Infinity ? `an array of at least ${min} ${of}` : `an array of ${min} to ${max} ${of}`,
  )
  const array = longArray(item, { error }).min(min, { error })
  return max === Infinity ? array : array.max(max, { error })
}

/** An object whose other fields must ask for nothing that is not built. */
export function withoutUnbuilt<Schema extends z.ZodObject>(schema: Schema, table: FieldTable) {
  const known = new Set(Object.keys(schema.shape))
  return z.preprocess((given, context) => {
    const unbuilt = isJsonObject(given) ? findUnbuiltField(given, { table, known }) : null
    if (unbuilt !== null) addUnsupported(context, [unbuilt.field], unbuilt.problem)
    return given
  }, parseGivenFields(schema))
}

/**
 * The body of a request that generates.
 * @param id of its schema in the documentation
 * @param others fields beside those of the one table that its dialect has and that are not built
 */
export function generationBody<Shape extends z.ZodRawShape>(id: string, shape: Shape, others?: FieldTable) {
  return requestBody(id, shape, new Map([...UNBUILT_FIELDS, ...(others ?? [])]))
}

/** The body of a request. @param id of its schema in the documentation, which names the fields of the table too */
export function requestBody<Shape extends z.ZodRawShape>(id: string, shape: Shape, table: FieldTable) {
  const body = z.object(shape, { error: must('a JSON object') })
  const description = describeOtherFields(table, new Set(Object.keys(shape)))
  return withoutUnbuilt(body.meta({ id, description }), table)
}

/** An issue that is answered with the code `unsupported_value`. */
export function addUnsupported(context: z.RefinementCtx, path: PropertyKey[], message: string): void {
  context.addIssue({ code: 'custom', path, message, params: { code: 'unsupported_value' } })
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `null` and absence both mean the default. */
export function nullableWithDefault<Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>) {
  return schema
    .nullable()
    .optional()
    .meta({ default: value })
    .transform((given): z.output<Schema> => given ?? value)
}

export const modelId = () => boundedText(MODEL_ID_CHARACTERS)

export const stopStrings = () =>
  arrayOf(boundedText({ min: 1, max: 256 }), { min: 0, max: 16, of: 'strings' }).describe(
    'Texts that end the generation. The match and what follows are not returned.',
  )

export const MAX_TOKENS_MEANING =
  'Tokens to generate at most; lowered to what the tier and the context allow, which `x-max-tokens-applied` then says.'

export const maxTokens = () => integerFrom(1).describe(MAX_TOKENS_MEANING)

export const topK = () =>
  bounded(GENERATE_NUMBERS.top_k).describe('Sample from this many likeliest tokens only; 0 and -1 are off.')

export const topP = () =>
  bounded(GENERATE_NUMBERS.top_p).describe(
    'Sample from the likeliest tokens that together have this probability; 0 keeps one, 1 is off.',
  )

export const repetitionPenalty = () =>
  number(0, 10).describe('Makes tokens of the prompt and of the output less likely; 1.0 and 0.0 are off.')

/** OpenAI's bound, which clients that draw 64 bits use. Of a double some of the last bits are rounded away. */
const MAX_SEED = 2 ** 63

export function seed() {
  const error = must(`an integer between ${-MAX_SEED} and ${MAX_SEED}`)
  return z
    .number({ error })
    .min(-MAX_SEED, { error })
    .max(MAX_SEED, { error })
    .refine(Number.isInteger, { error })
    .meta({ type: 'integer' })
    .describe('The same request with the same seed gives the same text on an idle server.')
}

export const priority = () =>
  integer(-100, 100).describe('Place in the queue within the tier: higher runs first.')
