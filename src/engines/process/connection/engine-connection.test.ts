import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { engineRequest } from '../../../../test/support/engines/engine-requests.ts'
import { VirtualClock } from '../../../core/clock.ts'
import type { ModelRunner } from '../../../protocol/model-runner.ts'
import { PassthroughRunner } from '../../passthrough/passthrough-runner.ts'
import { EngineConnection } from './engine-server.ts'
import { encodeFrame, FrameReader, type ClientMessage, type StepMessage } from './messages.ts'
import { StepLoop } from '../step-loop/step-loop.ts'

/** A connection to an engine of one slot, whose client is the test. */
function connect() {
  const clock = new VirtualClock()
  const reader = new FrameReader<StepMessage>()
  const sent: StepMessage[] = []
  const write = (chunk: Buffer, _encoding: string, done: () => void) => {
    sent.push(...reader.push(chunk))
    done()
  }
  const socket = new Duplex({ read: () => {}, write })
  const runner: ModelRunner = new PassthroughRunner({ maxBatchSize: 1, maxSeqLen: null })
  Object.defineProperty(runner, 'stepsPerTurn', { value: 1 })
  const loop = new StepLoop({
    runner,
    schedulePolicy: 'fcfs',
    clock,
    onStepEnd: (mayWait) => connection.flush(mayWait),
    onBroken: (error) => {
      throw error
    },
  })
  const connection = new EngineConnection(socket as Socket, { loop, clock })
  const receive = (message: ClientMessage) => socket.emit('data', encodeFrame(message))
  return { clock, sent, connection, receive }
}

it('an abort is acknowledged, also that of a request which never began', () => {
  const { sent, connection, receive } = connect()
  receive({ type: 'generate', id: 0, request: engineRequest('x') })
  connection.beat()
  sent.length = 0
  connection.flush()
  expect(sent).toEqual([])
  receive({ type: 'abort', id: 0 })
  expect(sent).toEqual([{ events: [], refusals: [], ended: [0] }])
})

it('text waits for more of it, 8 ms at most; the first, the last and what is no text do not', async () => {
  const { clock, sent, receive } = connect()
  const texts = () =>
    sent.map(({ events }) =>
      events.flatMap(([, own]) =>
        own.map((event) => (event.type === 'text-delta' ? event.text : event.type)),
      ),
    )
  /** One step a turn. */
  const runUntilSent = async (messages: number) => {
    while (sent.length < messages) await nextTurn()
  }
  receive({ type: 'generate', id: 0, request: engineRequest('hello, world') })
  await runUntilSent(2)
  expect(texts()).toEqual([['sequence-start'], ['h']])
  clock.advance(7.9)
  for (let turn = 0; turn < 3; turn++) await nextTurn()
  expect(sent).toHaveLength(2)
  clock.advance(0.1)
  await runUntilSent(3)
  expect(texts()[2]?.length).toBeGreaterThan(1)
  await runUntilSent(4)
  expect(texts().flat().slice(1, -1).join('')).toBe('hello, world')
  expect(texts()[3]?.at(-1)).toBe('sequence-end')
})
