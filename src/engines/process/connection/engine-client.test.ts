import { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { engineRequest } from '../../../../test/support/engines/engine-requests.ts'
import { VirtualClock } from '../../../core/clock.ts'
import { EngineClient, type PendingRequest } from './engine-client.ts'
import { encodeFrame } from './messages.ts'
import { RequestStream } from '../step-loop/request-stream.ts'

const SILENCE_MS = 60_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A client whose engine says what the test says, and its time. */
function createClient() {
  const clock = new VirtualClock()
  const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })
  const onSilence = vi.fn()
  const client = new EngineClient<PendingRequest>(socket as Socket, {
    onClose: () => {},
    onSilence,
    silenceMs: SILENCE_MS,
    clock,
  })
  const submit = () => {
    const request = engineRequest('x')
    const { signal } = new AbortController()
    const stream = new RequestStream({ signal, onCancel: () => {} })
    return client.submit({ work: { type: 'generate', request }, stream })
  }
  const say = (events: Parameters<typeof encodeFrame>[0]) => void socket.emit('data', encodeFrame(events))
  const advance = (ms: number): void => {
    for (let left = ms; left > 0; left -= 1000) {
      clock.advance(Math.min(left, 1000))
      vi.advanceTimersByTime(Math.min(left, 1000))
    }
  }
  /** Nothing runs meanwhile; what was due comes at once when it ends. */
  const sleep = (ms: number): void => {
    clock.advance(ms)
    vi.advanceTimersToNextTimer()
  }
  return { submit, say, advance, sleep, onSilence }
}

const NOTHING = { events: [], refusals: [], ended: [] }

describe('an engine that says nothing', () => {
  it('is told once when it has work', () => {
    const { submit, advance, onSilence } = createClient()
    submit()
    advance(SILENCE_MS - 1)
    expect(onSilence).not.toHaveBeenCalled()
    advance(2 * SILENCE_MS)
    expect(onSilence).toHaveBeenCalledOnce()
  })

  it('is no matter while it has none', () => {
    const { submit, say, advance, onSilence } = createClient()
    advance(2 * SILENCE_MS)
    submit()
    say({
      events: [[0, [{ type: 'sequence-end', index: 0, finishReason: 'stop', error: null }]]],
      refusals: [],
      ended: [0],
    })
    advance(2 * SILENCE_MS)
    submit().abort()
    say({ ...NOTHING, ended: [1] })
    advance(2 * SILENCE_MS)
    expect(onSilence).not.toHaveBeenCalled()
  })

  it('has its time anew with every message, also with an empty one', () => {
    const { submit, say, advance, onSilence } = createClient()
    submit()
    for (let beat = 0; beat < 5; beat++) {
      advance(SILENCE_MS - 1)
      say(NOTHING)
    }
    expect(onSilence).not.toHaveBeenCalled()
    advance(SILENCE_MS)
    expect(onSilence).toHaveBeenCalledOnce()
  })

  it('has its time anew with the first request after a pause', () => {
    const { submit, say, advance, onSilence } = createClient()
    submit().abort()
    say({ ...NOTHING, ended: [0] })
    advance(SILENCE_MS / 2 - 1)
    submit()
    advance(SILENCE_MS - 1)
    expect(onSilence).not.toHaveBeenCalled()
  })

  it('is found out although no client waits for so long', () => {
    const { submit, advance, onSilence } = createClient()
    for (let request = 0; request < 3; request++) {
      expect(onSilence).not.toHaveBeenCalled()
      const handle = submit()
      advance(SILENCE_MS / 3 - 1000)
      handle.abort()
      advance(1000)
    }
    expect(onSilence).toHaveBeenCalledOnce()
  })

  it('to the last abort is found out with no request after it', () => {
    const { submit, advance, onSilence } = createClient()
    submit().abort()
    advance(SILENCE_MS)
    expect(onSilence).toHaveBeenCalledOnce()
  })

  it('has its time anew when the machine has slept', () => {
    const { submit, advance, sleep, onSilence } = createClient()
    submit()
    advance(SILENCE_MS - 1)
    sleep(3_600_000)
    advance(SILENCE_MS - 1)
    expect(onSilence).not.toHaveBeenCalled()
    advance(1)
    expect(onSilence).toHaveBeenCalledOnce()
  })
})
