import { expect, it } from 'vitest'
import { describeAddresses, findOthers, readAddresses } from './addresses.ts'

it.each([
  ['a@b.org\nc@d.org', ['a@b.org', 'c@d.org']],
  ['a@b.org, c@d.org; e@f.org', ['a@b.org', 'c@d.org', 'e@f.org']],
  ['Ada Lovelace <ada@b.org>, "B, C" <bc@d.org>', ['ada@b.org', 'bc@d.org']],
  ['a@b.org A@B.org', ['A@B.org']],
  ['name,mail\nAda,a@b.org\n', ['a@b.org']],
  ['Write to mailto:a@b.org.', ['a@b.org']],
  ['', []],
])('reads the addresses of %j', (text, addresses) => {
  expect(readAddresses(text)).toEqual(addresses)
})

it('says how many there are, and what is none', () => {
  const text = 'ada@b.org, Bob <bob@d.org>\ncyd at e.org\n'
  expect(findOthers(text)).toEqual(['cyd at e.org'])
  expect(describeAddresses(readAddresses(text), findOthers(text))).toBe('2 addresses. Left out: cyd at e.org')
  expect(describeAddresses(['a@b.org'], [])).toBe('1 address')
  expect(describeAddresses([], [])).toMatch(/^Paste them/)
})
