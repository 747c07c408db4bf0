import { expect, it } from 'vitest'
import { passes } from './checks.mjs'

const said = (text: string, calls: { name: string; arguments: unknown }[] = []) => ({ text, calls })

it.each<[object, string, string]>([
  [{ has: ['Canberra|Sydney'] }, 'It is CANBERRA.', 'It is London.'],
  [{ has: ['12'] }, 'That makes 12.', 'That makes 112.'],
  [{ not: ['moscow'] }, 'Paris.', 'It is Moscow.'],
  [{ is: ['yes'] }, '"Yes."', 'Yes, it is.'],
  [{ starts: ['no'] }, '"No, it is not."', 'It is not.'],
  [{ verdict: 'no' }, 'The earth is round, so no.', 'There is no reason, so yes.'],
  [{ verdict: 'yes' }, 'Yes, it is.', 'It is, says he.'],
  [{ pattern: 'banana\\W+banana' }, 'Banana,\nbanana!', 'banana'],
  [{ numbers: [1, 2, 3] }, '1, 2 and 3', '1, 3, 2'],
  [{ words: 2 }, ' two  words ', 'one'],
  [{ max_words: 2 }, 'two words', 'now three words'],
  [{ lines: 2 }, 'a\n\nb\n', 'a'],
  [{ json: ['a', 'b'] }, '```json\n{"b": 1, "a": 2}\n```', '{"a": 2}'],
  [{ array: 2 }, '[1, 2]', '{"a": 1}'],
  [{ values: { price: 20, product: 'lamp' } }, '{"product": "Lamp", "price": "20"}', '{"product": "lamp"}'],
  [{ refuses: true }, 'I do not know that.', 'It is blue.'],
  [{ refuses: false }, 'It is blue.', "I can't say."],
  [{ has: ['a'], max_words: 1 }, 'a', 'a b'],
])('%j is passed by %j and not by %j', (check, right, wrong) => {
  expect(passes({ ...check }, said(right))).toBe(true)
  expect(passes({ ...check }, said(wrong))).toBe(false)
})

it('compares tool calls in any order, with their arguments', () => {
  const one = { name: 'get_weather', arguments: { city: 'Porto' } }
  const other = { name: 'start_timer', arguments: { minutes: 5 } }
  const check = { calls: [other, one] }

  expect(passes(check, said('', [one, { ...other, arguments: { minutes: '5' } }]))).toBe(true)
  expect(passes(check, said('', [one]))).toBe(false)
  expect(passes(check, said('', [one, { ...other, arguments: { minutes: 6 } }]))).toBe(false)
  expect(passes({ calls: [] }, said('Hello.'))).toBe(true)
})

it('knows every kind of check that it is asked for', () => {
  expect(() => passes({ rhymes: true }, said('a'))).toThrow("There is no check 'rhymes'.")
})
