import { expect, it } from 'vitest'
import { readAddresses } from './addresses.ts'

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
