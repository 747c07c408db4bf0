/** Strings of schemas: their characters, escaped or not, and their lengths. */
import { describe, expect, it } from 'vitest'
import { allowedTexts, type SchemaCase } from '../../../../../test/support/constraints/schema-texts.ts'

const CASES: Readonly<Record<string, SchemaCase>> = {
  'escaped characters, each of which counts as one': {
    schema: { type: 'string', minLength: 1, maxLength: 3 },
    valid: [String.raw`"\"\n\u00e9"`, String.raw`"\ud83d\ude00ab"`, String.raw`"\/"`, '"é"', '"abc"'],
    invalid: [String.raw`"\"\n\u00e9x"`, String.raw`"\ud83d"`, String.raw`"\x"`, '""', '"abcd"'],
  },
  'escaped characters up to a least length and behind it': {
    schema: { type: 'string', minLength: 2 },
    valid: [String.raw`"\\\t"`, String.raw`"ab\"c"`, '"abc"'],
    invalid: [String.raw`"\\"`, '"a"', '"'],
  },
  'characters, counted as code points': {
    schema: { type: 'string', minLength: 2, maxLength: 3 },
    valid: ['"ab"', '"éé"', '"😀x"', '"a\\n"'],
    invalid: ['"a"', '"abcd"', '"😀"', '"\\n"'],
  },
  'characters without a bound above, escapes among them': {
    schema: { type: 'string', minLength: 2 },
    valid: ['"ab"', '"ab\\n\\""', '"éé\\ud83d\\ude00"'],
    invalid: ['"a"', '"ab', '"ab\\x"', '"ab\\ud83d"'],
  },
}

describe('a grammar of strings allows', () => {
  it.each(Object.entries(CASES))('%s', async (_, { schema, valid, invalid }) => {
    expect(await allowedTexts(schema, [...valid, ...invalid])).toEqual(valid)
  })
})

describe('a long bound', () => {
  const text = (length: number): string => JSON.stringify('x'.repeat(length))
  const texts = (...lengths: readonly number[]): readonly string[] => lengths.map(text)

  it.each([
    [{ type: 'string', maxLength: 500 }, [0, 1, 31, 32, 33, 64, 479, 480, 499, 500], [501, 512, 532]],
    [{ type: 'string', minLength: 300, maxLength: 700 }, [300, 331, 332, 699, 700], [0, 299, 701]],
    [{ type: 'string', minLength: 200, maxLength: 200 }, [200], [199, 201]],
    [{ type: 'string', minLength: 2, maxLength: 5000 }, [2, 4999, 5000], [1, 5001]],
    [{ type: 'string', pattern: '^x{1,500}$' }, [1, 63, 64, 65, 128, 499, 500], [0, 501, 564]],
    [{ type: 'string', pattern: '^x{0,3000}$' }, [0, 1, 2999, 3000], [3001]],
    [{ type: 'string', pattern: '^x{300,1000}$' }, [300, 363, 364, 1000], [0, 299, 1001]],
  ])('is kept to: %j', async (schema, valid, invalid) => {
    expect(await allowedTexts(schema, [...texts(...valid), ...texts(...invalid)])).toEqual(texts(...valid))
  })

  it('that would take seconds to compile is none where the schema is not strict', async () => {
    const schema = { type: 'string', minLength: 2, maxLength: 10_001 }
    expect(await allowedTexts(schema, texts(1, 2, 10_002), false)).toEqual(texts(2, 10_002))
  })

  it.each([
    [{ maxLength: 24 }, ['\n'.repeat(24), `${'x'.repeat(23)}"`], ['\n'.repeat(25)]],
    [
      { maxLength: 500 },
      ['one\n'.repeat(20), `"${'x'.repeat(450)}`],
      ['one\n'.repeat(126), `\n${'x'.repeat(500)}`],
    ],
    [{ minLength: 24 }, ['"'.repeat(24)], ['"'.repeat(23)]],
    [
      { minLength: 20, maxLength: 100 },
      [`${'x'.repeat(19)}"`, `"${'x'.repeat(80)}`, `${'x'.repeat(99)}"`],
      ['"'.repeat(19)],
    ],
  ])('leaves room for characters that JSON escapes: %j', async (bounds, valid, invalid) => {
    const [allowed, forbidden] = [valid, invalid].map((all) => all.map((one) => JSON.stringify(one)))
    expect(
      await allowedTexts({ type: 'string', ...bounds }, [...(allowed ?? []), ...(forbidden ?? [])]),
    ).toEqual(allowed)
  })
})
