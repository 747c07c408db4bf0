import { describe, expect, it } from 'vitest'
import { hang, ScriptedEngine } from '../../../test/support/engines/scripted-engine.ts'
import { VirtualClock } from '../../core/clock.ts'
import { StartError } from '../../core/errors.ts'
import type { EngineStatus } from '../../protocol/engine.ts'
import type { ModelInfo } from '../../protocol/model-info.ts'
import { type LoadHooks, ModelRegistry } from '../registry.ts'

const source = { checkpoint: 'unused' }

/** An engine that says of itself what a test wrote. */
class StatedEngine extends ScriptedEngine {
  stated: EngineStatus = { state: 'ready' }

  constructor(info: Partial<ModelInfo> = {}) {
    super(hang, info)
  }

  override status(): EngineStatus {
    return this.stated
  }
}

/** A registry that opens these engines, by the model's id; `onLoad` runs in each load. */
function createRegistry(
  engines: Readonly<Record<string, StatedEngine>>,
  onLoad: (id: string, hooks: LoadHooks) => Promise<unknown>,
): ModelRegistry {
  const open = (id: string) => engines[id] ?? new StatedEngine()
  return new ModelRegistry({
    openEngine: async (id, _source, hooks) => {
      await onLoad(id, hooks)
      return open(id)
    },
    openFallback: () => open('fallback'),
    maxQueue: 8,
    clock: new VirtualClock(),
  })
}

describe('the memory that a load may count on from another model', () => {
  const draft = { name: 'draft', parameters: 1, sizeBytes: 30 }

  it.each([
    { of: 'one engine', info: { memoryBytes: 120 }, replicas: 1, freedBytes: 120 },
    { of: 'replicas, which share its weights', info: { memoryBytes: 360 }, replicas: 3, freedBytes: 160 },
    { of: 'replicas with a draft model', info: { memoryBytes: 450, draft }, replicas: 3, freedBytes: 190 },
    {
      of: 'an engine that does not say it',
      info: { memoryBytes: null, draft },
      replicas: 3,
      freedBytes: 130,
    },
  ])('is what the system has back from $of', async ({ info, replicas, freedBytes }) => {
    const asked: number[] = []
    const fits = (bytes: number): boolean => {
      asked.push(bytes)
      return false
    }
    const reserve = () => {
      throw new StartError('there is no room.')
    }
    const engine = new StatedEngine({ sizeBytes: 100, ...info })
    engine.stated = { state: 'ready', replicas: { all: replicas, ready: replicas } }
    const registry = createRegistry({ a: engine }, async (id, { makeRoom }) => {
      if (id === 'b') await makeRoom({ reserve, fits })
    })
    await registry.register('a', source)

    await expect(registry.register('b', source)).rejects.toThrow('there is no room.')

    expect(asked).toEqual([freedBytes])
  })
})

it('a load is asked whether it could wait for others only while others load', async () => {
  const asked: boolean[] = []
  const registry = createRegistry({}, async (id, { makeRoom }) => {
    const reserve = () => {
      if (id === 'b') throw new StartError('there is no room.')
      return { [Symbol.dispose]: () => {} }
    }
    const fits = (_freedBytes: number, ignoresLoads: boolean): boolean => {
      asked.push(ignoresLoads)
      return false
    }
    const reserved = await makeRoom({ reserve, fits })
    reserved[Symbol.dispose]()
  })
  await registry.register('a', source)
  await expect(registry.register('b', source)).rejects.toThrow('there is no room.')
  expect(asked).toEqual([false])
})

it('a load is told of what takes memory now or soon, and of no model whose engine was given up', async () => {
  const told: (readonly string[])[] = []
  const engines = {
    a: new StatedEngine({ architecture: 'of a' }),
    b: new StatedEngine({ architecture: 'of b' }),
  }
  const registry = createRegistry(engines, async (id, { loaded }) => {
    if (id === 'c') told.push(loaded().map(({ architecture }) => architecture))
  })
  await registry.register('a', source)
  await registry.register('b', source)

  engines.a.stated = { state: 'restarting' }
  await registry.register('c', source)
  await registry.unregister('c')
  engines.a.stated = { state: 'failed', message: 'it died.' }
  await registry.register('c', source)

  expect(told).toEqual([['of a', 'of b'], ['of b']])
})
