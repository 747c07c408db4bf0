import { describe, expect, it } from 'vitest'
import { engineRequest, runRequest } from '../../test/support/engines/engine-requests.ts'
import { VirtualClock } from '../core/clock.ts'
import { StartError } from '../core/errors.ts'
import { withResolvers } from '../core/concurrency/with-resolvers.ts'
import { AdapterEngine } from '../engines/process/host/adapter-engine.ts'
import { InProcessEngine } from '../engines/process/step-loop/in-process-engine.ts'
import { PassthroughRunner } from '../engines/passthrough/passthrough-runner.ts'
import type { AdapterOptions } from '../protocol/adapter.ts'
import type { Engine, EngineRequest } from '../protocol/engine.ts'
import { ModelRegistry, type OpenEngine } from './registry.ts'

const never = new AbortController().signal
const base = { checkpoint: 'base' }
const adapter = { kind: 'adapter', base: 'm', adapter: 'folder' } as const

/** The passthrough model, as one that takes adapters: tells which it has, and with which a request came. */
class BaseEngine extends InProcessEngine {
  isClosed = false
  readonly adapters = new Set<number>()
  readonly asked: (number | null)[] = []
  #next = 1

  constructor() {
    super({ runner: new PassthroughRunner({ maxBatchSize: 2, maxSeqLen: null }) })
  }

  override generate({ adapterId, ...request }: EngineRequest, signal: AbortSignal) {
    this.asked.push(adapterId ?? null)
    return super.generate(request, signal)
  }

  openAdapter({ parameters, sizeBytes }: AdapterOptions): Promise<Engine> {
    const adapterId = this.#next++
    this.adapters.add(adapterId)
    const onClose = () => void this.adapters.delete(adapterId)
    return Promise.resolve(
      new AdapterEngine({ base: this, adapter: { adapterId, parameters, sizeBytes }, onClose }),
    )
  }

  override close(): Promise<void> {
    this.isClosed = true
    return super.close()
  }
}

interface Opening {
  readonly openBase?: () => Engine
  /** Says why an adapter does not fit the engine, or null. */
  readonly whyUnfit?: (engine: Engine) => string | null
  readonly beforeAdapter?: () => Promise<void>
  readonly clock?: VirtualClock
}

function createRegistry({
  openBase,
  whyUnfit = () => null,
  beforeAdapter,
  clock = new VirtualClock(),
}: Opening = {}) {
  const engines: BaseEngine[] = []
  const openEngine: OpenEngine = async (modelId, source, hooks) => {
    if (source.kind !== 'adapter' && openBase !== undefined) return openBase()
    if (source.kind !== 'adapter') {
      const engine = new BaseEngine()
      engines.push(engine)
      return engine
    }
    if (hooks.base?.openAdapter === undefined) throw new Error('there is no base')
    const why = whyUnfit(hooks.base)
    if (why !== null) throw new StartError(why)
    await beforeAdapter?.()
    const { adapter: path, scale } = source
    return await hooks.base.openAdapter({ modelId, path, scale, parameters: 10, sizeBytes: 40 }, hooks.signal)
  }
  const openFallback = (): Engine =>
    new InProcessEngine({ runner: new PassthroughRunner({ maxBatchSize: 1, maxSeqLen: null }) })
  const registry = new ModelRegistry({ openEngine, openFallback, maxQueue: 8, clock })
  return { registry, engines }
}

async function ask(registry: ModelRegistry, id: string): Promise<void> {
  using lease = await registry.acquire(id, never)
  await runRequest(lease.engine, engineRequest('hi'))
}

/** Lets promise callbacks that are due run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('an adapter in the registry', () => {
  it('runs in the engine of its base under an id of its own, and is freed when it is unregistered', async () => {
    const { registry, engines } = createRegistry()
    await registry.register('m', base)
    await registry.register('one', adapter)
    await registry.register('two', { ...adapter, base: 'default' })

    for (const id of ['m', 'one', 'two']) await ask(registry, id)

    expect(engines.map(({ asked }) => asked)).toEqual([[null, 1, 2]])
    expect(registry.list()).toMatchObject([
      { id: 'm', baseId: null },
      { id: 'one', baseId: 'm', info: { parameters: 10, sizeBytes: 40, memoryBytes: 40 } },
      { id: 'two', baseId: 'm' },
    ])
    await registry.unregister('one')
    expect([...(engines[0]?.adapters ?? [])]).toEqual([2])
    await expect(registry.acquire('one', never)).rejects.toMatchObject({ code: 'model_not_found' })
  })

  it('waits for the load of its base that is under way', async () => {
    const { registry, engines } = createRegistry()
    const loads = [registry.register('m', base), registry.register('one', adapter)]
    await Promise.all(loads)
    await ask(registry, 'one')
    expect(engines.map(({ asked }) => asked)).toEqual([[1]])
  })

  it.each([
    ['m', 'x', "Its base model 'x' is not registered."],
    ['m', 'm', "Its base model 'm' is itself."],
    ['two', 'one', "Its base model 'one' is itself an adapter."],
  ])('%s is refused for the base %s', async (id, of, sentence) => {
    const { registry } = createRegistry()
    await registry.register('m', base)
    await registry.register('one', adapter)
    await expect(registry.register(id, { ...adapter, base: of }, { keepsFailed: false })).rejects.toThrow(
      sentence,
    )
    expect(registry.list().map((record) => record.id)).toEqual(['m', 'one'])
  })

  it('is refused for a base that makes vectors, or that another server serves', async () => {
    const vectors = new BaseEngine()
    const info = vectors.info()
    vectors.info = () => ({ ...info, embedding: { pooling: 'mean', dimensions: 8, shorterDimensions: [] } })
    const elsewhere = new InProcessEngine({
      runner: new PassthroughRunner({ maxBatchSize: 1, maxSeqLen: null }),
    })
    for (const engine of [vectors, elsewhere]) {
      const { registry } = createRegistry({ openBase: () => engine })
      await registry.register('m', base)
      await expect(registry.register('one', adapter)).rejects.toThrow("Its base model 'm' takes no adapters")
    }
  })

  it('keeps its base from being unregistered, until it is itself', async () => {
    const { registry, engines } = createRegistry()
    await registry.register('m', base)
    await registry.register('one', adapter)
    await expect(registry.unregister('m')).rejects.toMatchObject({
      code: 'model_has_adapters',
      message: "Model 'm' cannot be unregistered while its adapters are registered: unregister 'one' first.",
    })
    await registry.unregister('one')
    await registry.unregister('m')
    expect(engines[0]?.isClosed).toBe(true)
  })

  it('goes along when its base is replaced; a request that runs keeps both', async () => {
    const { registry, engines } = createRegistry()
    await registry.register('m', base)
    await registry.register('one', adapter)
    const lease = await registry.acquire('one', never)

    await registry.register('m', base)
    await settle()
    await ask(registry, 'one')

    expect(engines[1]?.asked).toEqual([1])
    expect(engines[0]).toMatchObject({ isClosed: false, adapters: new Set([1]) })
    lease[Symbol.dispose]()
    await settle()
    expect(engines[0]).toMatchObject({ isClosed: true, adapters: new Set() })
  })

  it('fails where it does not fit the new base, and serves again with one that it fits', async () => {
    const { registry, engines } = createRegistry({
      whyUnfit: (engine) => (engine === engines[1] ? 'it is for another model.' : null),
    })
    await registry.register('m', base)
    await registry.register('one', adapter)
    await registry.register('m', base)
    expect(registry.get('one')).toMatchObject({ state: 'failed', failure: 'it is for another model.' })
    await expect(registry.acquire('one', never)).rejects.toMatchObject({ code: 'model_loading_failed' })
    await ask(registry, 'm')
    expect(engines[0]?.isClosed).toBe(true)
    await registry.register('m', base)
    await ask(registry, 'one')
    expect(engines[2]?.asked).toEqual([1])
  })

  it('is tried again by a request where it did not fit the new base for a while', async () => {
    let isFull = false
    const clock = new VirtualClock()
    const { registry, engines } = createRegistry({
      clock,
      whyUnfit: () => (isFull ? 'there is no memory for it.' : null),
    })
    await registry.register('m', base)
    await registry.register('one', adapter)
    isFull = true
    await registry.register('m', base)
    isFull = false
    await expect(registry.acquire('one', never)).rejects.toMatchObject({ code: 'model_loading_failed' })
    clock.advance(10_000)
    await ask(registry, 'one')
    expect(engines[1]?.asked).toEqual([1])
  })

  it('is loaded into the new base where its base is replaced while it loads', async () => {
    const gates = [withResolvers<void>()]
    const held = [...gates]
    const { registry, engines } = createRegistry({ beforeAdapter: async () => await gates.shift()?.promise })
    await registry.register('m', base)
    const loading = registry.register('one', adapter, { keepsFailed: false })
    await settle()
    const replacing = registry.register('m', base)
    await settle()
    held[0]?.resolve()
    await Promise.all([loading, replacing])

    await ask(registry, 'one')
    await settle()
    expect(engines[1]?.asked).toEqual([1])
    expect(engines[0]).toMatchObject({ isClosed: true, adapters: new Set() })
  })

  it('that is refused while its base is replaced is forgotten, and does not hold its base', async () => {
    const gates = [withResolvers<void>()]
    const held = [...gates]
    const { registry } = createRegistry({ beforeAdapter: async () => await gates.shift()?.promise })
    await registry.register('m', base)
    const loading = registry.register('one', adapter, { keepsFailed: false })
    await settle()
    const replacing = registry.register('m', base)
    await settle()
    held[0]?.reject(new StartError('it is broken.'))
    await expect(loading).rejects.toThrow('it is broken.')
    await replacing
    expect(registry.has('one')).toBe(false)
    await registry.unregister('m')
  })

  it('that was unloaded by a failure is loaded into its base by the next request', async () => {
    let why: string | null = null
    const { registry, engines } = createRegistry({ whyUnfit: () => why })
    await registry.register('m', base)
    await registry.register('one', adapter)
    why = 'it is for another model.'
    await registry.register('m', base)
    await expect(registry.register('one', adapter)).rejects.toThrow(why)
    why = null
    expect(registry.get('one').state).toBe('unloaded')
    await ask(registry, 'one')
    expect(engines[1]?.asked).toEqual([1])
  })

  it('shares the queue of its base, and tells of no process as its own', async () => {
    const { registry } = createRegistry()
    await registry.register('m', base)
    await registry.register('one', adapter)
    const [first, second] = registry.serving().rows.map(({ model }) => model?.queue)
    expect(first).toBe(second)
    expect(registry.engineProcesses()).toEqual([])
    await registry.close()
  })
})
