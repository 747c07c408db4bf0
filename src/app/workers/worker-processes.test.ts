/** The places of workers, with workers that start and die when the test says so. */
import { describe, expect, it, vi } from 'vitest'
import { VirtualClock } from '../../core/clock.ts'
import { withResolvers } from '../../core/concurrency/with-resolvers.ts'
import type { WorkerProcess } from './worker-process.ts'
import { WorkerProcesses } from './worker-processes.ts'

/** Lets promise callbacks that are due run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function createWorker(number: number, pid: number) {
  const exited = withResolvers<string>()
  let isAlive = true
  const end = (how: string) => {
    isAlive = false
    exited.resolve(how)
  }
  const worker = {
    number,
    pid,
    exited: exited.promise,
    kill: () => end('was ended by SIGKILL'),
    channel: {
      call: async (method: string) => void (method === 'close' && end('ended with exit code 0')),
      end: () => {},
    },
  }
  return { worker: worker as unknown as WorkerProcess, end, isAlive: () => isAlive }
}

/** One place; a start is due until `bring` lets it finish. */
function createScene() {
  const all: ReturnType<typeof createWorker>[] = []
  const due: ((worker: WorkerProcess) => void)[] = []
  const log = { info: vi.fn<() => void>(), error: vi.fn<() => void>() }
  const pool = new WorkerProcesses({
    count: 1,
    startWorker: () => new Promise((resolve) => due.push(resolve)),
    dealer: { add: () => {}, remove: () => {} },
    onLeaving: async () => {},
    onEnd: () => {},
    clock: new VirtualClock(),
    log: log as never,
  })
  const bring = async (at = 0) => {
    const made = createWorker(1, 100 + all.length)
    all.push(made)
    due.splice(at, 1)[0]?.(made.worker)
    await settle()
    return made
  }
  const alive = () => all.filter(({ isAlive }) => isAlive()).map(({ worker }) => worker.pid)
  return { pool, bring, alive, due, known: () => pool.workers.map(({ pid }) => pid) }
}

async function openPool() {
  const scene = createScene()
  const opening = scene.pool.open()
  const first = await scene.bring()
  await opening
  return { ...scene, first }
}

describe('the workers of a service', () => {
  it.each([
    ['the replacement', 0],
    ['the one that is started again', 1],
  ])(
    'are as many as they should be where one dies while it is replaced, and %s is quicker',
    async (_, at) => {
      const { pool, bring, alive, known, first, due } = await openPool()
      const replacing = pool.replaceAll()
      await settle()
      first.end('was ended by SIGSEGV')
      await settle()
      expect(due).toHaveLength(2)

      const { worker } = await bring(at)
      await bring()
      await replacing

      expect([alive(), known()]).toEqual([[worker.pid], [worker.pid]])
      await pool.close(100)
      expect(alive()).toEqual([])
    },
  )

  it('are none once it has closed, also where one was being replaced', async () => {
    const { pool, bring, alive } = await openPool()
    const replacing = pool.replaceAll()
    await settle()
    let isClosed = false
    const closing = pool.close(100).then(() => (isClosed = true))
    await settle()
    expect([alive(), isClosed]).toEqual([[], false])
    await bring()
    await Promise.all([replacing, closing])
    expect(alive()).toEqual([])
  })

  it('serve their last connections when they are replaced', async () => {
    const { pool, bring, alive, known, first } = await openPool()
    const replacing = pool.replaceAll()
    await settle()
    const { worker } = await bring()
    await replacing
    await settle()
    expect(first.isAlive()).toBe(false)
    expect([alive(), known()]).toEqual([[worker.pid], [worker.pid]])
  })
})
