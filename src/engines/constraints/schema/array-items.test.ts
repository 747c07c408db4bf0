/** Arrays of schemas: their items, and how many. */
import { describe, expect, it } from 'vitest'
import { allowedTexts, type SchemaCase } from '../../../../test/support/constraints/schema-texts.ts'

const CASES: Readonly<Record<string, SchemaCase>> = {
  'items by their place': {
    schema: {
      prefixItems: [{ type: 'integer' }, { type: 'string' }],
      items: { type: 'boolean' },
      minItems: 1,
      maxItems: 4,
    },
    valid: ['[1]', '[1,"a"]', '[1,"a",true,false]'],
    invalid: ['[]', '["a"]', '[1,true]', '[1,"a",true,true,true]'],
  },
  'so many items': {
    schema: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 3 },
    valid: ['[1,2]', '[1, 2, 3]'],
    invalid: ['[1]', '[]', '[1,2,3,4]'],
  },
  'no item at a place that has none, nor behind it': {
    schema: { type: 'array', prefixItems: [{ type: 'integer' }, false, true], items: true },
    valid: ['[]', '[1]'],
    invalid: ['[1,2]', '[1,2,3]', '["x"]'],
  },
  'items by their place alone': {
    schema: { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] },
    valid: ['[]', '[1]', '[1,"a"]'],
    invalid: ['[1,"a",1]'],
  },
}

const MANY = Array.from({ length: 1100 }, (_, index) => ({ const: index % 7 }))
const VALUES = MANY.map((item) => item.const)

describe('a grammar of arrays allows', () => {
  it.each(Object.entries(CASES))('%s', async (_, { schema, valid, invalid }) => {
    expect(await allowedTexts(schema, [...valid, ...invalid])).toEqual(valid)
  })

  it('a thousand items by their place', async () => {
    const texts = [VALUES, [0, 2]].map((items) => JSON.stringify(items))
    expect(await allowedTexts({ prefixItems: MANY }, texts)).toEqual(texts.slice(0, 1))
  })
})
