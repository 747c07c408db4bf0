/**
 * The one table of fields that other servers' requests have and a route here may not read: OpenAI's, Anthropic's, vLLM's,
 * llama-server's, SGLang's, Ollama's, TGI's and those of `generate` in transformers. Two lists: fields that would change the
 * answer, which are refused unless their value asks for nothing (one file for each kind of body, beside this one), and harmless
 * ones, which are ignored as unknown ones are (`harmless.ts`). Data only, read by `unbuilt-fields.ts`. A row says nothing of
 * the routes whose schemas read the field; it leaves the table once all routes do.
 */
interface FieldGroup {
  /** What the fields ask for; completes "this route cannot". */
  readonly does: string
  /** Each with the values that ask for nothing; null always is one. */
  readonly fields: Readonly<Record<string, readonly unknown[]>>
  /** How routes that can do it call it; a dot stands before a field of a field. */
  readonly names?: readonly string[]
  /** A field whose value `none` switches these off. */
  readonly offWith?: string
}

interface UnbuiltField extends Omit<FieldGroup, 'fields'> {
  readonly neutral: readonly unknown[]
}

export type FieldTable = ReadonlyMap<string, UnbuiltField>

export function toTable(groups: readonly FieldGroup[]): FieldTable {
  return new Map(
    groups.flatMap(({ fields, ...group }) =>
      Object.entries(fields).map(([field, neutral]) => [field, { ...group, neutral }] as const),
    ),
  )
}
