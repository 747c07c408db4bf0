import { describe, expect, it, onTestFinished } from 'vitest'
import { WorkerPool, type WorkerPoolOptions } from './worker-pool.ts'

const FAKE_WORKER = new URL('../../../test/support/engines/fake-worker.mjs', import.meta.url)
/** Throws before it has begun. */
const BROKEN_WORKER = new URL('data:text/javascript,throw new Error("never begins")')

const LEFT = 'AbortError: The client has left.'

function createPool(options: Partial<WorkerPoolOptions> = {}) {
  const ends: Error[] = []
  const pool = new WorkerPool({
    workers: 1,
    maxQueue: 512,
    entry: FAKE_WORKER,
    onWorkerEnd: (cause) => void ends.push(cause),
    ...options,
  })
  onTestFinished(() => pool.close())
  const run = (prompt: string, signal?: AbortSignal) => {
    const onLeave = (callback: () => void) => {
      signal?.addEventListener('abort', callback)
      return () => signal?.removeEventListener('abort', callback)
    }
    return pool.run({ prompt, maxNewTokens: 9, requestId: 'r', onLeave })
  }
  return { pool, run, ends }
}

const textOf = async (running: Promise<{ readonly text: string }>) => (await running).text

describe('a pool of worker threads', () => {
  it('gives what the threads make of the prompts', async () => {
    const { run } = createPool({ workers: 2, seats: 1 })
    const prompts = Array.from({ length: 20 }, (_, index) => `prompt ${index}`)

    expect(await Promise.all(prompts.map((prompt) => textOf(run(prompt))))).toEqual(prompts)
  })

  it('sends a thread what comes in one turn of the event loop as one message', async () => {
    const { run } = createPool()

    const together = await Promise.all([textOf(run('count')), textOf(run('count')), textOf(run('count'))])

    expect(together).toEqual(Array.from({ length: 3 }, () => 'message 1 of 3'))
    expect(await textOf(run('count'))).toBe('message 2 of 1')
  })

  it('passes on why a prompt cannot run', async () => {
    await expect(createPool().run('refuse')).rejects.toMatchObject({
      code: 'context_length_exceeded',
      params: { given: 9, max: 1, requestId: 'r' },
    })
  })
})

describe.each(['throw', 'exit'])('a thread that ends by %s', (deed) => {
  it('fails its own prompts, no others, and is replaced', async () => {
    const { run, ends } = createPool({ workers: 2, seats: 2 })
    const leave = new AbortController()
    // The fewest prompts first: the two threads take turns.
    const [elsewhere, there, waiting] = [run('hang', leave.signal), run('hang'), run('hang', leave.signal)]
    const [left, alsoLeft] = [elsewhere.catch(String), waiting.catch(String)]

    const failed = await Promise.allSettled([run(deed), there])

    expect(failed.map((result) => result.status === 'rejected' && result.reason.code)).toEqual([
      'engine_failed',
      'engine_failed',
    ])
    expect(ends.map(({ message }) => message)).toEqual([
      deed === 'throw' ? 'thrown in the thread' : expect.stringContaining('exit code 3'),
    ])
    // Both seats of the other thread are taken, so this is the new one's answer.
    expect(await textOf(run('count'))).toBe('message 1 of 1')
    leave.abort()
    expect(await Promise.all([left, alsoLeft])).toEqual([LEFT, LEFT])
  })

  it('loses none of those that wait', async () => {
    const { run } = createPool({ seats: 1 })

    const [ended, waiting] = [run(deed), run('after it')]

    await expect(ended).rejects.toMatchObject({ code: 'engine_failed' })
    expect(await textOf(waiting)).toBe('after it')
  })
})

describe('the queue', () => {
  it('refuses one more than it holds, and says how many that are', async () => {
    const { pool, run } = createPool({ seats: 1, maxQueue: 2 })
    const unanswered = ['hang', 'a', 'b'].map((prompt) => run(prompt).catch(({ code }) => code))

    await expect(run('c')).rejects.toMatchObject({
      code: 'queue_full',
      params: { waiting: 2, max: 2, given: 1 },
      retryAfterSeconds: 1,
    })
    await pool.close()
    expect(await Promise.all(unanswered)).toEqual(Array.from({ length: 3 }, () => 'shutting_down'))
  })

  it('gives the seat and the place of a client that leaves to the next', async () => {
    const { run } = createPool({ seats: 1, maxQueue: 2 })
    const running = new AbortController()
    const waiting = new AbortController()
    const gone = [run('hang', running.signal), run('hang', waiting.signal)].map((one) => one.catch(String))
    const last = run('last')

    waiting.abort()
    running.abort()

    expect(await Promise.all(gone)).toEqual([LEFT, LEFT])
    expect(await textOf(last)).toBe('last')
  })

  it('takes nobody who has left already', async () => {
    const { pool } = createPool()
    const onLeave = (callback: () => void) => {
      callback()
      return () => {}
    }
    const gone = pool.run({ prompt: 'a', maxNewTokens: 9, requestId: 'r', onLeave })

    await expect(gone).rejects.toThrow('The client has left.')
  })
})

describe('threads that cannot begin', () => {
  it('make the pool refuse, with what is to be done about it', async () => {
    const { run, ends } = createPool({ entry: BROKEN_WORKER })

    const [first, second] = await Promise.allSettled([run('a'), run('b')])

    for (const result of [first, second]) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { code: 'engine_unavailable', status: 503 },
      })
    }
    await expect(run('c')).rejects.toMatchObject({ code: 'engine_unavailable', retryAfterSeconds: 10 })
    expect(ends.map(({ message }) => message)).toEqual(Array.from({ length: 3 }, () => 'never begins'))
  })
})

describe('a pool that is closed', () => {
  it('takes nothing more', async () => {
    const { pool, run } = createPool()
    await run('a')

    await pool.close()

    await expect(run('b')).rejects.toMatchObject({ code: 'shutting_down' })
  })
})
