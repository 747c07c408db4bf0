import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { Mutex, Semaphore } from './semaphore.ts'

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Two permits; each piece of work says when it starts and ends when it is told to. */
function createWorkplace(maxWaiting = 10) {
  const semaphore = new Semaphore({ permits: 2, maxWaiting, refusal: () => new Error('turned away') })
  const started: number[] = []
  const finishers = new Map<number, (error?: Error) => void>()
  const enter = (id: number, signal?: AbortSignal) =>
    semaphore.run(
      () =>
        new Promise<number>((resolve, reject) => {
          started.push(id)
          finishers.set(id, (error) => (error === undefined ? resolve(id) : reject(error)))
        }),
      signal,
    )
  const finish = (id: number, error?: Error) => finishers.get(id)?.(error)
  return { semaphore, enter, started, finish }
}

describe('Semaphore', () => {
  it('runs as many at a time as there are permits, the others in order of arrival', async () => {
    const { enter, started, finish } = createWorkplace()
    const results = [enter(1), enter(2), enter(3), enter(4)]
    await settle()
    expect(started).toEqual([1, 2])

    finish(2)
    await settle()
    expect(started).toEqual([1, 2, 3])

    finish(1)
    finish(3)
    await Promise.all([results[0], results[2]])
    finish(4)
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4])
  })

  it('refuses whoever comes to a full queue, and takes others when there is room again', async () => {
    const { enter, finish } = createWorkplace(1)
    const results = [enter(1), enter(2), enter(3)]

    await expect(enter(4)).rejects.toThrow('turned away')

    finish(1)
    await results[0]
    const fifth = enter(5)
    await settle()
    finish(3)
    expect(await results[2]).toBe(3)
    await settle()
    finish(5)
    expect(await fifth).toBe(5)
  })

  it('gives the permit of failed work to the next', async () => {
    const { enter, started, finish } = createWorkplace()
    const failing = enter(1)
    void enter(2)
    void enter(3)
    await settle()

    finish(1, new Error('it broke'))

    await expect(failing).rejects.toThrow('it broke')
    await settle()
    expect(started).toEqual([1, 2, 3])
  })

  it('lets no later caller slip in before a waiter whose turn has come', async () => {
    const semaphore = new Semaphore({ permits: 1 })
    const order: string[] = []
    const first = await semaphore.acquire()
    const waiter = semaphore.run(async () => void order.push('waiter'))
    first[Symbol.dispose]()
    const late = semaphore.run(async () => void order.push('late'))
    await Promise.all([waiter, late])
    expect(order).toEqual(['waiter', 'late'])
  })

  it('lets a waiter leave, with the reason of its signal, and skips it', async () => {
    const { semaphore, enter, started, finish } = createWorkplace(1)
    const leave = new AbortController()
    const results = [enter(1), enter(2)]
    const leaving = enter(3, leave.signal)
    await settle()

    leave.abort(new Error('left'))

    await expect(leaving).rejects.toThrow('left')
    const next = enter(4)
    await settle()
    finish(1)
    await settle()
    expect(started).toEqual([1, 2, 4])
    for (const id of [2, 4]) finish(id)
    await Promise.all([...results, next])
    expect(semaphore.isIdle).toBe(true)
    await expect(enter(5, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
    expect(semaphore.isIdle).toBe(true)
  })

  it('keeps a permit that was granted when the signal aborts after it', async () => {
    const semaphore = new Semaphore({ permits: 1 })
    const leave = new AbortController()
    const first = await semaphore.acquire()
    const second = semaphore.acquire(leave.signal)
    first[Symbol.dispose]()
    leave.abort()

    const permit = await second

    expect(semaphore.isIdle).toBe(false)
    permit[Symbol.dispose]()
    expect(semaphore.isIdle).toBe(true)
  })

  it('counts a permit that is disposed twice once', async () => {
    const semaphore = new Semaphore({ permits: 2 })
    const permits = [await semaphore.acquire(), await semaphore.acquire()]
    permits[0]?.[Symbol.dispose]()
    permits[0]?.[Symbol.dispose]()
    expect(semaphore.isIdle).toBe(false)
  })
})

describe('Mutex', () => {
  it('gives itself to one at a time, in the order they ask', async () => {
    const mutex = new Mutex()
    const order: number[] = []
    const running = [1, 2, 3].map((id) =>
      mutex.run(async () => {
        order.push(id)
        await settle()
        order.push(-id)
      }),
    )
    expect(mutex.isIdle).toBe(false)
    await Promise.all(running)
    expect(order).toEqual([1, -1, 2, -2, 3, -3])
    expect(mutex.isIdle).toBe(true)
  })

  it('tells of each release, and of the last one', async () => {
    const mutex = new Mutex()
    const told: string[] = []
    await Promise.all([mutex.nextRelease(), mutex.whenIdle()])
    const first = await mutex.acquire()
    const second = mutex.acquire()
    void mutex.nextRelease().then(() => told.push('released'))
    void mutex.whenIdle().then(() => told.push('free'))

    first[Symbol.dispose]()
    await settle()
    expect(told).toEqual(['released'])

    const last = await second
    last[Symbol.dispose]()
    await settle()
    expect(told).toEqual(['released', 'free'])
  })

  it('forgets at once who waited for a release and has left', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const mutex = new Mutex()
    const held = await mutex.acquire()
    const leave = async (): Promise<WeakRef<AbortSignal>> => {
      const leaving = new AbortController()
      const released = mutex.nextRelease(leaving.signal)
      leaving.abort(new Error('left'))
      await expect(released).rejects.toThrow('left')
      return new WeakRef(leaving.signal)
    }
    const left = [await leave(), await leave(), await leave()]
    // What a reference was made for lives to the end of the turn.
    await settle()
    collectGarbage()

    expect(left.map((signal) => signal.deref())).toEqual([undefined, undefined, undefined])
    held[Symbol.dispose]()
  })
})
