import { describe, expect, it } from 'vitest'
import { chooseEndpoint } from './choose-endpoint.ts'

const endpoints = (...loads: readonly number[]) =>
  loads.map((outstanding, index) => ({ url: `http://10.0.0.${index}/v1`, outstanding }))

const keys = Array.from({ length: 400 }, (_, index) => `conversation ${index}`)

describe('chooseEndpoint', () => {
  it('spreads conversations, and keeps each where it is when an endpoint leaves', () => {
    const all = endpoints(0, 0, 0, 0)
    const chosen = keys.map((key) => chooseEndpoint(all, key)?.url)
    for (const { url } of all) expect(chosen.filter((one) => one === url).length).toBeGreaterThan(60)

    const left = all.slice(1)
    const moved = keys.filter((key, index) => chosen[index] !== chooseEndpoint(left, key)?.url)

    expect(moved).toHaveLength(chosen.filter((url) => url === all[0]?.url).length)
  })

  it('spreads conversations over a thousand', () => {
    const all = endpoints(...Array.from({ length: 1000 }, () => 0))
    const counts = new Map<string | undefined, number>()
    for (let index = 0; index < 20_000; index++) {
      const url = chooseEndpoint(all, `conversation ${index}`)?.url
      counts.set(url, (counts.get(url) ?? 0) + 1)
    }
    // 20 each on average, and random: above 50 is less likely than one in a million.
    expect(counts.size).toBe(1000)
    expect(Math.max(...counts.values())).toBeLessThan(50)
  })

  it('gives no endpoint more than its share and a quarter', () => {
    const all = endpoints(0, 0, 0, 0)
    for (let request = 0; request < 100; request++) {
      const chosen = chooseEndpoint(all, 'one conversation')
      if (chosen !== null) chosen.outstanding++
    }

    expect(Math.max(...all.map(({ outstanding }) => outstanding))).toBeLessThanOrEqual(
      Math.ceil((1.25 * 100) / 4),
    )
  })

  it('leaves a conversation where it is while its endpoint has little to do', () => {
    const key = 'one conversation'
    const idle = endpoints(0, 0, 0, 0)
    const { url } = chooseEndpoint(idle, key) ?? {}

    for (const outstanding of [0, 1, 3])
      expect(
        chooseEndpoint(
          idle.map((one) => (one.url === url ? { ...one, outstanding } : one)),
          key,
        )?.url,
      ).toBe(url)
  })

  it('takes the least outstanding work without a conversation', () => {
    expect(chooseEndpoint(endpoints(3, 1, 2), null)?.url).toBe('http://10.0.0.1/v1')
    expect(chooseEndpoint([], 'a')).toBe(null)
  })
})
