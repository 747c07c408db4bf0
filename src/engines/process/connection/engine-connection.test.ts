import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
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
    onStepEnd: () => connection.flush(),
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
