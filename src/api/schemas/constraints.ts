/**
 * What an answer must look like: the fields that all routes that generate share (**ext**), under the names that OpenAI, vLLM,
 * llama-server and SGLang give them, and the one constraint that they ask an engine for. The engine says what is wrong inside
 * a schema or a grammar.
 */
import { z } from 'zod'
import { describeValue } from '../../net/requests/request-fields.ts'
import type { Constraint } from '../../protocol/constraint.ts'
import { arrayOf, boolean, isJsonObject, must, text } from './fields.ts'

/** Characters of a schema's JSON, of a grammar or of a pattern. */
const MAX_LENGTH = 256 * 1024
const MAX_CHOICES = 1000
const SCHEMA_RULE = 'a JSON schema: an object, or the JSON text of one'
const FORMATS = ['text', 'json_object', 'json_schema', 'structural_tag'] as const

/** Null asks for nothing. */
type Asked = Constraint | null

const boundedSource = () => text().refine((given) => given.length <= MAX_LENGTH, { error: tooLong })

function tooLong({ input }: { readonly input?: unknown }): string {
  return `must have at most ${MAX_LENGTH} characters, but has ${String(input).length}`
}

/** Of a JSON schema. @param isStrict whether keywords that cannot be kept to are refused */
export function schemaConstraint(
  schema: Readonly<Record<string, unknown>>,
  isStrict: boolean,
  context: z.RefinementCtx,
): Constraint {
  const json = JSON.stringify(schema)
  if (json.length > MAX_LENGTH) {
    context.addIssue({
      code: 'custom',
      message: `must have at most ${MAX_LENGTH} characters of JSON, but has ${json.length}`,
    })
  }
  return { kind: 'json-schema', schema: json, isStrict }
}

/** The JSON text of an object becomes the object. */
function readJson(given: unknown): unknown {
  if (typeof given !== 'string') return given
  try {
    return JSON.parse(given) as unknown
  } catch {
    return given
  }
}

const object = (rule: string) => z.record(z.string(), z.unknown(), { error: must(rule) })

const jsonSchema = () =>
  z
    .preprocess(readJson, object(SCHEMA_RULE))
    .transform((schema, context) => schemaConstraint(schema, false, context))

const structuralTag = () =>
  z
    .preprocess(readJson, object('a structural tag: an object, or the JSON text of one'))
    .transform((tag): Constraint => ({ kind: 'structural-tag', tag: JSON.stringify(tag) }))

const regex = () =>
  boundedSource().transform((pattern): Asked => (pattern === '' ? null : { kind: 'regex', pattern }))

const grammar = () =>
  boundedSource().transform((source): Asked => (source === '' ? null : { kind: 'grammar', grammar: source }))

const choice = () =>
  arrayOf(boundedSource(), { min: 0, max: MAX_CHOICES, of: 'strings' }).transform((choices): Asked =>
    choices.length === 0 ? null : { kind: 'choice', choices },
  )

/** OpenAI's, with llama-server's `schema` beside `type`, and vLLM's `structural_tag`. */
const responseFormat = () =>
  z
    .object(
      {
        type: z.enum(FORMATS, { error: must(`one of ${FORMATS.join(', ')}`) }),
        json_schema: z
          .object(
            {
              name: text().nullish(),
              description: text().nullish(),
              schema: object('a JSON schema: an object').nullish(),
              strict: boolean().nullish(),
            },
            { error: must('an object with a schema') },
          )
          .nullish(),
        schema: object('a JSON schema: an object').nullish(),
        format: object('an object').nullish(),
      },
      { error: must(`an object whose type is one of ${FORMATS.join(', ')}`) },
    )
    .transform((given, context): Asked => {
      const { type, json_schema: named, schema = null, format } = given
      if (type === 'text') return null
      if (type === 'structural_tag') {
        if (format) return { kind: 'structural-tag', tag: JSON.stringify({ type, format }) }
        context.addIssue({
          code: 'custom',
          path: ['format'],
          message: 'must be given with the type structural_tag',
        })
        return null
      }
      const asked = named?.schema ?? schema
      if (asked !== null) return schemaConstraint(asked, named?.strict ?? false, context)
      if (type === 'json_object') return { kind: 'json-object' }
      context.addIssue({
        code: 'custom',
        path: ['json_schema', 'schema'],
        message: 'must be given with the type json_schema',
      })
      return null
    })
    .describe('`json_object` is any JSON object; `json_schema` one that the schema allows.')

/** Whitespace and additional properties are what they are here, and a fallback there is none. */
const FIXED_OUTPUTS = ['whitespace_pattern', 'disable_any_whitespace', 'disable_additional_properties']

/** vLLM's, which takes the place of its `guided_*`. */
const structuredOutputs = () =>
  z
    .preprocess(
      refuseFixed,
      z.object(
        {
          json: jsonSchema().nullish(),
          regex: regex().nullish(),
          choice: choice().nullish(),
          grammar: grammar().nullish(),
          json_object: boolean().nullish(),
          structural_tag: structuralTag().nullish(),
        },
        { error: must('an object') },
      ),
    )
    .transform(({ json_object: isObject, ...others }, context): Asked => {
      const jsonObject: Asked = isObject === true ? { kind: 'json-object' } : null
      const given = givenOf({ json_object: jsonObject, ...others })
      refuseSeveral(given, context)
      return given[0]?.constraint ?? null
    })
    .describe("vLLM's: one of `json`, `regex`, `choice`, `grammar`, `json_object`, `structural_tag`.")

function refuseFixed(given: unknown, context: z.RefinementCtx): unknown {
  const asked = isJsonObject(given)
    ? FIXED_OUTPUTS.find((name) => given[name] !== null && given[name] !== undefined && given[name] !== false)
    : undefined
  if (isJsonObject(given) && asked !== undefined) {
    context.addIssue({
      code: 'custom',
      path: [asked],
      message: `must be null, but was ${describeValue(given[asked])}: this route cannot change it`,
    })
  }
  return given
}

/** For the shape of a body. */
export const constraintFields = () => ({
  response_format: responseFormat().nullish(),
  structured_outputs: structuredOutputs().nullish(),
  guided_json: jsonSchema().nullish().describe("vLLM's: a JSON schema."),
  guided_regex: regex().nullish().describe("vLLM's: a regular expression of the whole answer."),
  guided_choice: choice().nullish().describe("vLLM's: the answer is one of these."),
  guided_grammar: grammar()
    .nullish()
    .describe("vLLM's: a grammar in EBNF or GBNF, whose rule `root` is the whole answer."),
  grammar: grammar().nullish().describe("llama-server's: the same."),
  ebnf: grammar().nullish().describe("SGLang's: the same."),
  json_schema: jsonSchema().nullish().describe("llama-server's and SGLang's: a JSON schema."),
  regex: regex().nullish().describe("SGLang's: a regular expression of the whole answer."),
  choice: choice().nullish().describe('The answer is one of these.'),
  structural_tag: structuralTag()
    .nullish()
    .describe("SGLang's: free text in which tagged parts are constrained."),
})

const FIELD_NAMES = Object.keys(constraintFields()) as readonly (keyof ReturnType<typeof constraintFields>)[]

export type ConstraintBody = Readonly<Partial<Record<(typeof FIELD_NAMES)[number], Asked | undefined>>>

interface Given {
  readonly field: string
  readonly constraint: Constraint
}

function givenOf(body: Readonly<Record<string, Asked | undefined>>): readonly Given[] {
  return Object.entries(body).flatMap(([field, constraint]) => (constraint ? [{ field, constraint }] : []))
}

function refuseSeveral([first, second]: readonly Given[], context: z.RefinementCtx): void {
  if (first === undefined || second === undefined) return
  context.addIssue({
    code: 'custom',
    path: [second.field],
    message: `must not be given beside ${first.field}: an answer keeps to one constraint`,
  })
}

/** Of a body's own fields. */
function askedOf(body: ConstraintBody): readonly Given[] {
  const given: Given[] = []
  for (const field of FIELD_NAMES) {
    const constraint = body[field]
    if (constraint) given.push({ field, constraint })
  }
  return given
}

/** For `superRefine`: at most one field may ask for something. */
export function refuseSeveralConstraints(body: ConstraintBody, context: z.RefinementCtx): void {
  refuseSeveral(askedOf(body), context)
}

/** What they ask for; nothing where they ask for nothing. */
export function constraintOf(body: ConstraintBody): {
  readonly constraint?: Constraint
  readonly constraintField?: string
} {
  const [given] = askedOf(body)
  return given === undefined ? {} : { constraint: given.constraint, constraintField: given.field }
}
