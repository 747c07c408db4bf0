import { describe, expect, it } from 'vitest'
import { FairSemaphore } from './fair-semaphore.ts'

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Each piece of work says when it starts and ends when it is told to. */
function createWorkplace(maxWaiting = 100) {
  const semaphore = new FairSemaphore({ maxWaiting, refusal: () => new Error('turned away') })
  const started: string[] = []
  const finishers: (() => void)[] = []
  const enter = (name: string): Promise<string> => {
    const entered = semaphore.run(name.charAt(0), () => {
      started.push(name)
      return new Promise<string>((resolve) => finishers.push(() => resolve(name)))
    })
    // Its refusal may be looked at later.
    entered.catch(() => {})
    return entered
  }
  const finishAll = async () => {
    for (let finish = finishers.shift(); finish !== undefined; finish = finishers.shift()) {
      finish()
      await settle()
      semaphore.checkIntegrity()
    }
  }
  return { semaphore, enter, started, finishAll }
}

describe('FairSemaphore', () => {
  it('takes the lines in turn, and a line in order of arrival', async () => {
    const { enter, started, finishAll } = createWorkplace()
    const results = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(enter)

    await finishAll()

    expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
    expect(await Promise.all(results)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'])
  })

  it('refuses the newest of the longest line in favour of a shorter one', async () => {
    const { enter, started, finishAll } = createWorkplace(4)
    const results = ['a0', 'a1', 'a2', 'a3', 'a4', 'b1', 'b2'].map(enter)

    await expect(results[4]).rejects.toThrow('turned away')
    await expect(results[3]).rejects.toThrow('turned away')
    await finishAll()

    expect(started).toEqual(['a0', 'a1', 'b1', 'a2', 'b2'])
  })

  it('refuses a newcomer when no line is longer than its own would be', async () => {
    const { enter, started, finishAll } = createWorkplace(2)
    const results = ['a0', 'a1', 'b1', 'c1', 'a2'].map(enter)

    await expect(results[3]).rejects.toThrow('turned away')
    await expect(results[4]).rejects.toThrow('turned away')
    await finishAll()

    expect(started).toEqual(['a0', 'a1', 'b1'])
  })

  it('gives up the place of a caller that leaves, and begins nothing for it', async () => {
    const { semaphore, enter, started, finishAll } = createWorkplace(1)
    const leaving = new AbortController()
    const lateWork = async () => void started.push('late')
    const first = enter('a1')
    const left = semaphore.run('b', lateWork, leaving.signal)

    leaving.abort()
    await expect(left).rejects.toThrow('aborted')
    const second = enter('a2')
    await finishAll()
    await expect(semaphore.run('b', lateWork, leaving.signal)).rejects.toThrow('aborted')

    expect(await Promise.all([first, second])).toEqual(started)
  })

  it('has as many wait as come where it has no bound', async () => {
    const semaphore = new FairSemaphore()
    const works = Array.from({ length: 1000 }, (_, index) => semaphore.run('a', async () => index))

    expect((await Promise.all(works)).at(-1)).toBe(999)
  })

  it('goes on after work that failed', async () => {
    const { semaphore } = createWorkplace()
    const failed = semaphore.run('a', () => Promise.reject(new Error('broken')))
    const next = semaphore.run('a', async () => 'done')

    await expect(failed).rejects.toThrow('broken')
    expect(await next).toBe('done')
  })
})
