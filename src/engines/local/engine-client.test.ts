import { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { engineRequest } from '../../../test/support/engine-requests.ts'
import { EngineClient, type PendingRequest } from './engine-client.ts'
import { encodeFrame } from './messages.ts'
import { RequestStream } from './request-stream.ts'

const SILENCE_MS = 60_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A client whose engine says what the test says. */
function createClient() {
  const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })
  const onSilence = vi.fn()
  const client = new EngineClient<PendingRequest>(socket as Socket, {
    onClose: () => {},
    onSilence,
    silenceMs: SILENCE_MS,
  })
  const submit = () => {
    const request = engineRequest('x')
    const { signal } = new AbortController()
    const stream = new RequestStream({ sequences: 1, signal, onCancel: () => {} })
    return client.submit({ request, stream })
  }
  const say = (events: Parameters<typeof encodeFrame>[0]) => void socket.emit('data', encodeFrame(events))
  return { client, submit, say, onSilence }
}

describe('an engine that says nothing', () => {
  it('is told once when it has work', () => {
    const { submit, onSilence } = createClient()
    submit()
    vi.advanceTimersByTime(SILENCE_MS - 1)
    expect(onSilence).not.toHaveBeenCalled()
    vi.advanceTimersByTime(2 * SILENCE_MS)
    expect(onSilence).toHaveBeenCalledOnce()
  })

  it('is no matter while it has none', () => {
    const { submit, say, onSilence } = createClient()
    vi.advanceTimersByTime(2 * SILENCE_MS)
    submit()
    say({
      events: [[0, [{ type: 'sequence-end', index: 0, finishReason: 'stop', error: null }]]],
      refusals: [],
    })
    vi.advanceTimersByTime(2 * SILENCE_MS)
    submit().abort()
    vi.advanceTimersByTime(2 * SILENCE_MS)
    expect(onSilence).not.toHaveBeenCalled()
  })

  it('has its time anew with every message, also with an empty one', () => {
    const { submit, say, onSilence } = createClient()
    submit()
    for (let beat = 0; beat < 5; beat++) {
      vi.advanceTimersByTime(SILENCE_MS - 1)
      say({ events: [], refusals: [] })
    }
    expect(onSilence).not.toHaveBeenCalled()
    vi.advanceTimersByTime(SILENCE_MS)
    expect(onSilence).toHaveBeenCalledOnce()
  })

  it('has its time anew with the first request after a pause', () => {
    const { submit, onSilence } = createClient()
    submit().abort()
    vi.advanceTimersByTime(SILENCE_MS / 2 - 1)
    submit()
    vi.advanceTimersByTime(SILENCE_MS - 1)
    expect(onSilence).not.toHaveBeenCalled()
  })
})
