import { describe, expect, it } from 'vitest'
import { engineRequest, runRequest } from '../../test/support/engines/engine-requests.ts'
import { VirtualClock } from '../core/clock.ts'
import { StartError } from '../core/errors.ts'
import { InProcessEngine } from '../engines/process/step-loop/in-process-engine.ts'
import { PassthroughRunner } from '../engines/passthrough/passthrough-runner.ts'
import type { Quantization } from '../core/choices/quant-mode.ts'
import { QUANTIZATION_PAUSE_MS, QuantizeJobs } from './quantize-jobs.ts'
import { toLocalSource, type ModelSource } from '../protocol/model-source.ts'
import { ModelRegistry, type LoadHooks } from './registry.ts'

interface Load {
  readonly source: ModelSource
  readonly hooks: LoadHooks
  succeed(): void
  fail(message: string): void
}

const source = toLocalSource({ checkpoint: 'full-precision' })
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const newEngine = () =>
  new InProcessEngine({ runner: new PassthroughRunner({ maxBatchSize: 2, maxSeqLen: null }) })

/** Jobs over the real registry; loads are finished by hand, in order. */
function createJobs({ quantizedType = null }: { quantizedType?: string | null } = {}) {
  const loads: Load[] = []
  const clock = new VirtualClock()
  const registry = new ModelRegistry({
    openEngine: (_, source, hooks) =>
      new Promise((resolve, reject) => {
        loads.push({
          source,
          hooks,
          succeed: () => resolve(newEngine()),
          fail: (message) => reject(new StartError(message, 1)),
        })
      }),
    openFallback: newEngine,
    maxQueue: 8,
    clock,
  })
  const jobs = new QuantizeJobs({
    registry,
    clock,
    findQuantizedType: async () => quantizedType,
    resultOf: ({ quantization }) => ({
      layersQuantized: 29,
      sizeBytes: quantization === 'int4' ? 2_000_000 : 4_000_000,
    }),
  })
  const next = async (): Promise<Load> => {
    await settle()
    const load = loads.shift()
    if (load === undefined) throw new Error('no load is under way')
    return load
  }
  const register = async (): Promise<void> => {
    const registered = registry.register('m', source)
    ;(await next()).succeed()
    await registered
  }
  const quantized = async (mode: Quantization, options?: { isOperator: boolean }) => {
    const answer = jobs.quantize('m', mode, options)
    // Refused, or nothing to load: no load begins.
    answer.catch(() => {})
    await settle()
    loads.shift()?.succeed()
    return await answer
  }
  return { registry, jobs, clock, loads, next, register, quantized }
}

describe('QuantizeJobs', () => {
  it('loads the source quantized under the same id and tells what came of it', async () => {
    const { registry, jobs, next, register } = createJobs()
    await register()
    const quantized = jobs.quantize('default', 'int4')
    const load = await next()
    expect(load.source).toEqual({ ...source, quantization: 'int4' })
    load.succeed()
    expect(await quantized).toEqual({ modelId: 'm', mode: 'int4', layersQuantized: 29, sizeBytes: 2_000_000 })
    expect(registry.get('m')).toMatchObject({ state: 'ready', quantization: 'int4', loadFraction: 1 })
  })

  it('begins from the full-precision source again when the model was quantized before', async () => {
    const { jobs, next, register } = createJobs()
    await register()
    for (const mode of ['int8', 'fp8'] as const) {
      const quantized = jobs.quantize('m', mode)
      const load = await next()
      expect(load.source).toEqual({ ...source, quantization: mode })
      load.succeed()
      await quantized
    }
  })

  it('goes on serving meanwhile, and shows how far the new weights are', async () => {
    const { registry, jobs, next, register } = createJobs()
    await register()
    const quantized = jobs.quantize('m', 'int8')
    const load = await next()
    load.hooks.onProgress(0.25)
    expect(registry.get('m')).toMatchObject({ state: 'ready', loadFraction: 0.25, quantization: 'none' })
    using lease = await registry.acquire('m', new AbortController().signal)
    load.succeed()
    await quantized
    expect(await runRequest(lease.engine, engineRequest('x'))).toMatchObject([{ ends: ['stop'] }])
  })

  it('refuses a second quantize of the same model while one runs, and takes it afterwards', async () => {
    const { jobs, loads, next, register } = createJobs()
    await register()
    const first = jobs.quantize('m', 'int8')
    await expect(jobs.quantize('default', 'int4')).rejects.toMatchObject({
      code: 'quantization_running',
      status: 409,
    })
    ;(await next()).succeed()
    await first
    expect(loads).toEqual([])
    const second = jobs.quantize('m', 'int4')
    ;(await next()).succeed()
    expect(await second).toMatchObject({ mode: 'int4' })
  })

  it('refuses a source that is quantized itself, and loads nothing', async () => {
    const { registry, jobs, loads, register } = createJobs({ quantizedType: 'Q4_0' })
    await register()
    await expect(jobs.quantize('m', 'int8')).rejects.toMatchObject({
      code: 'not_quantizable',
      status: 400,
      params: { model: 'm', type: 'Q4_0' },
    })
    expect(loads).toEqual([])
    expect(registry.get('m')).toMatchObject({ state: 'ready', failure: null })
  })

  it('leaves the old weights serving when it fails, and says why', async () => {
    const { registry, jobs, next, register } = createJobs()
    await register()
    const quantized = jobs.quantize('m', 'int8')
    ;(await next()).fail('the disk is full.')
    await expect(quantized).rejects.toMatchObject({
      code: 'quantization_failed',
      status: 400,
      message: "Model 'm' could not be quantized: the disk is full.",
    })
    expect(registry.get('m')).toMatchObject({
      state: 'ready',
      quantization: 'none',
      failure: 'the disk is full.',
    })
    const again = jobs.quantize('m', 'int8')
    ;(await next()).succeed()
    await again
  })

  it('has nothing to do for the passthrough model', async () => {
    const { jobs, loads } = createJobs()
    expect(await jobs.quantize('default', 'fp8')).toEqual({
      modelId: 'default',
      mode: 'fp8',
      layersQuantized: 0,
      sizeBytes: 0,
    })
    expect(loads).toEqual([])
  })

  it('waits for a first load, and says so when that failed', async () => {
    const { registry, jobs, next } = createJobs()
    const registered = registry.register('m', source)
    registered.catch(() => {})
    const quantized = jobs.quantize('m', 'int8')
    ;(await next()).fail('no such file.')
    await expect(quantized).rejects.toMatchObject({ code: 'model_loading_failed', status: 503 })
  })

  it('does not know a model that is not there', async () => {
    const { jobs } = createJobs()
    await expect(jobs.quantize('nope', 'int4')).rejects.toMatchObject({
      code: 'model_not_found',
      status: 404,
      param: 'model_id',
    })
  })

  it('says the same of a model that is unregistered meanwhile, and quantizes what takes its place', async () => {
    const { registry, jobs, next, register } = createJobs()
    await register()
    const quantized = jobs.quantize('m', 'int8')
    const load = await next()
    const unregistered = registry.unregister('m')
    expect(load.hooks.signal.aborted).toBe(true)
    load.fail('stopped.')
    await expect(quantized).rejects.toMatchObject({ code: 'model_not_found', param: 'model_id' })
    await unregistered
    await register()
    const again = jobs.quantize('m', 'int8')
    ;(await next()).succeed()
    expect(await again).toMatchObject({ modelId: 'm' })
  })

  it('quantizes several models at once', async () => {
    const { registry, jobs, next, register } = createJobs()
    await register()
    const other = registry.register('n', { ...source, checkpoint: 'other' })
    ;(await next()).succeed()
    await other
    const both = [jobs.quantize('m', 'int8'), jobs.quantize('n', 'int4')]
    const loads = [await next(), await next()]
    for (const load of loads.toReversed()) load.succeed()
    expect(await Promise.all(both)).toMatchObject([
      { modelId: 'm', sizeBytes: 4_000_000 },
      { modelId: 'n', sizeBytes: 2_000_000 },
    ])
  })

  it('answers with what its own load gave, though another source was registered behind it', async () => {
    const { registry, jobs, next, register } = createJobs()
    await register()
    const quantized = jobs.quantize('m', 'int4')
    const load = await next()
    const replaced = registry.register('m', { ...source, checkpoint: 'newer' })
    load.succeed()
    ;(await next()).succeed()
    await replaced
    expect(await quantized).toMatchObject({ sizeBytes: 2_000_000 })
    expect(registry.get('m')).toMatchObject({ state: 'ready', quantization: 'none' })
  })

  it('quantizes what was registered last, when a new source comes first', async () => {
    const { registry, jobs, next, register } = createJobs()
    await register()
    const replaced = registry.register('m', { ...source, checkpoint: 'newer' })
    const quantized = jobs.quantize('m', 'int8')
    ;(await next()).succeed()
    await replaced
    const load = await next()
    expect(load.source).toEqual({ ...source, checkpoint: 'newer', quantization: 'int8' })
    load.succeed()
    await quantized
  })

  it('goes back to the source as it is with none', async () => {
    const { registry, jobs, next, register } = createJobs()
    await register()
    const quantized = jobs.quantize('m', 'int4')
    ;(await next()).succeed()
    await quantized
    const back = jobs.quantize('m', 'none')
    const load = await next()
    expect(load.source).toEqual(source)
    load.succeed()
    expect(await back).toEqual({ modelId: 'm', mode: 'none', layersQuantized: 0, sizeBytes: 0 })
    expect(registry.get('m')).toMatchObject({ state: 'ready', quantization: 'none' })
  })

  it('loads nothing for the mode that serves already', async () => {
    const { loads, register, quantized } = createJobs({ quantizedType: null })
    await register()
    expect(await quantized('none')).toMatchObject({ layersQuantized: 0 })
    const first = await quantized('int8')
    expect(await quantized('int8')).toEqual(first)
    expect(loads).toEqual([])
  })

  it('loads again in the mode that serves when a new source comes first', async () => {
    const { registry, jobs, next, register, quantized } = createJobs()
    await register()
    await quantized('int8')
    const replaced = registry.register('m', { ...source, checkpoint: 'newer', quantization: 'int4' })
    const again = jobs.quantize('m', 'int8')
    ;(await next()).succeed()
    await replaced
    const load = await next()
    expect(load.source).toMatchObject({ checkpoint: 'newer', quantization: 'int8' })
    load.succeed()
    await again
  })

  it('makes a key that is not the operator pause after any quantization of the model', async () => {
    const { clock, register, quantized } = createJobs()
    const user = { isOperator: false }
    await register()
    await quantized('int8')
    clock.advance(1500)
    for (const mode of ['int4', 'fp8', 'none'] as const) {
      await expect(quantized(mode, user)).rejects.toMatchObject({
        code: 'quantization_too_soon',
        status: 429,
        retryAfterSeconds: 59,
        message:
          "Model 'm' was quantized less than 60 s ago, and a key that is not the operator's must wait; try again in 59 s.",
      })
    }
    // Nothing to load, so nothing to wait for.
    expect(await quantized('int8', user)).toMatchObject({ mode: 'int8' })
    clock.advance(QUANTIZATION_PAUSE_MS - 1500)
    expect(await quantized('int4', user)).toMatchObject({ mode: 'int4' })
    await expect(quantized('none', user)).rejects.toMatchObject({ code: 'quantization_too_soon' })
    expect(await quantized('none')).toMatchObject({ mode: 'none' })
  })

  it('counts what was refused for its source too, whose files were read', async () => {
    const { register, quantized } = createJobs({ quantizedType: 'Q4_0' })
    await register()
    const user = { isOperator: false }
    await expect(quantized('int8', user)).rejects.toMatchObject({ code: 'not_quantizable' })
    await expect(quantized('int8', user)).rejects.toMatchObject({ code: 'quantization_too_soon' })
    await expect(quantized('int8')).rejects.toMatchObject({ code: 'not_quantizable' })
  })
})
