import { describe, expect, it } from 'vitest'
import { ownTurn } from './turns.ts'

describe('ownTurn', () => {
  it('gives each waiter a turn of its own, in order', async () => {
    let turn = 0
    let isOver = false
    const count = () => {
      turn++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const slices: [name: string, turn: number][] = []
    const work = async (name: string) => {
      for (let i = 0; i < 3; i++) {
        await ownTurn()
        slices.push([name, turn])
      }
    }

    await Promise.all(['a', 'b', 'c'].map(work))
    isOver = true

    expect(slices.map(([name]) => name).join('')).toBe('abcabcabc')
    expect(new Set(slices.map(([, at]) => at)).size).toBe(slices.length)
  })
})
