/**
 * Building blocks of request schemas. Each rule carries its own sentence, "must be <rule>, but was <value>", so that
 * a wrong type and a broken bound read the same and always name the bound; `validator.ts` puts the field's name in
 * front. Nothing is coerced: `"1"` is not a number.
 */
import { z } from 'zod'

interface Issue {
  readonly input?: unknown
}

/** The error of a schema: says what the field must be and what it was. */
export function must(rule: string): (issue: Issue) => string {
  return ({ input }) =>
    input === undefined ? 'is required' : `must be ${rule}, but was ${describeValue(input)}`
}

const MAX_SHOWN_CHARACTERS = 64

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length} ${value.length === 1 ? 'item' : 'items'}`
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return String(value)
  const shown = value.slice(0, MAX_SHOWN_CHARACTERS)
  return JSON.stringify(shown.length < value.length ? `${shown}…` : shown)
}

export function number(min: number, max: number) {
  const error = must(`a number between ${min} and ${max}`)
  return z.number({ error }).min(min, { error }).max(max, { error })
}

export function integer(min: number, max: number) {
  const error = must(`an integer between ${min} and ${max}`)
  return z.int({ error }).min(min, { error }).max(max, { error })
}

export function boolean() {
  return z.boolean({ error: must('true or false') })
}

/** In Unicode mode a surrogate matches only where it has no partner. */
const LONE_SURROGATE = /\p{Surrogate}/u

export function isWellFormed(value: string): boolean {
  return !LONE_SURROGATE.test(value)
}

/** A string without lone surrogates, which no UTF-8 could carry back. */
export function text(rule = 'a string') {
  return z.string({ error: must(rule) }).refine(isWellFormed, {
    error: 'must be valid Unicode, but has a lone surrogate in it',
  })
}

/** Counted in code points, as people and JSON Schema count. */
function boundedText(min: number, max: number) {
  const rule = `a string of ${min} to ${max} characters`
  return text(rule)
    .refine((value) => value.length >= min && (value.length <= max || Array.from(value).length <= max), {
      error: must(rule),
    })
    .meta({ minLength: min, maxLength: max })
}

/** Text that a database keeps: some of them end it at a null character. */
export function storedText(min: number, max: number) {
  return boundedText(min, max).refine((value) => !value.includes('\0'), {
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
  const array = z.array(item, { error }).min(min, { error })
  return max === Infinity ? array : array.max(max, { error })
}

/** `null` and absence both mean the default. */
export function nullableWithDefault<Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>) {
  return schema
    .nullable()
    .optional()
    .meta({ default: value })
    .transform((given): z.output<Schema> => given ?? value)
}

/** For the refinement of a change in which every field is optional. */
export function changesSomething(names: string) {
  return [
    (change: object) => Object.values(change).some((value) => value !== undefined && value !== null),
    { error: `must hold at least one of ${names}` },
  ] as const
}

export const modelId = () => boundedText(0, 1024)

export const stopStrings = () =>
  arrayOf(boundedText(1, 256), { min: 0, max: 16, of: 'strings' }).describe(
    'Texts that end the generation. The match and what follows are not returned.',
  )

export const topK = () =>
  integer(0, 2_147_483_647).describe('Sample from this many likeliest tokens only; 0 is off.')

export const topP = () =>
  number(0, 1).describe(
    'Sample from the likeliest tokens that together have this probability; 0 keeps one, 1 is off.',
  )

export const repetitionPenalty = () =>
  number(0, 10).describe('Makes tokens of the prompt and of the output less likely; 1.0 and 0.0 are off.')

export const seed = () =>
  integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER).describe(
    'The same request with the same seed gives the same text on an idle server.',
  )

export const priority = () =>
  integer(-100, 100).describe('Place in the queue within the tier: higher runs first.')
