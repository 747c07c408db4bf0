/** Which texts the grammar of a schema allows, by XGrammar's own matcher, and which are valid by an independent validator. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { separateAlternatives } from '../../../src/engines/constraints/alternatives/separate-alternatives.ts'
import { schemaToGrammar } from '../../../src/engines/constraints/schema/schema-grammar.ts'
import { loadXGrammar } from '../../../src/engines/constraints/xgrammar.ts'

const xgrammar = loadXGrammar()
const { Grammar, Testings } = xgrammar

export interface SchemaCase {
  readonly schema: unknown
  readonly valid: readonly string[]
  readonly invalid: readonly string[]
}

/** Those of the texts that the schema's grammar allows. */
export async function allowedTexts(
  schema: unknown,
  texts: readonly string[],
  isStrict = true,
): Promise<readonly string[]> {
  const grammar = await Grammar.fromEBNF(
    await separateAlternatives(xgrammar, schemaToGrammar(schema, { isStrict })),
  )
  const verdicts = await Promise.all(texts.map((text) => Testings.isGrammarAcceptString(grammar, text)))
  return texts.filter((_, index) => verdicts[index])
}

/** Whether a text is JSON that the schema allows; formats are not looked at. */
export function isValid(schema: unknown, text: string): boolean {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema as object)
  return validate(JSON.parse(text))
}

/** Its valid texts are valid by an independent validator, and they alone are allowed, strict or not. */
export async function expectAllowedEitherWay({ schema, valid, invalid }: SchemaCase): Promise<void> {
  const texts = [...valid, ...invalid]
  expect(valid.filter((text) => !isValid(schema, text))).toEqual([])
  expect(await allowedTexts(schema, texts)).toEqual(valid)
  expect(await allowedTexts(schema, texts, false)).toEqual(valid)
}
