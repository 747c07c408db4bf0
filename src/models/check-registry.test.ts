import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../core/clock.ts'
import { InProcessEngine } from '../engines/process/step-loop/in-process-engine.ts'
import { PassthroughRunner } from '../engines/passthrough/passthrough-runner.ts'
import { ModelRegistry } from './registry.ts'
import type { RegisterOptions, RegistryOptions } from './registry-options.ts'

const createEngine = () =>
  new InProcessEngine({ runner: new PassthroughRunner({ maxBatchSize: 2, maxSeqLen: null }) })

/** A registry of an application that is written without types. */
function createRegistry(given: object = {}): ModelRegistry {
  const options = {
    openEngine: () => Promise.resolve(createEngine()),
    openFallback: createEngine,
    maxQueue: 8,
    clock: new VirtualClock(),
  }
  return new ModelRegistry({ ...options, ...given })
}

describe('a registry', () => {
  it.each([
    [{ openEngine: 5 }, 'openEngine must be a function, but was 5.'],
    [{ openFallback: null }, 'openFallback must be a function, but was null.'],
    [{ onChange: 'x' }, "onChange must be a function, but was 'x'."],
    [{ clock: {} }, 'clock must be an object with nowMs, unixSeconds and sleep, but was {}.'],
    [{ maxQueue: '8' }, "maxQueue must be a whole number of at least 1, but was '8'."],
    [{ maxLoaded: 0 }, 'maxLoaded must be null or a whole number of at least 1, but was 0.'],
    [{ idleUnloadMs: -5 }, 'idleUnloadMs must be null or a number above 0, but was -5.'],
    [{ aliases: {} }, 'aliases must be a Map, but was {}.'],
  ])('is not made with %j', (given, message) => {
    expect(() => createRegistry(given)).toThrow(expect.objectContaining({ name: 'StartError', message }))
  })

  it('is not made without options', () => {
    const options = undefined as unknown as RegistryOptions
    expect(() => new ModelRegistry(options)).toThrow(
      'The options of ModelRegistry must be an object, but were undefined.',
    )
  })

  it.each([
    [null, 'The options of registry.register must be an object, but were null.'],
    [{ load: 'later' }, "load must be one of now, if-room, request, but was 'later'."],
    [{ isPinned: 'yes' }, "isPinned must be true or false, but was 'yes'."],
  ])('registers nothing with %j', async (given, message) => {
    const registry = createRegistry()
    const registered = registry.register('m', { checkpoint: 'm' }, given as unknown as RegisterOptions)
    await expect(registered).rejects.toMatchObject({ name: 'StartError', message })
    expect(registry.has('m')).toBe(false)
  })
})

describe('an engine of an application', () => {
  it.each([
    [null, 'generate'],
    [{ generate: () => {}, tokenize: () => {}, detokenize: () => {} }, 'info'],
  ])('that is %j fails its load in one sentence', async (engine, method) => {
    const registry = createRegistry({ openEngine: () => Promise.resolve(engine) })
    const message = `openEngine must give an engine, but what it gave has no method ${method}.`
    await expect(registry.register('m', { checkpoint: 'm' })).rejects.toMatchObject({ message })
    expect(registry.get('m')).toMatchObject({ state: 'failed', failure: message })
  })

  it('that cannot say what it is is closed', async () => {
    const engine = createEngine()
    let closes = 0
    const broken = Object.assign(engine, {
      info: () => {
        throw new Error('of the application')
      },
      close: () => {
        closes++
        return Promise.resolve()
      },
    })
    const registry = createRegistry({ openEngine: () => Promise.resolve(broken) })
    await expect(registry.register('m', { checkpoint: 'm' })).rejects.toThrow('of the application')
    expect(closes).toBe(1)
  })
})
