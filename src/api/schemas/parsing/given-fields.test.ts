import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseGivenFields } from './given-fields.ts'

const shape = () => ({
  name: z.string().min(2),
  size: z
    .number()
    .nullable()
    .optional()
    .transform((given) => given ?? 7),
  list: z.array(z.string()).nullish(),
  inner: z.object({ a: z.int() }).optional(),
  kind: z.string().default('plain'),
})

const GIVEN: readonly unknown[] = [
  { name: 'ab' },
  { name: 'ab', size: 3, list: ['x'], inner: { a: 1 }, kind: 'other' },
  { name: 'ab', size: null, list: null },
  { name: 'ab', size: undefined, list: undefined, kind: undefined },
  { name: 'ab', extra: { deep: [1] }, another: null },
  { name: 'a' },
  { name: 'ab', size: '3', inner: { a: 1.5 } },
  { size: 3 },
  {},
  JSON.parse('{"name":"ab","__proto__":{"size":4}}'),
  Object.create({ name: 'inherited' }),
  [],
  null,
  'text',
]

describe('parseGivenFields', () => {
  it.each([
    ['keeps other fields', () => z.looseObject(shape())],
    ['drops other fields', () => z.object(shape())],
    ['refuses other fields', () => z.strictObject(shape())],
  ])('changes no result of a schema that %s', (_, create) => {
    const [plain, quick] = [create(), parseGivenFields(create())]

    for (const given of GIVEN) {
      const [expected, result] = [plain.safeParse(given), quick.safeParse(given)]
      expect(result.data).toEqual(expected.data)
      expect(result.error?.issues).toEqual(expected.error?.issues)
    }
  })

  it('leaves a schema that is derived from it as it was, and one that is waited for', async () => {
    const checked = parseGivenFields(z.object(shape())).refine(({ size }) => size !== 9, 'not 9')

    expect(checked.safeParse({ name: 'ab', size: 9 }).success).toBe(false)
    expect((await checked.safeParseAsync({ name: 'ab' })).data).toEqual({
      name: 'ab',
      size: 7,
      kind: 'plain',
    })
  })
})
