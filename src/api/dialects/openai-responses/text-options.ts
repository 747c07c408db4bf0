/** `text` of a request to `/v1/responses`: the format that the answer keeps to, and what is said of it. */
import { z } from 'zod'
import type { Constraint } from '../../../protocol/constraint.ts'
import { schemaConstraint } from '../../schemas/constraints.ts'
import { boolean, isJsonObject, must, mustBeOfType, text } from '../../schemas/fields.ts'
import { verbosityField } from '../../schemas/template-arguments.ts'

const jsonSchemaFormat = z.object({
  type: z.literal('json_schema'),
  name: text(),
  description: text().nullish(),
  schema: z.record(z.string(), z.unknown(), { error: must('a JSON schema') }),
  strict: boolean().nullish(),
})

const givenFormat = z
  .discriminatedUnion(
    'type',
    [z.object({ type: z.literal('text') }), z.object({ type: z.literal('json_object') }), jsonSchemaFormat],
    { error: mustBeOfType(['text', 'json_object', 'json_schema']) },
  )
  .meta({ id: 'ResponseTextFormat' })

/** As it was given, for the answer, and what it asks for; null asks for nothing. */
const format = z.preprocess(refuseNested, givenFormat).transform((shown, context) => ({
  shown,
  constraint: toConstraint(shown, context),
}))

/** A format as chat completions have it. */
function refuseNested(given: unknown, context: z.RefinementCtx): unknown {
  const isSchema = isJsonObject(given) && given['type'] === 'json_schema'
  if (isSchema && isJsonObject(given['json_schema']) && given['name'] === undefined) {
    const message = 'is required: name, schema and strict stand beside type here'
    context.addIssue({ code: 'custom', path: ['name'], message })
  }
  return given
}

export const textOptions = z.object(
  {
    format: format.nullish(),
    verbosity: verbosityField(),
  },
  { error: must('an object') },
)

function toConstraint(given: z.output<typeof givenFormat>, context: z.RefinementCtx): Constraint | null {
  switch (given.type) {
    case 'text':
      return null
    case 'json_object':
      return { kind: 'json-object' }
    case 'json_schema':
      return schemaConstraint(given.schema, given.strict ?? false, context)
  }
}
