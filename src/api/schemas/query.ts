/**
 * Fields of query strings. What arrives is text, once, or an array when a name is repeated; a number must be written as
 * one, so that `since=` and `since=yesterday` are not taken for zero. Absent means the default.
 */
import { z } from 'zod'
import { ServiceError } from '../../core/errors.ts'
import { must, storedText } from './fields.ts'

interface Bounds {
  readonly min: number
  readonly max: number
}

export function queryText(rule: string) {
  return z.string({ error: must(rule) })
}

/** Bounded, so that matching takes linear time. */
const WHOLE = /^-?\d{1,20}$/
const DECIMAL = /^-?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:e[+-]?\d{1,3})?$/i

function numberBetween({ min, max }: Bounds, { isWhole, rule }: { isWhole: boolean; rule: string }) {
  return queryText(rule)
    .transform((given, context) => {
      const value = (isWhole ? WHOLE : DECIMAL).test(given) ? Number(given) : Number.NaN
      if (value >= min && value <= max) return value
      context.addIssue({ code: 'custom', input: given, message: must(rule)({ input: given }) })
      return z.NEVER
    })
    .meta({ type: isWhole ? 'integer' : 'number', minimum: min, maximum: max })
}

export function queryInteger(bounds: Bounds) {
  return numberBetween(bounds, {
    isWhole: true,
    rule: `an integer between ${bounds.min} and ${bounds.max}`,
  })
}

export function queryChoice<const Choices extends readonly [string, ...string[]]>(choices: Choices) {
  return z.enum(choices, { error: must(`one of ${choices.join(', ')}`) })
}

/** Later than any clock will show, and still a number that every database holds exactly. */
const MAX_UNIX_SECONDS = 253_402_300_799

const moment = () =>
  numberBetween(
    { min: 0, max: MAX_UNIX_SECONDS },
    { isWhole: false, rule: `a Unix time in seconds between 0 and ${MAX_UNIX_SECONDS}` },
  ).optional()

export const since = () => moment().describe('Unix seconds, inclusive; all there is when left out.')

export const until = () => moment().describe('Unix seconds, exclusive; now when left out.')

interface Span {
  readonly since?: number | undefined
  readonly until?: number | undefined
}

/** @throws ServiceError `invalid_request` for a span that ends before it begins */
export function requireSpan({ since: from = 0, until: to = Infinity }: Span): void {
  if (to > from) return
  const message = `until must be later than since, which is ${from}, but was ${to}.`
  throw new ServiceError('invalid_request', { message }, { param: 'until' })
}

/** Of a listing or a sum for the admin. */
export const userFilter = () =>
  storedText(1, 254).optional().describe('Id or e-mail address of a user: only what is theirs.')

const MAX_PAGE_LENGTH = 1000

/** The two parameters of every listing; without them all is listed. */
export const pageQuery = z.object({
  limit: queryInteger({ min: 1, max: MAX_PAGE_LENGTH })
    .optional()
    .describe('Rows of a page; when left out all, up to 10,000.'),
  cursor: queryText('the next_cursor of a page').optional().describe('`next_cursor` of the page before.'),
})

export const nextCursor = () =>
  z
    .string()
    .nullable()
    .optional()
    .describe(
      'There when `limit` was given, or when there are more rows than one answer holds; null on the last page.',
    )

type PageQuery = z.output<typeof pageQuery>

export function toPage({ limit, cursor }: PageQuery): { limit: number | null; cursor: string | null } {
  return { limit: limit ?? null, cursor: cursor ?? null }
}

/** The cursor of the next page, where the query has a limit or there are more rows. */
export function toListing(
  { limit }: PageQuery,
  { nextCursor }: { readonly nextCursor: string | null },
): { next_cursor?: string | null } {
  return limit === undefined && nextCursor === null ? {} : { next_cursor: nextCursor }
}
