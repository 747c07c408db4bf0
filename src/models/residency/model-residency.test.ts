import { describe, expect, it } from 'vitest'
import { engineRequest, runRequest } from '../../../test/support/engines/engine-requests.ts'
import { VirtualClock } from '../../core/clock.ts'
import { withResolvers } from '../../core/concurrency/with-resolvers.ts'
import { StartError } from '../../core/errors.ts'
import { PassthroughRunner } from '../../engines/passthrough/passthrough-runner.ts'
import { InProcessEngine } from '../../engines/process/step-loop/in-process-engine.ts'
import type { Engine } from '../../protocol/engine.ts'
import { OPEN_POLICY } from '../../protocol/model-policy.ts'
import { WAKE_PAUSE_MS } from './model-residency.ts'
import { TURN_MS } from './model-room.ts'
import { ModelRegistry, type OpenEngine, type RegisterOptions, type RegistryOptions } from '../registry.ts'

const never = new AbortController().signal
const source = { checkpoint: 'unused' }
const REMOTE = { kind: 'openai', endpoints: ['http://127.0.0.1:1/v1'], apiKey: null, model: null } as const

/** Lets promise callbacks that are due run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** An engine of the passthrough model; `events` tells when it was closed. */
class TracedEngine extends InProcessEngine {
  readonly #onClose: () => void

  constructor(onClose: () => void) {
    super({ runner: new PassthroughRunner({ maxBatchSize: 2, maxSeqLen: null }) })
    this.#onClose = onClose
  }

  override async close(): Promise<void> {
    this.#onClose()
    await super.close()
  }
}

interface Scene extends Partial<RegistryOptions> {
  /** Of a machine whose models take one part each; null does not bound it. */
  readonly memory?: number
}

/** A registry whose loads succeed at once, and what they and the closings were, in order. */
function createScene({ memory = Infinity, ...options }: Scene = {}) {
  const clock = new VirtualClock()
  const events: string[] = []
  let taken = 0
  const openEngine: OpenEngine = async (id, _source, { makeRoom }) => {
    using _reserved = await makeRoom({
      reserve: () => {
        if (taken >= memory) throw new StartError(`'${id}' needs 1 of memory, but ${memory} is all.`)
        taken++
        return { [Symbol.dispose]: () => {} }
      },
      // The passthrough model does not say what it takes: one part for each engine.
      fits: () => registry.list().filter(({ isPinned }) => isPinned).length < memory,
    })
    events.push(`load ${id}`)
    await settle()
    return new TracedEngine(() => {
      taken--
      events.push(`close ${id}`)
    })
  }
  const openFallback = (): Engine => new TracedEngine(() => {})
  const registry: ModelRegistry = new ModelRegistry({
    openEngine,
    openFallback,
    maxQueue: 8,
    clock,
    ...options,
  })
  const register = async (ids: string, more: RegisterOptions = {}) => {
    for (const id of ids) await registry.register(id, source, more)
  }
  const stateOf = (id: string) => registry.get(id).state
  return { registry, clock, events, register, stateOf }
}

const ask = async (registry: ModelRegistry, id: string): Promise<void> => {
  using lease = await registry.acquire(id, never)
  await runRequest(lease.engine, engineRequest('x'))
}

describe('a model that is loaded by request', () => {
  it('is known and ready before it is loaded, and loaded once by those that ask first', async () => {
    const { registry, events, register } = createScene()
    await register('a', { load: 'request' })
    expect(registry.list()).toMatchObject([
      { id: 'a', state: 'unloaded', loadFraction: 0, info: null, lastUsedUnixSeconds: null },
    ])
    expect([events, registry.whyNotReady()]).toEqual([[], null])
    await Promise.all([ask(registry, 'a'), ask(registry, 'default')])
    expect(events).toEqual(['load a'])
    expect(registry.get('a')).toMatchObject({ state: 'ready', lastUsedUnixSeconds: 1_700_000_000 })
  })

  it('shows what its headers say', async () => {
    const outline = {
      ...{ architecture: 'llama', parameters: 1, sizeBytes: 2, quantization: 'F16' },
      ...{ maxSeqLen: 3, vocabSize: 4, engine: 'llama.cpp' },
    }
    const { registry, register } = createScene({ outlineModel: () => Promise.resolve(outline) })
    await register('a', { load: 'request' })
    expect(registry.get('a').outline).toEqual(outline)
  })

  it('counts a request that waits for it in the queue, and is not loaded for one that finds it full', async () => {
    const { registry, events, register } = createScene({ maxQueue: 1 })
    await register('ab', { load: 'request' })
    const first = ask(registry, 'a')
    await expect(registry.acquire('b', never)).rejects.toMatchObject({ code: 'queue_full' })
    await first
    expect(events).toEqual(['load a'])
  })

  it('says why it could not be, and tries again after a pause', async () => {
    let tries = 0
    const { registry, clock, stateOf } = createScene({
      openEngine: () => {
        if (++tries === 3) return Promise.resolve(new TracedEngine(() => {}))
        return Promise.reject(new StartError('the file is truncated.'))
      },
    })
    await registry.register('a', source, { load: 'request' })
    const refusal = { code: 'model_loading_failed', params: { message: 'the file is truncated.' } }
    await expect(registry.acquire('a', never)).rejects.toMatchObject(refusal)
    expect([stateOf('a'), registry.whyNotReady()?.code]).toEqual(['failed', 'not_ready'])
    await expect(registry.acquire('a', never)).rejects.toMatchObject(refusal)
    expect(tries).toBe(1)
    clock.advance(WAKE_PAUSE_MS)
    await expect(registry.acquire('a', never)).rejects.toMatchObject(refusal)
    expect(tries).toBe(2)
    await registry.load('a')
    expect(stateOf('a')).toBe('ready')
  })

  it('is waited for by nobody once the server closes', async () => {
    const { registry } = createScene({
      openEngine: (_id, _source, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    })
    await registry.register('a', source, { load: 'request' })
    const asked = registry.acquire('a', never)
    asked.catch(() => {})
    await settle()
    await registry.close()
    await expect(asked).rejects.toMatchObject({ code: 'shutting_down' })
    await expect(registry.acquire('a', never)).rejects.toMatchObject({ code: 'shutting_down' })
  })

  it('is loaded by an admin, who is told why it cannot be', async () => {
    const { registry, register, stateOf } = createScene({ maxLoaded: 1 })
    await register('a', { isPinned: true })
    await register('b', { load: 'request' })
    await expect(registry.load('b')).rejects.toThrow(
      "'b' has no room: another model is loaded, and max_loaded_models is 1.",
    )
    await registry.register('a', source, {})
    await registry.load('b')
    expect([stateOf('a'), stateOf('b')]).toEqual(['unloaded', 'ready'])
  })
})

describe('unloading', () => {
  it('closes the engine, and the next request loads it again', async () => {
    const { registry, events, register, stateOf } = createScene()
    await register('a')
    await registry.unload('a')
    expect([stateOf('a'), registry.get('a').outline?.engine]).toEqual(['unloaded', 'passthrough'])
    await registry.unload('a')
    await ask(registry, 'a')
    expect(events).toEqual(['load a', 'close a', 'load a'])
  })

  it('is refused while there are requests, and of what is not of this server', async () => {
    const { registry, events, register } = createScene()
    await register('a')
    const lease = await registry.acquire('a', never)
    await expect(registry.unload('a')).rejects.toMatchObject({ code: 'model_in_use', status: 409 })
    lease[Symbol.dispose]()
    await registry.unload('a')
    await registry.register('r', REMOTE)
    await expect(registry.unload('r')).rejects.toMatchObject({ code: 'unsupported_value' })
    expect(() => registry.get('x')).toThrow()
    await expect(registry.unload('x')).rejects.toMatchObject({ code: 'model_not_found' })
    expect(events).toEqual(['load a', 'close a', 'load r'])
  })

  it('is refused while it is replaced', async () => {
    const loading = withResolvers<Engine>()
    const engines = [Promise.resolve(new TracedEngine(() => {})), loading.promise]
    const { registry, register, stateOf } = createScene({
      openEngine: () => engines.shift() ?? expect.fail('a third engine'),
    })
    await register('a')
    const replaced = register('a')
    await settle()
    await expect(registry.unload('a')).rejects.toThrow('it is being loaded or unloaded')
    loading.resolve(new TracedEngine(() => {}))
    await replaced
    expect(stateOf('a')).toBe('ready')
  })

  it('keeps no request that comes meanwhile', async () => {
    const { registry, events, register } = createScene()
    await register('a')
    const unloading = registry.unload('a')
    const asked = ask(registry, 'a')
    await Promise.all([unloading, asked])
    expect(events).toEqual(['load a', 'close a', 'load a'])
  })

  it('leaves nothing behind of a model that is unregistered', async () => {
    const { registry, register } = createScene()
    await register('a')
    await registry.unload('a')
    await registry.unregister('a')
    expect(registry.list()).toEqual([])
  })
})

describe('a failed replacement of an unloaded model', () => {
  const openEngine: OpenEngine = async (_id, given) => {
    if (given.kind === 'local' && given.checkpoint === 'broken') throw new StartError('it is broken.')
    return new TracedEngine(() => {})
  }

  it.each([true, false])('leaves it, and who may use it (kept: %s)', async (isKept) => {
    const { registry, register } = createScene({ openEngine })
    const policy = { ...OPEN_POLICY, fallback: 'b' }
    await register('a', { keepsFailed: isKept, policy, isPinned: true })
    await registry.unload('a')
    const broken = registry.register('a', { checkpoint: 'broken' }, { keepsFailed: false })
    expect(registry.get('a')).toMatchObject({ policy, isPinned: true })
    await expect(broken).rejects.toThrow('it is broken.')

    expect(registry.get('a')).toMatchObject({ state: 'unloaded', policy, isPinned: true })
    await ask(registry, 'a')
  })
})

describe('--idle-unload', () => {
  it('unloads what nobody has used for so long, and neither what is pinned nor what is used', async () => {
    const { registry, clock, register, stateOf } = createScene({ idleUnloadMs: 60_000 })
    await register('ab')
    await register('p', { isPinned: true })
    const states = async (advanceMs: number) => {
      clock.advance(advanceMs)
      await settle()
      return ['a', 'b', 'p'].map(stateOf)
    }
    // The sleep that was begun before there were models.
    await states(0)
    const lease = await registry.acquire('b', never)
    expect(await states(59_999)).toEqual(['ready', 'ready', 'ready'])
    expect(await states(1)).toEqual(['unloaded', 'ready', 'ready'])
    expect(await states(600_000)).toEqual(['unloaded', 'ready', 'ready'])
    lease[Symbol.dispose]()
    expect(await states(59_999)).toEqual(['unloaded', 'ready', 'ready'])
    expect(await states(60_000)).toEqual(['unloaded', 'unloaded', 'ready'])
    await ask(registry, 'a')
    expect(stateOf('a')).toBe('ready')
    await registry.close()
  })

  it('unloads each when its own time is up', async () => {
    const { registry, clock, register, stateOf } = createScene({ idleUnloadMs: 60_000 })
    await register('ab')
    const states = async (advanceMs: number) => {
      clock.advance(advanceMs)
      await settle()
      return ['a', 'b'].map(stateOf)
    }
    await states(0)
    await states(20_000)
    await ask(registry, 'b')
    expect(await states(40_000)).toEqual(['unloaded', 'ready'])
    expect(await states(19_999)).toEqual(['unloaded', 'ready'])
    expect(await states(1)).toEqual(['unloaded', 'unloaded'])
    await registry.close()
  })
})

describe('room for one model more', () => {
  it('is that of one that nobody uses rather than of one that has had its turn', async () => {
    const { registry, clock, events, register } = createScene({ maxLoaded: 2 })
    await register('ab')
    await register('c', { load: 'request' })
    const running = await registry.acquire('a', never)
    clock.advance(TURN_MS)
    await ask(registry, 'b')
    await ask(registry, 'c')
    expect(events).toEqual(['load a', 'load b', 'close b', 'load c'])
    running[Symbol.dispose]()
  })

  it('is there at once when a load that was before it has failed', async () => {
    const first = withResolvers<never>()
    const opened: string[] = []
    const openEngine: OpenEngine = async (id, _source, { makeRoom }) => {
      using _reserved = await makeRoom({
        reserve: () => ({ [Symbol.dispose]: () => {} }),
        fits: () => true,
      })
      opened.push(id)
      return id === 'a' ? await first.promise : new TracedEngine(() => {})
    }
    const { registry, register } = createScene({ maxLoaded: 1, openEngine })
    await register('ab', { load: 'request' })
    const failed = expect(registry.acquire('a', never)).rejects.toMatchObject({
      code: 'model_loading_failed',
    })
    await settle()
    const asked = ask(registry, 'b')
    await settle()
    expect(opened).toEqual(['a'])
    first.reject(new StartError('the file is broken.'))
    await Promise.all([failed, asked])
    expect(opened).toEqual(['a', 'b'])
  })

  it('is that of the one that was not used for longest, and never of a pinned one', async () => {
    const { registry, clock, events, register } = createScene({ maxLoaded: 3 })
    await register('p', { isPinned: true })
    await register('ab')
    await register('c', { load: 'request' })
    clock.advance(1)
    await ask(registry, 'a')
    await ask(registry, 'c')
    expect(events.slice(3)).toEqual(['close b', 'load c'])
  })

  it('is taken in turns by requests for two models', async () => {
    const { registry, events, register } = createScene({ maxLoaded: 1 })
    await register('ab', { load: 'request' })
    await Promise.all(['a', 'b', 'a', 'b'].map((id) => ask(registry, id)))
    expect(events).toEqual(['load a', 'close a', 'load b'])
  })

  it('is not taken from a request that runs; its model takes no other one after its turn', async () => {
    const { registry, clock, events, register, stateOf } = createScene({ maxLoaded: 1 })
    await register('ab', { load: 'request' })
    const running = await registry.acquire('a', never)
    const asked = ask(registry, 'b')
    await settle()
    await ask(registry, 'a')
    expect([stateOf('a'), stateOf('b')]).toEqual(['ready', 'loading'])
    clock.advance(TURN_MS)
    await settle()
    const next = ask(registry, 'a')
    await settle()
    expect([stateOf('a'), events]).toEqual(['unloaded', ['load a']])
    running[Symbol.dispose]()
    await Promise.all([asked, next])
    expect(events).toEqual(['load a', 'close a', 'load b', 'close b', 'load a'])
  })

  it('is that of the one that was loaded first, as soon as its turn is over, where all are used', async () => {
    const { registry, clock, events, register, stateOf } = createScene({ maxLoaded: 2 })
    await register('abc', { load: 'request' })
    const ofB = await registry.acquire('b', never)
    clock.advance(TURN_MS / 2)
    const ofA = await registry.acquire('a', never)
    const asked = ask(registry, 'c')
    await settle()
    clock.advance(TURN_MS / 2)
    await settle()
    // It takes no new request from now on, though the turn of the other one has half of its time to go.
    expect([stateOf('a'), stateOf('b')]).toEqual(['ready', 'unloaded'])
    ofB[Symbol.dispose]()
    await asked
    expect(events).toEqual(['load b', 'load a', 'close b', 'load c'])
    ofA[Symbol.dispose]()
  })

  it('is that of the one that was loaded first of several that have had their turns', async () => {
    const { registry, clock, events, register } = createScene({ maxLoaded: 2 })
    await register('abc', { load: 'request' })
    const ofB = await registry.acquire('b', never)
    clock.advance(1)
    const ofA = await registry.acquire('a', never)
    clock.advance(2 * TURN_MS)
    const asked = ask(registry, 'c')
    await settle()
    ofB[Symbol.dispose]()
    await asked
    expect(events).toEqual(['load b', 'load a', 'close b', 'load c'])
    ofA[Symbol.dispose]()
  })

  it('is not waited for when the server closes', async () => {
    const { registry, clock, events, register } = createScene({ maxLoaded: 1 })
    await register('ab', { load: 'request' })
    const running = await registry.acquire('a', never)
    const asked = registry.acquire('b', never)
    asked.catch(() => {})
    await settle()
    clock.advance(TURN_MS)
    await settle()
    const closed = registry.close()
    expect(events).toEqual(['load a', 'close a'])
    running[Symbol.dispose]()
    await closed
    await expect(asked).rejects.toMatchObject({ code: 'shutting_down' })
  })

  it('is not taken by a model of another server, and that one is never unloaded for it', async () => {
    const { registry, events, register, stateOf } = createScene({ maxLoaded: 1 })
    await registry.register('r', REMOTE)
    await register('a')
    expect([stateOf('r'), stateOf('a')]).toEqual(['ready', 'ready'])
    await register('b')
    expect(events).toEqual(['load r', 'load a', 'close a', 'load b'])
    expect(stateOf('r')).toBe('ready')
  })

  it('is not made any more when those who asked have left', async () => {
    const { registry, events, register, stateOf } = createScene({ maxLoaded: 1 })
    await register('ab', { load: 'request' })
    const running = await registry.acquire('a', never)
    const leaving = new AbortController()
    const asked = registry.acquire('b', leaving.signal)
    await settle()
    leaving.abort()
    await expect(asked).rejects.toThrow('aborted')
    await settle()
    running[Symbol.dispose]()
    await settle()
    expect([stateOf('a'), stateOf('b'), events]).toEqual(['ready', 'unloaded', ['load a']])
    await ask(registry, 'b')
  })

  it.each(['unregister', 'close'] as const)('is not waited for after %s', async (end) => {
    const { registry, register } = createScene({ maxLoaded: 1 })
    await register('ab', { load: 'request' })
    using _running = await registry.acquire('a', never)
    const asked = expect(registry.acquire('b', never)).rejects.toMatchObject({
      code: end === 'close' ? 'shutting_down' : 'model_not_found',
    })
    await settle()
    await (end === 'close' ? registry.close() : registry.unregister('b'))
    await asked
  })

  it('is made in memory, where no other bound is set', async () => {
    const { registry, events, register } = createScene({ memory: 2 })
    await register('abc')
    expect(events).toEqual(['load a', 'load b', 'close a', 'load c'])
    await Promise.all(['a', 'b', 'c', 'a', 'b', 'c'].map((id) => ask(registry, id)))
    expect(registry.list().filter(({ state }) => state === 'ready')).toHaveLength(2)
  })

  it('is not made where it would not do: the refusal says the numbers, and nothing is unloaded', async () => {
    const { registry, events, register } = createScene({ memory: 1 })
    await register('a', { isPinned: true })
    await expect(register('b')).rejects.toThrow("'b' needs 1 of memory, but 1 is all.")
    await register('c', { load: 'request' })
    await expect(registry.acquire('c', never)).rejects.toMatchObject({
      params: { message: "'c' needs 1 of memory, but 1 is all." },
    })
    expect(events).toEqual(['load a'])
  })

  it('is not made for a model of the start, which its first request loads', async () => {
    const { registry, events, register, stateOf } = createScene({ memory: 1 })
    await register('ab', { load: 'if-room' })
    expect([stateOf('a'), stateOf('b'), events]).toEqual(['ready', 'unloaded', ['load a']])
    await ask(registry, 'b')
    expect(stateOf('a')).toBe('unloaded')
  })

  it('is not taken from those that waited for the load, before they have begun', async () => {
    const { registry, events, register, stateOf } = createScene({ maxLoaded: 1 })
    await register('b', { load: 'request' })
    const registered = registry.register('a', source, { load: 'if-room' })
    await Promise.all([registered, ask(registry, 'a'), ask(registry, 'a'), ask(registry, 'b')])
    expect(events).toEqual(['load a', 'close a', 'load b'])
    expect([stateOf('a'), stateOf('b')]).toEqual(['unloaded', 'ready'])
  })
})

describe('a model with adapters', () => {
  it('is loaded for the first, and stays loaded with it', async () => {
    const clock = new VirtualClock()
    const openEngine: OpenEngine = (_id, { kind }, { base }) => {
      if (kind === 'adapter') return Promise.resolve(new TracedEngine(() => {}))
      expect(base).toBeNull()
      const engine = new TracedEngine(() => {})
      return Promise.resolve(Object.assign(engine, { openAdapter: () => Promise.resolve(engine) }))
    }
    const { registry, stateOf } = createScene({ openEngine, clock, idleUnloadMs: 1000, maxLoaded: 1 })
    await registry.register('m', source, { load: 'request' })
    await registry.register('x', source, { load: 'request' })
    await registry.register('one', { kind: 'adapter', base: 'm', adapter: 'folder' })
    expect(stateOf('m')).toBe('ready')
    await expect(registry.unload('m')).rejects.toMatchObject({ code: 'model_in_use' })
    await expect(registry.acquire('x', never)).rejects.toMatchObject({ code: 'model_loading_failed' })
    clock.advance(60_000)
    await settle()
    expect([stateOf('m'), stateOf('one')]).toEqual(['ready', 'ready'])
    await registry.unregister('one')
    await registry.unload('m')
    expect(stateOf('m')).toBe('unloaded')
    await registry.close()
  })
})
