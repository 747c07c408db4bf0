import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { mergeEvents } from './merge-events.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

async function* run(name: string, count: number, onNext?: () => void) {
  for (let i = 0; i < count; i++) {
    onNext?.()
    yield `${name}${i}`
    await Promise.resolve()
  }
}

// oxlint-disable-next-line require-yield -- it waits for ever
async function* waiting(): AsyncGenerator<string> {
  await new Promise(() => {})
}

describe('the events of several runs', () => {
  it('come from each in its order, until all have ended', async () => {
    const all: string[] = []
    for await (const event of mergeEvents([run('a', 3), run('b', 1), run('c', 2)])) all.push(event)
    expect(all.toSorted()).toEqual(['a0', 'a1', 'a2', 'b0', 'c0', 'c1'])
    expect(all.filter((event) => event.startsWith('a'))).toEqual(['a0', 'a1', 'a2'])
  })

  it('are asked for only once the last one was taken', async () => {
    let asked = 0
    const merged = mergeEvents([run('a', 10, () => asked++)])
    await merged.next()
    await new Promise(setImmediate)
    expect(asked).toBe(1)
    await merged.next()
    expect(asked).toBe(2)
  })

  it('fail with the run that fails', async () => {
    // oxlint-disable-next-line require-yield -- it fails at once
    async function* failing(): AsyncGenerator<string> {
      await Promise.resolve()
      throw new Error('gone')
    }
    const merged = mergeEvents([waiting(), failing()])
    await expect(merged.next()).rejects.toThrow('gone')
  })

  it('leave nothing behind at runs that wait', async () => {
    const merged = mergeEvents([run('a', 50_000), ...Array.from({ length: 56 }, waiting)])
    for (let i = 0; i < 1000; i++) await merged.next()
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 20_000; i++) await merged.next()
    collectGarbage()
    const kept = process.memoryUsage().heapUsed - before
    expect(await merged.next()).toMatchObject({ done: false })
    expect(kept).toBeLessThan(10 * 2 ** 20)
  })
})
