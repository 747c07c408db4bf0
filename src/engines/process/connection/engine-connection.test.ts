import { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { engineRequest } from '../../../../test/support/engines/engine-requests.ts'
import { systemClock } from '../../../core/clock.ts'
import { PassthroughRunner } from '../../passthrough/passthrough-runner.ts'
import { EngineConnection } from './engine-server.ts'
import { encodeFrame, FrameReader, type StepMessage } from './messages.ts'
import { StepLoop } from '../step-loop/step-loop.ts'

it('an abort is acknowledged, also that of a request which never began', () => {
  const reader = new FrameReader<StepMessage>()
  const sent: StepMessage[] = []
  const write = (chunk: Buffer, _encoding: string, done: () => void) => {
    sent.push(...reader.push(chunk))
    done()
  }
  const socket = new Duplex({ read: () => {}, write })
  const loop = new StepLoop({
    runner: new PassthroughRunner({ maxBatchSize: 1, maxSeqLen: null }),
    schedulePolicy: 'fcfs',
    clock: systemClock,
    onBroken: (error) => {
      throw error
    },
  })
  const connection = new EngineConnection(socket as Socket, loop)
  const request = encodeFrame({ type: 'generate', id: 0, request: engineRequest('x') })

  socket.emit('data', request)
  connection.beat()
  sent.length = 0
  connection.flush()
  expect(sent).toEqual([])
  socket.emit('data', encodeFrame({ type: 'abort', id: 0 }))
  expect(sent).toEqual([{ events: [], refusals: [], ended: [0] }])
})
