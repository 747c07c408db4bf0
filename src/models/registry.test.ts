import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { engineRequest, runRequest } from '../../test/support/engines/engine-requests.ts'
import { VirtualClock } from '../core/clock.ts'
import { StartError } from '../core/errors.ts'
import { InProcessEngine } from '../engines/process/step-loop/in-process-engine.ts'
import { PassthroughRunner } from '../engines/passthrough/passthrough-runner.ts'
import type { Engine, EngineStatus } from '../protocol/engine.ts'
import type { ModelOutline } from '../protocol/model-info.ts'
import { ModelRegistry, type OpenEngine } from './registry.ts'
import type { ModelSource } from '../protocol/model-source.ts'

/** Registers an id and lets its load bring `engine`. */
async function registerLoaded(
  registry: ModelRegistry,
  loads: ReturnType<typeof createLoads>,
  engine: Engine = new WatchedEngine(),
): Promise<void> {
  const registered = registry.register('m', source)
  await settle()
  loads.next().succeed(engine)
  await registered
}

const never = new AbortController().signal

/** An engine of the passthrough model that tells when it was closed. */
class WatchedEngine extends InProcessEngine {
  isClosed = false
  requests = 0
  currentStatus: EngineStatus = { state: 'ready' }

  constructor() {
    super({ runner: new PassthroughRunner({ maxBatchSize: 2, maxSeqLen: null }) })
  }

  override status(): EngineStatus {
    return this.currentStatus
  }

  override generate(...request: Parameters<InProcessEngine['generate']>) {
    this.requests++
    return super.generate(...request)
  }

  override close(): Promise<void> {
    this.isClosed = true
    return super.close()
  }
}

/** Loads that a test finishes by hand, in order. */
function createLoads(): {
  open: OpenEngine
  next: () => { succeed: (engine: Engine) => void; fail: (m: string) => void }
} {
  const loads: { succeed: (engine: Engine) => void; fail: (message: string) => void }[] = []
  const open: OpenEngine = () =>
    new Promise((resolve, reject) => {
      loads.push({ succeed: resolve, fail: (message) => reject(new StartError(message, 1)) })
    })
  const next = () => {
    const load = loads.shift()
    if (load === undefined) throw new Error('no load is under way')
    return load
  }
  return { open, next }
}

function createRegistry(
  openEngine: OpenEngine,
  maxQueue = 8,
): { registry: ModelRegistry; fallbacks: WatchedEngine[] } {
  const fallbacks: WatchedEngine[] = []
  const openFallback = (): Engine => {
    const engine = new WatchedEngine()
    fallbacks.push(engine)
    return engine
  }
  return {
    registry: new ModelRegistry({ openEngine, openFallback, maxQueue, clock: new VirtualClock() }),
    fallbacks,
  }
}

const source = { checkpoint: 'unused', modelConfig: null, tokenizer: null }

/** Lets promise callbacks that are due run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('ModelRegistry', () => {
  it('serves the passthrough model as default while nothing is registered', async () => {
    const { registry } = createRegistry(createLoads().open)
    expect(registry.list()).toMatchObject([
      { id: 'default', state: 'ready', info: { engine: 'passthrough' } },
    ])
    using lease = await registry.acquire(null, never)
    expect(await runRequest(lease.engine, engineRequest('hi'))).toMatchObject([{ text: 'hi' }])
  })

  it('counts the sequences of what is loaded, and of nothing that is gone', async () => {
    const { registry } = createRegistry(() => Promise.resolve(new WatchedEngine()))
    const counted = () => registry.sequences().map(({ model }) => model)
    expect(counted()).toEqual(['default'])
    await registry.register('m', source)
    await registry.register('m', source)
    await settle()
    expect(counted()).toEqual(['m'])
    const lease = await registry.acquire('m', never)
    const unregistering = registry.unregister('m')
    expect(counted()).toEqual(['m'])
    lease[Symbol.dispose]()
    await unregistering
    expect(counted()).toEqual([])
  })

  it('takes a checkpoint alone for a source', async () => {
    const sources: ModelSource[] = []
    const { registry } = createRegistry((_id, given) => {
      sources.push(given)
      return Promise.resolve(new WatchedEngine())
    })
    await registry.register('m', { checkpoint: 'm.gguf' })
    expect(sources).toEqual([
      {
        kind: 'local',
        checkpoint: 'm.gguf',
        modelConfig: null,
        tokenizer: null,
        quantization: 'none',
        draftCheckpoint: null,
        toolFormat: 'auto',
      },
    ])
    expect(await registry.source('m')).toEqual(sources[0])
  })

  it('makes requests wait for the first load and replaces the fallback', async () => {
    const loads = createLoads()
    const { registry, fallbacks } = createRegistry(loads.open)
    const registered = registry.register('m', source)
    await settle()
    expect(registry.list()).toMatchObject([{ id: 'm', state: 'loading' }])
    expect(registry.whyNotReady()).toMatchObject({
      code: 'not_ready',
      message: "The default model 'm' cannot take work: it is loading (0 %).",
    })
    const waiting = registry.acquire('default', never)
    loads.next().succeed(new WatchedEngine())
    await registered
    using lease = await waiting
    expect(lease.modelId).toBe('m')
    expect(fallbacks[0]?.isClosed).toBe(true)
    expect(registry.whyNotReady()).toBeNull()
  })

  it('keeps the number of requests that wait for a load bounded, and lets them leave', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open, 1)
    const registered = registry.register('m', source)
    const leaving = new AbortController()
    const first = registry.acquire('m', leaving.signal)
    await expect(registry.acquire('m', never)).rejects.toMatchObject({ code: 'queue_full' })
    leaving.abort()
    await expect(first).rejects.toThrow('aborted')
    const second = registry.acquire('m', never)
    await settle()
    loads.next().succeed(new WatchedEngine())
    await registered
    using lease = await second
    expect(lease.modelId).toBe('m')
  })

  it('answers 503 and says why when the first load failed', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const registered = registry.register('m', source)
    await settle()
    loads.next().fail('the file is truncated.')
    await expect(registered).rejects.toThrow('the file is truncated.')
    expect(registry.get('m')).toMatchObject({ state: 'failed', failure: 'the file is truncated.' })
    await expect(registry.acquire('m', never)).rejects.toMatchObject({ status: 503 })
  })

  it('swaps a model without closing the old engine under a running request', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const [before, after] = [new WatchedEngine(), new WatchedEngine()]
    await registerLoaded(registry, loads, before)
    const lease = await registry.acquire('m', never)
    const second = registry.register('m', source)
    await settle()
    expect(registry.get('m').state).toBe('ready')
    loads.next().succeed(after)
    await second
    using newLease = await registry.acquire('m', never)
    await runRequest(newLease.engine, engineRequest('x'))
    expect([before.requests, after.requests, before.isClosed]).toEqual([0, 1, false])
    await runRequest(lease.engine, engineRequest('x'))
    expect([before.requests, after.requests, before.isClosed]).toEqual([1, 1, false])
    lease[Symbol.dispose]()
    await settle()
    expect(before.isClosed).toBe(true)
  })

  it('goes on serving the old model when a swap fails', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    await registerLoaded(registry, loads)
    const second = registry.register('m', source)
    await settle()
    loads.next().fail('no.')
    await expect(second).rejects.toThrow('no.')
    using lease = await registry.acquire('m', never)
    expect(lease.modelId).toBe('m')
  })

  it('lists one that drains while nothing else has its id', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    await registerLoaded(registry, loads)
    using _lease = await registry.acquire('m', never)
    void registry.unregister('m')
    expect(registry.list()).toMatchObject([{ id: 'm', state: 'draining' }])
    await registerLoaded(registry, loads)
    expect(registry.list()).toMatchObject([{ id: 'm', state: 'ready' }])
  })

  it('lets go of an engine that cannot be closed, and closes all others', async () => {
    class StuckEngine extends WatchedEngine {
      override async close(): Promise<void> {
        await super.close()
        throw new Error('of the application')
      }
    }
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    await registerLoaded(registry, loads, new StuckEngine())
    const second = new StuckEngine()
    await registerLoaded(registry, loads, second)
    const other = new WatchedEngine()
    const registered = registry.register('other', source)
    await settle()
    loads.next().succeed(other)
    await registered

    await expect(registry.close()).rejects.toThrow('of the application')

    expect([second.isClosed, other.isClosed]).toEqual([true, true])
  })

  it('refuses an empty id', async () => {
    const { registry } = createRegistry(createLoads().open)
    await expect(registry.register('', source)).rejects.toThrow(
      "The id of a model must be 1 to 255 characters, none of its segments '.' or '..', but was ''.",
    )
    expect(registry.list()).toMatchObject([{ id: 'default' }])
  })

  it('refuses unknown ids, names the model, and takes default as an alias', async () => {
    const { registry } = createRegistry(createLoads().open)
    expect(() => registry.get('nope')).toThrow("Model 'nope' does not exist.")
    expect(registry.get('default').id).toBe('default')
  })

  it.each([null, 'default', 'm', 'other'])(
    'never echoes once it was given a model: 503 for %j when the last one is unregistered',
    async (modelId) => {
      const loads = createLoads()
      const { registry, fallbacks } = createRegistry(loads.open)
      await registerLoaded(registry, loads)
      await registry.unregister('m')
      await expect(registry.acquire(modelId, never)).rejects.toMatchObject({ code: 'no_model', status: 503 })
      expect(() => registry.get(modelId)).toThrow(`Model '${modelId ?? 'default'}' does not exist.`)
      expect(registry.whyNotReady()).toMatchObject({ code: 'no_model', status: 503 })
      expect(registry.list()).toEqual([])
      expect(fallbacks).toHaveLength(1)
    },
  )

  it('never echoes after a model that failed to load is unregistered', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const registered = registry.register('m', source)
    await settle()
    loads.next().fail('no.')
    await expect(registered).rejects.toThrow('no.')
    await registry.unregister('m')
    await expect(registry.acquire(null, never)).rejects.toMatchObject({ code: 'no_model' })
  })

  it('serves again when a model is registered after the last one was unregistered', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    await registerLoaded(registry, loads)
    await registry.unregister('m')
    await registerLoaded(registry, loads)
    using lease = await registry.acquire(null, never)
    expect(lease.modelId).toBe('m')
    expect(registry.whyNotReady()).toBeNull()
  })

  it('takes an id that is registered again while it is being unregistered', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const [before, after] = [new WatchedEngine(), new WatchedEngine()]
    await registerLoaded(registry, loads, before)
    const lease = await registry.acquire('m', never)
    const unregistered = registry.unregister('m')
    await registerLoaded(registry, loads, after)
    expect(registry.list()).toMatchObject([{ id: 'm', state: 'ready' }])
    lease[Symbol.dispose]()
    await unregistered
    using newLease = await registry.acquire('m', never)
    await runRequest(newLease.engine, engineRequest('x'))
    expect([after.requests, before.isClosed, after.isClosed]).toEqual([1, true, false])
  })

  it('answers 404 to requests that waited for a model which was unregistered meanwhile', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const registered = registry.register('m', source)
    const waiting = registry.acquire('m', never)
    await settle()
    const unregistered = registry.unregister('m')
    loads.next().succeed(new WatchedEngine())
    await expect(waiting).rejects.toMatchObject({ code: 'model_not_found' })
    await Promise.all([registered, unregistered])
  })

  it('ends loads when it closes, and closes what they still bring', async () => {
    const late = new WatchedEngine()
    const { registry } = createRegistry(
      (_id, _source, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(late))
        }),
    )
    const registered = registry.register('m', source)
    registered.catch(() => {})
    await settle()
    await registry.close()
    await expect(registered).rejects.toMatchObject({ code: 'shutting_down' })
    expect(late.isClosed).toBe(true)
  })

  it('closes without a load that does not end, and closes what that brings later', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const [serving, late] = [new WatchedEngine(), new WatchedEngine()]
    await registerLoaded(registry, loads, serving)
    const registered = registry.register('n', source)
    registered.catch(() => {})
    await settle()
    const closed = registry.close()
    await settle()
    expect(serving.isClosed).toBe(true)
    await vi.advanceTimersByTimeAsync(5000)
    await closed
    loads.next().succeed(late)
    await expect(registered).rejects.toMatchObject({ code: 'shutting_down' })
    expect(late.isClosed).toBe(true)
  })

  it('ends the load of a model that is unregistered', async () => {
    const { registry } = createRegistry(
      (_id, _source, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new StartError('it was ended.', 1)))
        }),
    )
    const registered = registry.register('m', source)
    registered.catch(() => {})
    await settle()
    await registry.unregister('m')
    await expect(registered).rejects.toMatchObject({ code: 'model_not_found' })
    expect(registry.list()).toEqual([])
  })

  it('begins no load of a model that was unregistered while it waited for its turn', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const registered = [1, 2].map(() => registry.register('m', source))
    const outcomes = Promise.allSettled(registered)
    await settle()
    const unregistered = registry.unregister('m')
    loads.next().fail('it was ended.')
    await unregistered
    expect(await outcomes).toMatchObject([1, 2].map(() => ({ reason: { code: 'model_not_found' } })))
    expect(() => loads.next()).toThrow('no load is under way')
  })

  it('shows that an engine is being started again, or was given up', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const engine = new WatchedEngine()
    await registerLoaded(registry, loads, engine)
    engine.currentStatus = { state: 'restarting' }
    expect(registry.get('m').state).toBe('loading')
    expect(registry.whyNotReady()?.message).toBe(
      "The default model 'm' cannot take work: its engine is being started again.",
    )
    engine.currentStatus = { state: 'failed', message: 'it died.' }
    expect(registry.get('m')).toMatchObject({ state: 'failed', failure: 'it died.' })
    expect(registry.whyNotReady()?.message).toBe("The default model 'm' cannot take work: it died.")
  })

  it('closes every engine, those of a swap that still drains included', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const [before, after] = [new WatchedEngine(), new WatchedEngine()]
    for (const engine of [before, after]) {
      await registerLoaded(registry, loads, engine)
      if (engine === before) await registry.acquire('m', never)
    }
    await registry.close()
    expect([before.isClosed, after.isClosed]).toEqual([true, true])
  })

  it('shows what the headers tell while the first load runs', async () => {
    const outline = { ...new WatchedEngine().info(), architecture: 'llama' }
    const { registry } = createRegistry((_id, _source, { onOutline }) => {
      onOutline({ ...outline, architecture: 'gemma3' })
      return new Promise(() => {})
    })
    void registry.register('m', source, { outline })
    expect(registry.get('m')).toMatchObject({
      state: 'loading',
      info: null,
      outline: { architecture: 'llama' },
    })
    await settle()
    expect(registry.get('m').outline?.architecture).toBe('gemma3')
  })

  it('hands what is known of a model to its load', async () => {
    const known: (ModelOutline | null)[] = []
    const { registry } = createRegistry((_id, _source, { outline }) => {
      known.push(outline)
      return Promise.resolve(new WatchedEngine())
    })
    const outline = new WatchedEngine().info()
    await registry.register('m', source, { outline })
    await registry.register('m', source)
    expect(known).toEqual([outline, null])
  })

  it('forgets an id whose first load failed where that is asked for, and no other', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const failing = async () => {
      const registered = registry.register('m', source, { keepsFailed: false })
      await settle()
      loads.next().fail('no.')
      await expect(registered).rejects.toThrow('no.')
    }
    await failing()
    expect(registry.list()).toMatchObject([{ id: 'default', state: 'ready' }])
    await registerLoaded(registry, loads)
    await failing()
    expect(registry.list()).toMatchObject([{ id: 'm', state: 'ready', failure: 'no.' }])
  })

  it('keeps an id whose first load failed when another load of it waits', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const first = registry.register('m', source, { keepsFailed: false })
    const second = registry.register('m', source)
    await settle()
    loads.next().fail('no.')
    await expect(first).rejects.toThrow('no.')
    await settle()
    loads.next().succeed(new WatchedEngine())
    await second
    expect(registry.get('m').state).toBe('ready')
  })

  it('forgets an id when every load of it that was asked for at once has failed', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const registered = [1, 2].map(() => registry.register('m', source, { keepsFailed: false }))
    const outcomes = Promise.allSettled(registered)
    for (const _ of registered) {
      await settle()
      loads.next().fail('no.')
    }
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(registry.list()).toMatchObject([{ id: 'default', state: 'ready' }])
  })

  it('lets a request wait for the loads that follow one that failed, and for no more than it needs', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const failing = registry.register('m', source)
    const waiting = registry.acquire('m', never)
    const working = registry.register('m', source)
    const replacing = registry.register('m', source)
    await settle()
    loads.next().fail('no.')
    await expect(failing).rejects.toThrow('no.')
    await settle()
    loads.next().succeed(new WatchedEngine())
    await working

    // The third load is not done.
    using lease = await waiting

    expect(lease.modelId).toBe('m')
    await settle()
    loads.next().succeed(new WatchedEngine())
    await replacing
  })

  it('answers 503 and says why to requests that waited for a load which failed and left nothing', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const registered = registry.register('m', source, { keepsFailed: false })
    const waiting = registry.acquire('default', never)
    await settle()
    loads.next().fail('the file is truncated.')
    await expect(registered).rejects.toThrow('the file is truncated.')
    await expect(waiting).rejects.toMatchObject({
      code: 'model_loading_failed',
      params: { message: 'the file is truncated.' },
    })
  })

  it('lets requests wait while a model that was given up is loaded again', async () => {
    const loads = createLoads()
    const { registry } = createRegistry(loads.open)
    const dead = new WatchedEngine()
    await registerLoaded(registry, loads, dead)
    dead.currentStatus = { state: 'failed', message: 'it died.' }
    const registered = registry.register('m', source)
    await settle()
    expect(registry.get('m')).toMatchObject({ state: 'loading', failure: null })
    const waiting = registry.acquire('m', never)
    const alive = new WatchedEngine()
    loads.next().succeed(alive)
    await registered
    using lease = await waiting
    await runRequest(lease.engine, engineRequest('x'))
    expect([alive.requests, dead.isClosed]).toEqual([1, true])
  })

  it('tells a load what is loaded already, models that still drain included', async () => {
    const loaded: number[] = []
    const { registry } = createRegistry((_id, _source, hooks) => {
      loaded.push(hooks.loaded().length)
      return Promise.resolve(new WatchedEngine())
    })
    await registry.register('a', source)
    const lease = await registry.acquire('a', never)
    await registry.register('a', source)
    await registry.register('b', source)
    lease[Symbol.dispose]()
    await settle()
    await registry.register('b', source)
    // At the first one the fallback is on its way out.
    expect(loaded.slice(1)).toEqual([1, 2, 2])
  })

  it('bounds what waits over all its models together, and forgets what has left', async () => {
    const oneSlot = () =>
      new InProcessEngine({ runner: new PassthroughRunner({ maxBatchSize: 1, maxSeqLen: null }) })
    const { registry } = createRegistry(() => Promise.resolve(oneSlot()), 1)
    await registry.register('a', source)
    await registry.register('b', source)
    const leaving = new AbortController()
    const long = engineRequest('x'.repeat(100_000), { maxNewTokens: 100_000 })
    const send = async (id: string, signal = leaving.signal) => {
      using lease = await registry.acquire(id, never)
      return lease.engine.generate(long, signal)[Symbol.asyncIterator]().next()
    }
    await Promise.all([send('a'), send('b')])
    const waiting = send('a')
    waiting.catch(() => {})
    await settle()

    await expect(send('b')).rejects.toMatchObject({
      code: 'queue_full',
      params: { waiting: 1, max: 1, given: 1 },
    })

    leaving.abort()
    await expect(waiting).rejects.toThrow('aborted')
    const next = new AbortController()
    await send('a', next.signal)
    await send('b', next.signal)
    next.abort()
  })

  it('knows a model under its aliases, behind the ids', async () => {
    const registry = new ModelRegistry({
      openEngine: () => Promise.resolve(new WatchedEngine()),
      openFallback: () => new WatchedEngine(),
      aliases: new Map([
        ['gpt-4o', 'm'],
        ['other', 'none'],
      ]),
      maxQueue: 8,
      clock: new VirtualClock(),
    })
    await registry.register('m', { checkpoint: 'm' })
    using lease = await registry.acquire('gpt-4o', never)

    expect([lease.modelId, registry.get('gpt-4o').id, registry.has('gpt-4o')]).toEqual(['m', 'm', false])
    expect(() => registry.get('other')).toThrow("Model 'other' does not exist.")

    await registry.register('gpt-4o', { checkpoint: 'own' })
    expect(registry.get('gpt-4o').id).toBe('gpt-4o')
  })
})
