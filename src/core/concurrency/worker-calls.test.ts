import { describe, expect, it, onTestFinished } from 'vitest'
import { WorkerCalls } from './worker-calls.ts'

/** A thread that answers with the word, fails with it, or ends of it. */
const PROGRAM = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ id, request }) => {
      if (request === 'exit') process.exit(3)
      if (request === 'hang') return
      if (request === 'progress') parentPort.postMessage({ id, type: 'progress', fraction: 0.5 })
      if (request === 'refuse') parentPort.postMessage({ id, type: 'start-error', message: 'no', exitCode: 1 })
      else if (request === 'fail') parentPort.postMessage({ id, type: 'error', error: new TypeError('bad') })
      else setTimeout(() => parentPort.postMessage({ id, type: 'answer', answer: request }), request === 'slow' ? 20 : 0)
    })`)}`,
)

function createCalls() {
  const calls = new WorkerCalls<string, string>({ entry: PROGRAM, name: 'The thread of the test' })
  onTestFinished(() => calls.close())
  return calls
}

describe('WorkerCalls', () => {
  it('gives each call its own answer, in whatever order they come', async () => {
    const calls = createCalls()
    const order: string[] = []
    const ask = async (word: string) => order.push(await calls.call(word))
    await Promise.all([ask('slow'), ask('quick')])
    expect(order).toEqual(['quick', 'slow'])
  })

  it('passes on progress, and errors as what they were', async () => {
    const calls = createCalls()
    const fractions: number[] = []
    expect(await calls.call('progress', { onProgress: (fraction) => void fractions.push(fraction) })).toBe(
      'progress',
    )
    expect(fractions).toEqual([0.5])
    await expect(calls.call('refuse')).rejects.toMatchObject({ name: 'StartError', exitCode: 1 })
    await expect(calls.call('fail')).rejects.toMatchObject({ name: 'TypeError', message: 'bad' })
  })

  it('fails what runs when the thread ends, and starts another for the next call', async () => {
    const calls = createCalls()
    const running = await Promise.allSettled([calls.call('hang'), calls.call('exit')])
    for (const result of running) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: {
          message: 'The thread of the test ended',
          cause: { message: 'The thread of the test ended with exit code 3.' },
        },
      })
    }
    expect(await calls.call('again')).toBe('again')
  })

  it('fails what runs when it is closed', async () => {
    const calls = createCalls()
    const running = calls.call('hang').catch(String)
    await calls.close()
    expect(await running).toBe('InvariantError: The thread of the test ended')
  })
})
