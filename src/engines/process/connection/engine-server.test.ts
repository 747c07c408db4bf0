import { describe, expect, it, onTestFinished } from 'vitest'
import { engineRequest } from '../../../../test/support/engines/engine-requests.ts'
import { temporaryFolder } from '../../../../test/support/servers/server-process.ts'
import { until } from '../../../../test/support/until.ts'
import { systemClock } from '../../../core/clock.ts'
import type { Constraint } from '../../../protocol/constraint.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { ConstraintCompiler, ModelRunner } from '../../../protocol/model-runner.ts'
import { PassthroughRunner } from '../../passthrough/passthrough-runner.ts'
import { RequestStream } from '../step-loop/request-stream.ts'
import { connectToEngine, EngineClient } from './engine-client.ts'
import { EngineServer } from './engine-server.ts'

const SLOTS = 2

/** Compiles at once, and has no grammar to start. */
const COMPILER: ConstraintCompiler = {
  prepare: () => ({ matcherIds: [0], compiled: Promise.resolve() }),
  isReady: () => true,
  drop: () => {},
}

/** An engine of two slots that makes one byte a turn of the event loop. */
async function startServer({ maxSeqLen = null }: { maxSeqLen?: number | null } = {}) {
  const runner: ModelRunner = new PassthroughRunner({ maxBatchSize: SLOTS, maxSeqLen })
  Object.defineProperty(runner, 'constraints', { value: COMPILER })
  Object.defineProperty(runner, 'stepsPerTurn', { value: 1 })
  const shares: number[] = []
  runner.shareCores = (busyEngines) => void shares.push(busyEngines)
  const socketPath = `${temporaryFolder()}/s`
  const server = new EngineServer({
    runner,
    schedulePolicy: 'fcfs',
    clock: systemClock,
    onBroken: ({ cause }) => {
      throw cause
    },
  })
  await server.listen(socketPath)
  onTestFinished(() => server.close())
  return { connect: () => connectClient(socketPath), shares }
}

async function connectClient(socketPath: string) {
  const socket = await connectToEngine(socketPath)
  onTestFinished(() => void socket.destroy())
  let unfinished: number | null = null
  const client = new EngineClient(socket, {
    onClose: (left) => {
      unfinished = left.length
    },
    onSilence: () => {},
    silenceMs: 60_000,
    clock: systemClock,
  })
  const generate = (prompt: string, maxNewTokens = 4096, constraint?: Constraint) => {
    const request = engineRequest(prompt, { maxNewTokens, ...(constraint && { constraint }) })
    const leave = new AbortController()
    const stream = new RequestStream({
      signal: leave.signal,
      onCancel: () => handle.abort(),
    })
    const handle = client.submit({ work: { type: 'generate', request }, stream })
    const events: EngineEvent[] = []
    const reading = (async () => {
      for await (const some of stream) events.push(...some)
    })()
    reading.catch(() => {})
    const text = () => events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
    const begins = () => until('a sequence has begun', async () => text().length > 0)
    return { leave, events, reading, text, begins }
  }
  return { socket, client, generate, unfinished: () => unfinished }
}

/** Long enough to run while the rest of a test happens. */
const LONG = 'the quick brown fox jumps over the lazy dog. '.repeat(5000)

describe('an engine with two clients', () => {
  it('generates for both at once, and each gets its own events, whose numbers are the same', async () => {
    const { connect } = await startServer()
    const [one, other] = await Promise.all([connect(), connect()])
    const [first, second] = [one.generate('first'), other.generate('second')]
    await Promise.all([first.reading, second.reading])
    expect([first.text(), second.text()]).toEqual(['first', 'second'])
    expect(first.events.at(-1)).toMatchObject({ type: 'sequence-end', finishReason: 'stop' })
  })

  it('frees the slots of the one that disconnects in the middle, while the other goes on', async () => {
    const { connect } = await startServer()
    const [leaving, staying] = await Promise.all([connect(), connect()])
    const lost = leaving.generate(LONG, 1_000_000)
    const kept = staying.generate(LONG, 1_000_000)
    await Promise.all([lost.begins(), kept.begins()])
    // Both slots are taken: this one waits.
    const waiting = staying.generate('waiting')

    leaving.socket.destroy()

    await waiting.reading
    expect(waiting.text()).toBe('waiting')
    const before = kept.text().length
    await until('the other goes on', async () => kept.text().length > before)
    expect(staying.unfinished()).toBeNull()
    expect(leaving.unfinished()).toBe(1)
    kept.leave.abort()
  })

  it('aborts for the client that asks and for no other, although both call it request 0', async () => {
    const { connect } = await startServer()
    const [one, other] = await Promise.all([connect(), connect()])
    const aborted = one.generate(LONG, 1_000_000)
    const kept = other.generate(LONG, 1_000_000)
    await Promise.all([aborted.begins(), kept.begins()])

    aborted.leave.abort()
    await expect(aborted.reading).rejects.toThrow()

    const before = kept.text().length
    await until('the other goes on', async () => kept.text().length > before)
    kept.leave.abort()
  })

  it('closes a connection that sends no frames, and no other', async () => {
    const { connect } = await startServer()
    const [broken, kept] = await Promise.all([connect(), connect()])
    broken.socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff, 1]))
    await until('it is closed', async () => broken.unfinished() === 0)
    const answer = kept.generate('hello')
    await answer.reading
    expect(answer.text()).toBe('hello')
  })

  it('says at once that a constrained prompt is too long, with no step to follow', async () => {
    const { connect } = await startServer({ maxSeqLen: 4 })
    const refused = (await connect()).generate('too long', 1, { kind: 'json-object' })
    await refused.reading
    expect(refused.events).toMatchObject([{ error: { code: 'context_length_exceeded' } }])
  })

  it('hears from a client how many engines share the cores, when that changes', async () => {
    const { connect, shares } = await startServer()
    const { client } = await connect()
    for (const busyEngines of [1, 2, 2, 1]) client.share(busyEngines)
    await until('all is heard', async () => shares.length === 2)
    expect(shares).toEqual([2, 1])
  })
})
