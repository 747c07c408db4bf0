import { expect, it } from 'vitest'
import { interleaveHeadRows } from './head-rows.ts'

it('interleaves the halves of each head, as the converter of llama.cpp reshapes and swaps them', () => {
  const [heads, headRows, columns] = [3, 8, 5]
  const source = Uint8Array.from({ length: heads * headRows * columns }, (_, index) => index)
  const target = interleaveHeadRows(source, headRows, columns)

  // [head][half][pair][column] seen as an array of four dimensions, with the two middle ones swapped.
  const expected: number[] = []
  for (let head = 0; head < heads; head++) {
    for (let pair = 0; pair < headRows / 2; pair++) {
      for (let half = 0; half < 2; half++) {
        for (let column = 0; column < columns; column++) {
          expected.push(((head * 2 + half) * (headRows / 2) + pair) * columns + column)
        }
      }
    }
  }
  expect(Array.from(target)).toEqual(expected)
})
