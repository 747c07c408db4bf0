/** Formats of strings, and what Zod writes of them. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  allowedTexts,
  expectAllowedEitherWay,
  type SchemaCase,
} from '../../../../../test/support/constraints/schema-texts.ts'

const CASES: Readonly<Record<string, SchemaCase>> = {
  'a format': {
    schema: { type: 'string', format: 'date-time' },
    valid: ['"2024-02-28T12:00:00Z"'],
    invalid: ['"2024-02-30T12:00:00Z"', '"today"'],
  },
  'a host name up to its length': {
    schema: { type: 'string', format: 'hostname' },
    valid: ['"a-b.example"', JSON.stringify(Array(4).fill('a'.repeat(62)).join('.'))],
    invalid: ['"a_b"', JSON.stringify(Array(4).fill('a'.repeat(63)).join('.'))],
  },
}

/** Strict or not, the same. */
const WRITTEN_BY_LIBRARIES: Readonly<Record<string, SchemaCase>> = {
  'an address up to a length': {
    schema: { type: 'string', format: 'uri', minLength: 1, maxLength: 2083 },
    valid: ['"https://a.example/b/c?d=e"'],
    invalid: ['"a"', `"https://a.example/${'b'.repeat(2100)}"`, `"https://a.example${'/b'.repeat(1100)}"`],
  },
  'an e-mail address up to a length': {
    schema: { type: 'string', format: 'email', maxLength: 254 },
    valid: ['"a@b.example"'],
    invalid: ['"a"', `"a@${'b.'.repeat(130)}example"`],
  },
}

describe('a grammar of strings of a format allows', () => {
  it.each(Object.entries(CASES))('%s', async (_, { schema, valid, invalid }) => {
    expect(await allowedTexts(schema, [...valid, ...invalid])).toEqual(valid)
  })

  it.each(Object.entries(WRITTEN_BY_LIBRARIES))(
    '%s, strict or not',
    async (_, given) => await expectAllowedEitherWay(given),
  )
})

describe('what Zod writes', () => {
  it.each([
    ['an e-mail address', z.email(), { valid: 'a.b@c.de', invalid: 'a@b' }],
    ['a UUID', z.uuid(), { valid: '123e4567-e89b-42d3-a456-426614174000', invalid: '123e4567' }],
    ['a date', z.iso.date(), { valid: '2026-11-28', invalid: '2026-13-01' }],
    ['a time stamp', z.iso.datetime(), { valid: '2026-11-28T10:00:00Z', invalid: '2026-11-28' }],
    ['an IPv4 address', z.ipv4(), { valid: '10.0.0.1', invalid: '10.0.0.256' }],
    ['a text that starts so', z.string().startsWith('ab'), { valid: 'abc', invalid: 'cab' }],
  ])('for %s is kept to', async (_, schema, { valid, invalid }) => {
    const texts = [valid, invalid].map((text) => JSON.stringify(text))
    expect(await allowedTexts(z.toJSONSchema(schema), texts)).toEqual([JSON.stringify(valid)])
  })
})
