import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import * as turns from '../../../core/concurrency/turns.ts'
import { longArray } from './long-array.ts'

const item = z.object({ role: z.enum(['a', 'b']), text: z.string().transform((text) => text.length) })
const LONG = longArray(item).min(2)
const PLAIN = z.array(item).min(2)

const chat = (count: number) => Array.from({ length: count }, () => ({ role: 'a', text: 'xy' }))

describe('longArray', () => {
  it.each([
    ['too short', chat(1)],
    ['good', chat(1200)],
    ['no array', { 0: 'a' }],
    ['wrong in one item', [...chat(700), { role: 'c', text: 'x' }, ...chat(700)]],
  ])('says what z.array says: %s', async (_, given) => {
    const expected = PLAIN.safeParse(given)

    expect(LONG.safeParse(given)).toEqual(expected)
    expect(await LONG.safeParseAsync(given)).toEqual(expected)
  })

  it('stops at the first item that is wrong', () => {
    const looked = vi.fn(() => true)
    const schema = longArray(z.string().refine(looked))

    const { error } = schema.safeParse(['x', 0, 'y', 0])

    expect(error?.issues.map(({ path }) => path)).toEqual([[1]])
    expect(looked).toHaveBeenCalledTimes(1)
  })

  it('checks 500 items in a turn where it may wait', async () => {
    const taken = vi.spyOn(turns, 'ownTurn')

    await z.object({ items: LONG }).parseAsync({ items: chat(2000) })

    expect(taken).toHaveBeenCalledTimes(3)
    taken.mockRestore()
  })

  it('is described as an array', () => {
    expect(z.toJSONSchema(longArray(z.string()).min(1))).toMatchObject({
      type: 'array',
      minItems: 1,
      items: { type: 'string' },
    })
  })
})
