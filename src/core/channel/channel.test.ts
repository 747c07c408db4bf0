import { duplexPair } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError, StartError } from '../errors.ts'
import { Channel, ChannelClosedError, type ChannelOptions } from './channel.ts'
import { handlersOf, remoteObject } from './remote-object.ts'

function connect(handlers: ChannelOptions['handlers'], needsV8?: ChannelOptions['needsV8']) {
  const [near, far] = duplexPair()
  const format = needsV8 === undefined ? {} : { needsV8 }
  const onClose = vi.fn<() => void>()
  const onFarClose = vi.fn<() => void>()
  const channel = new Channel(near, { handlers: {}, ...format, onClose })
  const other = new Channel(far, { handlers, ...format, onClose: onFarClose })
  return { channel, other, near, far, onClose, onFarClose }
}

describe('a channel', () => {
  it('answers calls, at once or later, each with its own answer', async () => {
    const { channel } = connect({
      add: ([one, other]) => Number(one) + Number(other),
      later: async ([text]) => await Promise.resolve(`${String(text)}!`),
    })
    const answers = [channel.call('add', [1, 2]), channel.call('later', ['ok']), channel.call('add', [3, 4])]
    await expect(Promise.all(answers)).resolves.toEqual([3, 'ok!', 7])
  })

  it('delivers casts before the calls that were sent after them', async () => {
    const seen: unknown[] = []
    const { channel } = connect({ note: ([word]) => seen.push(word), seen: () => seen })
    channel.cast('note', ['one'])
    channel.cast('note', ['two'])
    await expect(channel.call('seen', [])).resolves.toEqual(['one', 'two'])
  })

  it('carries errors with what callers read of them', async () => {
    const { channel } = connect({
      refuse: () => {
        const options = { param: 'model', retryAfterSeconds: 7, cause: new StartError('No file.', 1) }
        throw new ServiceError('model_not_found', { model: 'x' }, options)
      },
      start: async () => await Promise.reject(new StartError('Wrong option.', 2)),
      listen: () => {
        throw Object.assign(new Error('in use'), { code: 'EADDRINUSE', syscall: 'listen', port: 80 })
      },
    })
    const refusal = await channel.call('refuse', []).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ServiceError)
    expect(refusal).toMatchObject({ code: 'model_not_found', param: 'model', retryAfterSeconds: 7 })
    expect(refusal).toHaveProperty('cause', expect.any(StartError))
    await expect(channel.call('start', [])).rejects.toMatchObject({ message: 'Wrong option.', exitCode: 2 })
    await expect(channel.call('listen', [])).rejects.toMatchObject({ code: 'EADDRINUSE', port: 80 })
    await expect(channel.call('none', [])).rejects.toThrow('no method is called none')
  })

  it("carries maps, bytes and numbers that JSON lacks in V8's format", async () => {
    const value = new Map([['a', { most: Infinity, none: Number.NaN, bytes: Buffer.from('ab') }]])
    const { channel } = connect({ echo: ([given]) => given }, (name) => name === 'echo')
    const answer = await channel.call<typeof value>('echo', [value])
    expect(answer.get('a')).toMatchObject({ most: Infinity, none: Number.NaN })
  })

  it('reads frames that arrive in pieces', async () => {
    const { channel, near, other } = connect({ length: ([text]) => String(text).length })
    await expect(channel.call('length', ['x'.repeat(300_000)])).resolves.toBe(300_000)
    expect(near.destroyed).toBe(false)
    other.end()
  })

  it('passes the end of a wait on to the one that answers', async () => {
    let isCancelled = false
    const { channel } = connect({
      wait: async (_args, call) => {
        await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
        isCancelled = true
      },
    })
    const controller = new AbortController()
    const waiting = channel.call('wait', [], controller.signal)
    setImmediate(() => controller.abort(new Error('left')))
    await expect(waiting).rejects.toThrow('left')
    await expect.poll(() => isCancelled).toBe(true)
  })

  it('fails open calls and ends those of the other side when the stream ends', async () => {
    const ended = vi.fn<() => void>()
    const { channel, near, far, onClose, onFarClose } = connect({
      wait: (_args, call) =>
        new Promise(() => {
          call.signal.addEventListener('abort', ended)
        }),
    })
    const waiting = channel.call('wait', [])
    // A pair in memory does not notice that its other half is destroyed; a socket does.
    setTimeout(() => [far, near].map((stream) => stream.destroy()), 20)
    await expect(waiting).rejects.toThrow(ChannelClosedError)
    expect(onClose).toHaveBeenCalledTimes(1)
    expect(onFarClose).toHaveBeenCalledTimes(1)
    expect(ended).toHaveBeenCalledTimes(1)
    await expect(channel.call('wait', [])).rejects.toMatchObject({ code: 'shutting_down', status: 503 })
    channel.cast('wait', [])
  })

  it('closes on bytes that are no frames', async () => {
    const { near, onFarClose } = connect({})
    near.write(Buffer.alloc(64, 0xff))
    await expect.poll(() => onFarClose.mock.calls.length).toBe(1)
  })
})

describe('a remote object', () => {
  class Counter {
    #count = 0

    add(more: number): void {
      this.#count += more
    }

    read(): number | Promise<number> {
      return this.#count
    }
  }

  it('runs its methods on the object at the other end', async () => {
    const methods = { add: 'cast', read: 'call' } as const
    const { channel } = connect(handlersOf<Counter>('counter', new Counter(), methods))
    const counter = remoteObject<Counter>(channel, 'counter', methods)
    counter.add(2)
    counter.add(3)
    expect(await counter.read()).toBe(5)
  })
})
