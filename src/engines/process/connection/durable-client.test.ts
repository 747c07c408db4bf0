import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { engineRequest } from '../../../../test/support/engines/engine-requests.ts'
import { VirtualClock } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import { DurableClient } from './durable-client.ts'
import { type ClientMessage, FrameReader } from './messages.ts'

/** A client whose engine takes all that it is sent and says nothing. */
function createClient() {
  const client = new DurableClient({
    clock: new VirtualClock(),
    whyRefused: () => null,
    onOverload: () => {},
  })
  const ask = (reqId: string, signal = new AbortController().signal) =>
    client.generate({ ...engineRequest('x'), reqId }, signal).next()
  /** Gives what a process that serves from now on is sent at once. */
  const connect = async () => {
    const reader = new FrameReader<ClientMessage>()
    const sent: ClientMessage[] = []
    const write = (chunk: Buffer, _encoding: string, done: () => void) => {
      sent.push(...reader.push(chunk))
      done()
    }
    client.connect(new Duplex({ read: () => {}, write }) as Socket, {
      onClose: () => new ServiceError('engine_failed'),
      onSilence: () => {},
      silenceMs: 60_000,
    })
    await nextTurn()
    return sent
  }
  return { ask, connect }
}

it('a request that is left while it waits for a process is never sent to one', async () => {
  const { ask, connect } = createClient()
  const client = new AbortController()
  const left = ask('left', client.signal)
  ask('stays').catch(() => {})
  client.abort()
  await expect(left).rejects.toThrow('aborted')

  expect(await connect()).toMatchObject([{ type: 'generate', request: { reqId: 'stays' } }])
})
