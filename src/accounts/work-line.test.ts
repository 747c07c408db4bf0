import { describe, expect, it } from 'vitest'
import { WorkLine } from './work-line.ts'

function createLine(maxWaiting = 10) {
  const line = new WorkLine({ maxRunning: 2, maxWaiting, refusal: () => new Error('turned away') })
  const started: number[] = []
  const finishers = new Map<number, (error?: Error) => void>()
  const enter = (id: number) =>
    line.run(
      () =>
        new Promise<number>((resolve, reject) => {
          started.push(id)
          finishers.set(id, (error) => (error === undefined ? resolve(id) : reject(error)))
        }),
    )
  return { enter, started, finish: (id: number, error?: Error) => finishers.get(id)?.(error) }
}

describe('WorkLine', () => {
  it('runs as many at a time as it may, the others in order of arrival', async () => {
    const { enter, started, finish } = createLine()
    const results = [enter(1), enter(2), enter(3), enter(4)]
    expect(started).toEqual([1, 2])

    finish(2)
    await results[1]
    expect(started).toEqual([1, 2, 3])

    finish(1)
    finish(3)
    await Promise.all([results[0], results[2]])
    finish(4)
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4])
  })

  it('turns away whoever comes to a full line, and takes others when there is room again', async () => {
    const { enter, finish } = createLine(1)
    const first = enter(1)
    void enter(2)
    const third = enter(3)

    await expect(enter(4)).rejects.toThrow('turned away')

    finish(1)
    await first
    const fifth = enter(5)
    finish(3)
    expect(await third).toBe(3)
    finish(5)
    expect(await fifth).toBe(5)
  })

  it('gives the place of failed work to the next', async () => {
    const { enter, started, finish } = createLine()
    const failing = enter(1)
    void enter(2)
    void enter(3)

    finish(1, new Error('it broke'))

    await expect(failing).rejects.toThrow('it broke')
    expect(started).toEqual([1, 2, 3])
  })
})
