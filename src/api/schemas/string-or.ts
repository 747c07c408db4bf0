/** Fields of conversations that are a string or an array of parts, in every dialect that has them. */
import { z } from 'zod'
import { isWellFormed, NOT_WELL_FORMED } from '../../net/requests/request-fields.ts'

/**
 * A string in place of an array. No union: its error would name neither the item nor the field that is wrong.
 * @param toArray what the string is short for
 */
export function stringOr<Schema extends z.ZodType>(toArray: (given: string) => unknown, schema: Schema) {
  const expand = (given: unknown, context: z.RefinementCtx): unknown => {
    if (typeof given !== 'string') return given
    if (!isWellFormed(given)) context.addIssue({ code: 'custom', message: NOT_WELL_FORMED })
    return toArray(given)
  }
  return z.preprocess(expand, schema).meta({ type: ['string', 'array'] })
}
