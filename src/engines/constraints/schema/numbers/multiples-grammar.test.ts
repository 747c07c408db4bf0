/** Multiples of a number. */
import { describe, expect, it } from 'vitest'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { allowedTexts } from '../../../../../test/support/constraints/schema-texts.ts'

describe('multiples of a number', () => {
  const wholes = Array.from({ length: 61 }, (_, index) => index - 30)
  const twentieths = Array.from({ length: 121 }, (_, index) => (index - 60) / 20)
  const numbers = [...new Set([...wholes, ...twentieths])]

  it.each([
    { type: 'integer', multipleOf: 3 },
    { type: 'integer', multipleOf: 7, minimum: -15, maximum: 23 },
    { type: 'integer', multipleOf: 2.5 },
    { type: 'number', multipleOf: 0.25, exclusiveMinimum: -1.5, maximum: 12 },
    { type: 'number', multipleOf: 0.3, minimum: 0.35 },
    { type: 'number', multipleOf: 4, exclusiveMaximum: 8 },
  ])('are all allowed, and nothing else: %j', async (schema) => {
    const validate = new Ajv2020({ multipleOfPrecision: 6 }).compile(schema)
    const valid = numbers.filter((value) => validate(value)).map(String)
    expect(valid.length).toBeGreaterThan(2)
    expect(await allowedTexts(schema, numbers.map(String))).toEqual(valid)
  })

  it('may be large', async () => {
    const schema = { type: 'integer', multipleOf: 60 }
    expect(await allowedTexts(schema, ['999999999960', '-120', '999999999961', '60.0', '-0', '060'])).toEqual(
      ['999999999960', '-120'],
    )
  })
})
