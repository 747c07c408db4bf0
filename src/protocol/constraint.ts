/** What a text must look like, whichever field of a dialect asked for it. Types only; compiled by the engine. */

export type Constraint =
  | { readonly kind: 'json-object' }
  /** `schema` is JSON text of a JSON schema. */
  | { readonly kind: 'json-schema'; readonly schema: string; readonly isStrict: boolean }
  | { readonly kind: 'regex'; readonly pattern: string }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** EBNF as XGrammar reads it, a superset of llama.cpp's GBNF; the rule `root` is the whole text. */
  | { readonly kind: 'grammar'; readonly grammar: string }
  /**
   * JSON text of XGrammar's structural tag: free text in which tool calls are constrained. `shownSpecialTexts` are those of the
   * sequence: control tokens that are text of the answer, and so of the tag. @default none
   */
  | { readonly kind: 'structural-tag'; readonly tag: string; readonly shownSpecialTexts?: readonly string[] }
