import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { type Spelling, writeDistinct } from './distinct-prefixes.ts'

const digit = fc.integer({ min: 0, max: 9 })
const character = fc.oneof(
  fc.tuple(digit, digit).map(([a, b]) => ({ low: String(Math.min(a, b)), high: String(Math.max(a, b)) })),
  fc.constantFrom('-', '.').map((sign) => ({ low: sign, high: sign })),
)
const spelling: fc.Arbitrary<Spelling> = fc.record({
  characters: fc.array(character, { minLength: 1, maxLength: 4 }),
  moreDigits: fc.integer({ min: 0, max: 2 }),
})

/** The grammar's notation is that of regular expressions here, but for quotation marks and spaces. */
function toRegex(grammar: string): RegExp {
  return new RegExp(`^(?:${grammar.replaceAll('"."', '\\.').replaceAll(/[" ]/g, '')})$`)
}

function spells({ characters, moreDigits }: Spelling, text: string): boolean {
  const rest = text.slice(characters.length)
  return (
    text.length >= characters.length &&
    characters.every(({ low, high }, index) => low <= (text[index] ?? '') && (text[index] ?? '') <= high) &&
    rest.length <= moreDigits &&
    /^[0-9]*$/.test(rest)
  )
}

describe('alternatives with distinct beginnings', () => {
  it('allow what one of the spellings allows, and nothing else', () => {
    const text = fc.string({
      unit: fc.constantFrom('-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'),
      maxLength: 6,
    })
    fc.assert(
      fc.property(
        fc.array(spelling, { minLength: 1, maxLength: 5 }),
        fc.array(text, { minLength: 40 }),
        (spellings, texts) => {
          const regex = toRegex(writeDistinct(spellings))
          for (const one of texts)
            expect(regex.test(one)).toBe(spellings.some((spelled) => spells(spelled, one)))
        },
      ),
    )
  })

  it('are one path for a common beginning', () => {
    const one = { characters: ['1', '2'].map((c) => ({ low: c, high: c })), moreDigits: 0 }
    const other = { characters: ['1', '3'].map((c) => ({ low: c, high: c })), moreDigits: 1 }

    expect(writeDistinct([one, other])).toBe('("1" ("2" | "3" ([0-9])?))')
  })
})
