/** What the dialects share about tools: a function as OpenAI writes it, and which of the tools a choice names. */
import { z } from 'zod'
import { brokenRule, describeValue } from '../../net/requests/request-fields.ts'
import type { ToolDefinition } from '../../protocol/chat.ts'
import { addUnsupported, boolean, isJsonObject, must, quoteNames, text } from './fields.ts'

const FUNCTION_NAME = /^[\w.-]{1,64}$/
const NAME_RULE = 'a name of 1 to 64 letters, digits, underscores, dots and hyphens'

export const functionName = () =>
  z.string({ error: must(NAME_RULE) }).regex(FUNCTION_NAME, { error: must(NAME_RULE) })

const schemaObject = (rule: string) => z.record(z.string(), z.unknown(), { error: must(rule) })

/** The fields of a function that a model may call. */
export const functionFields = () => ({
  name: functionName(),
  description: text().nullish(),
  parameters: schemaObject('a JSON schema of an object').nullish(),
  strict: boolean().nullish(),
})

export type FunctionTool = z.output<z.ZodObject<ReturnType<typeof functionFields>>>

/** Tools that a provider runs itself, and ways to choose them. @param read the types that are read */
export const refuseHosted = (read: readonly string[]) => (given: unknown, context: z.RefinementCtx) => {
  if (!isJsonObject(given) || read.some((type) => type === given['type'])) return given
  const problem = `${brokenRule(quoteNames(read), given['type'])}: this server runs no tools of its own`
  addUnsupported(context, ['type'], problem)
  return given
}

/** What a choice may be, beside `none` and `auto`: any of the tools, or some of them. */
type Choice = 'none' | 'auto' | 'required' | readonly string[]

/** What is wrong with a choice among these tools; it follows the field's name. Null where nothing is. */
export function findNamesProblem(tools: readonly FunctionTool[], choice: Choice): string | null {
  if (choice === 'none' || choice === 'auto') return null
  if (tools.length === 0) return "must be 'none' or 'auto' where there are no tools"
  if (choice === 'required') return null
  const names = new Set(tools.map(({ name }) => name))
  const unknown = choice.find((name) => !names.has(name))
  return unknown === undefined ? null : `must name one of the tools, but has ${describeValue(unknown)}`
}

/** @param parametersField the body's name for `parameters` */
export function toDefinition(
  { name, description, parameters, strict }: FunctionTool,
  parametersField: string,
): ToolDefinition {
  return {
    name,
    description: description ?? null,
    parameters: parameters ?? NO_PARAMETERS,
    strict: strict ?? false,
    parametersField,
  }
}

/** Of a function that takes nothing. */
const NO_PARAMETERS = { type: 'object', properties: {} } as const
