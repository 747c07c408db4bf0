import { describe, expect, it, vi } from 'vitest'
import {
  ScriptedEngine,
  sequenceEnd,
  sequenceStart,
  textDelta,
  untilAborted,
  type Script,
  piecesOf,
} from '../../test/support/engines/scripted-engine.ts'
import { createRegistry } from '../../test/support/servers/test-app.ts'
import { VirtualClock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import type { ModelRegistry } from '../models/registry.ts'
import type { ModelInfo } from '../protocol/model-info.ts'
import { OPEN_POLICY } from '../protocol/model-policy.ts'
import { RequestTimeline } from '../telemetry/request-timeline.ts'
import type { UsageEntry } from '../usage/usage-recorder.ts'
import type { GenerationRequest, PromptsInput } from './generation-request.ts'
import { Generation } from './generation.ts'

const oneToken: Script = async function* ({ prompts }) {
  for (const index of prompts.keys()) {
    yield sequenceStart(index)
    yield textDelta('a', [1], index)
    yield sequenceEnd('stop', index)
  }
}

/** An array of holes, which takes no memory. */
function withLength(length: number): number[] {
  const holes: number[] = []
  holes.length = length
  return holes
}

interface WorldOptions {
  readonly texts?: readonly string[]
  readonly batch?: PromptsInput['batch']
  readonly info?: Partial<ModelInfo>
  readonly overrides?: Partial<GenerationRequest>
  readonly record?: (entry: UsageEntry) => Promise<void>
  /** @default its one model runs the script */
  readonly registry?: ModelRegistry
  readonly client?: AbortController
}

/** One opened generation over the real registry. */
async function openGeneration(script: Script, options: WorldOptions = {}) {
  const { texts = ['x'], batch = null, info = {}, overrides = {}, record } = options
  const { registry = createRegistry({ engine: new ScriptedEngine(script, info) }) } = options
  const { client = new AbortController() } = options
  const usage: UsageEntry[] = []
  const log = {
    error: vi.fn<(...args: unknown[]) => void>(),
    warn: vi.fn<(...args: unknown[]) => void>(),
    info: vi.fn<(...args: unknown[]) => void>(),
  }
  const clock = new VirtualClock()
  const onTokensCapped = vi.fn<(count: number) => void>()
  const request: GenerationRequest = {
    modelId: null,
    input: { kind: 'prompts', prompts: texts.map((text) => ({ name: 'prompt', text })), batch },
    maxNewTokens: 20,
    sampling: { temperature: 1, topK: 0, topP: 1, repetitionPenalty: 1, seed: null },
    stopStrings: [],
    numBeams: 1,
    priority: 0,
    ...overrides,
  }
  const generation = await Generation.open(
    {
      registry,
      promptGuard: null,
      outputGuard: null,
      metrics: { countGuardHit: () => {} },
      tokenBudgets: { spend: () => {} },
      usageRecorder: { record: record ?? (async (entry) => void usage.push(entry)) },
      clock,
      log,
    },
    request,
    {
      requestId: 'r',
      caller: {
        keyId: 'k',
        accountId: 'a',
        teamId: null,
        budgets: [],
        tier: 'free',
        path: '/p',
        limits: { maxTokensPerRequest: 10, priorityClass: 0 },
      },
      signal: client.signal,
      timeline: new RequestTimeline(clock),
      onTokensCapped,
      onFallback: () => {},
    },
  )
  return { generation, usage, log, client, onTokensCapped }
}

describe('log probabilities', () => {
  it('are refused beside beams, and passed to the engine without', async () => {
    const ask = (numBeams: number) =>
      openGeneration(oneToken, { info: { maxBeams: 4 }, overrides: { numBeams, topLogprobs: 2 } })

    await expect(ask(3)).rejects.toMatchObject({
      code: 'unsupported_value',
      message: 'logprobs must not be asked for where num_beams is above 1, but num_beams was 3.',
    })
    using generation = (await ask(1)).generation
    expect(await generation.fold()).toMatchObject([{ text: 'a' }])
  })
})

describe('a generation', () => {
  it('is billed once, before its last reader goes on', async () => {
    const { generation, usage } = await openGeneration(oneToken)

    await generation.run(() => {})

    expect(usage).toEqual([
      {
        ...{ keyId: 'k', accountId: 'a', teamId: null, model: 'default', path: '/p' },
        ...{ status: 200, tokensIn: 2, tokensOut: 1, responseMs: 0 },
      },
    ])
  })

  it('counts what its engine makes while its reader takes nothing, and bills it when that leaves', async () => {
    const { generation, usage, client } = await openGeneration(async function* (_request, signal) {
      yield sequenceStart()
      for (let token = 0; token < 100; token++) yield textDelta('a', [1])
      await untilAborted(signal)
    })
    const taken: number[] = []
    const running = generation.run((events) => {
      taken.push(events.length)
      return new Promise((resolve) => client.signal.addEventListener('abort', () => resolve()))
    })
    await new Promise((resolve) => setImmediate(resolve))
    client.abort(new Error('left'))

    await expect(running).rejects.toThrow('left')
    expect(taken).toHaveLength(1)
    expect(usage).toMatchObject([{ status: 499, tokensOut: 100 }])
  })

  it('leaves an upstream to make no more than its reader takes', async () => {
    let made = 0
    const { generation, usage, client } = await openGeneration(
      async function* (_request, signal) {
        yield sequenceStart()
        for (; made < 100; made++) yield textDelta('a', [1])
        await untilAborted(signal)
      },
      { info: { takesChats: true } },
    )
    const running = generation.run(
      () => new Promise((resolve) => client.signal.addEventListener('abort', () => resolve())),
    )
    await new Promise((resolve) => setImmediate(resolve))
    client.abort(new Error('left'))

    await expect(running).rejects.toThrow('left')
    expect(made).toBeLessThan(3)
    expect(usage).toMatchObject([{ status: 499 }])
  })

  it("reports the ceiling of the caller's tier", async () => {
    const { onTokensCapped } = await openGeneration(oneToken)

    expect(onTokensCapped.mock.calls).toEqual([[10]])
  })

  it('is not billed when it only was opened, nor when its engine refuses it', async () => {
    const { generation, usage } = await openGeneration(async function* () {
      yield* []
      throw new ServiceError('queue_full')
    })
    expect(usage).toEqual([])

    await expect(generation.fold()).rejects.toMatchObject({ code: 'queue_full' })

    expect(usage).toEqual([])
  })

  it('is billed with what it made where the end of the server cuts it off', async () => {
    const { generation, usage } = await openGeneration(async function* () {
      yield sequenceStart()
      yield textDelta('a', [1])
      throw new ServiceError('shutting_down')
    })

    await expect(generation.run(() => {})).rejects.toMatchObject({ code: 'shutting_down', status: 503 })

    expect(usage).toMatchObject([{ status: 503, tokensIn: 2, tokensOut: 1 }])
  })

  it('is billed with as many tokens as a row holds where there are more', async () => {
    const { generation, usage } = await openGeneration(async function* () {
      yield sequenceStart(0, 2 ** 31)
      yield textDelta('a', withLength(2 ** 31))
      yield sequenceEnd()
    })

    await generation.run(() => {})

    expect(usage).toMatchObject([{ tokensIn: 2 ** 31 - 1, tokensOut: 2 ** 31 - 1 }])
  })

  it('fails with its one sequence and bills what that has used', async () => {
    const { generation, usage } = await openGeneration(async function* () {
      yield sequenceStart()
      yield textDelta('a', [1])
      const error = { code: 'engine_failed', params: {} } as const
      yield { type: 'sequence-end', index: 0, finishReason: 'error', error }
    })

    await expect(generation.fold()).rejects.toMatchObject({ code: 'engine_failed' })

    expect(usage).toMatchObject([{ status: 500, tokensOut: 1 }])
  })

  it('is billed as 499 once its client has left', async () => {
    const { generation, usage, client } = await openGeneration(async function* (_, signal) {
      yield sequenceStart()
      yield textDelta('a', [1])
      await untilAborted(signal)
    })

    await expect(generation.run(() => client.abort(new Error('left')))).rejects.toThrow()

    expect(usage).toMatchObject([{ status: 499 }])
  })

  it('fails with its own error where its usage cannot be recorded either', async () => {
    const { generation, log } = await openGeneration(
      async function* () {
        yield sequenceStart()
        throw new ServiceError('engine_failed')
      },
      { record: () => Promise.reject(new Error('the disk is full')) },
    )

    await expect(generation.fold()).rejects.toMatchObject({ code: 'engine_failed' })

    expect(log.error).toHaveBeenCalledWith(
      { requestId: 'r', err: expect.objectContaining({ message: 'the disk is full' }) },
      'the usage of a request that failed is lost',
    )
  })

  it('fails where it has succeeded and its usage cannot be recorded', async () => {
    const { generation } = await openGeneration(oneToken, {
      record: () => Promise.reject(new Error('the disk is full')),
    })

    await expect(generation.fold()).rejects.toThrow('the disk is full')
  })
})

describe('a model with a fallback', () => {
  async function open(script: Script, client = new AbortController()) {
    const usage: UsageEntry[] = []
    const record = async (entry: UsageEntry) => void usage.push(entry)
    const registry = createRegistry({ openEngine: async () => new ScriptedEngine(script) })
    await registry.register('other', { checkpoint: 'x' })
    await registry.register('m', { checkpoint: 'x' }, { policy: { ...OPEN_POLICY, fallback: 'other' } })
    const opening = openGeneration(script, { registry, record, client, overrides: { modelId: 'm' } })
    return { opening, usage }
  }

  it('that dies before its first event leaves a usage row', async () => {
    const { opening, usage } = await open(async function* () {
      yield* []
      throw new ServiceError('engine_failed')
    })

    await expect(opening).rejects.toMatchObject({ code: 'engine_failed' })

    expect(usage).toMatchObject([{ status: 500, model: 'm', tokensOut: 0 }])
  })

  it('leaves a usage row where its client leaves before the first event', async () => {
    const client = new AbortController()
    const { opening, usage } = await open(async function* (_request, signal) {
      yield* []
      client.abort(new Error('left'))
      await untilAborted(signal)
    }, client)

    await expect(opening).rejects.toThrow('left')

    expect(usage).toMatchObject([{ status: 499, model: 'm', tokensOut: 0 }])
  })
})

describe('a batch of separate prompts', () => {
  const refuseSecond: Script = async function* (request, signal) {
    if (piecesOf(request.prompts[0])[0] === 'no') throw new ServiceError('queue_full')
    yield* oneToken(request, signal)
  }

  it('has the refusal of one prompt in its place and one row for all', async () => {
    const options = { texts: ['x', 'no', 'z'], batch: 'separate' } as const
    const { generation, usage } = await openGeneration(refuseSecond, options)

    const sequences = await generation.fold()

    expect(sequences.map(({ text, error }) => error?.code ?? text)).toEqual(['a', 'queue_full', 'a'])
    expect(usage).toMatchObject([{ status: 200, tokensOut: 2 }])
  })

  it('fails with the first refusal where every prompt is refused', async () => {
    const { generation, usage } = await openGeneration(refuseSecond, {
      texts: ['no', 'no'],
      batch: 'separate',
    })

    await expect(generation.fold()).rejects.toMatchObject({ code: 'queue_full' })

    expect(usage).toEqual([])
  })
})

describe('a batch as a block', () => {
  /** Runs two at a time; of the first two one ends, then the engine fails as it is told to. */
  const createScript = (failures: ServiceError[]) => {
    const asked: string[][] = []
    const script: Script = async function* (request) {
      asked.push(request.prompts.map((prompt) => String(piecesOf(prompt)[0])))
      const failure = failures.shift()
      if (failure === undefined) return yield* oneToken(request, new AbortController().signal)
      yield sequenceStart(0)
      yield sequenceStart(1)
      yield textDelta('b', [1], 1)
      yield textDelta('a', [1], 0)
      yield sequenceEnd('stop', 0)
      throw failure
    }
    return { asked, script }
  }
  const options = { texts: ['1', '2', '3', '4'], batch: 'block' } as const
  const outcomes = (sequences: readonly { text: string; error: { code: string } | null }[]) =>
    sequences.map(({ text, error }) => error?.code ?? text)

  it('keeps what has ended where its engine dies, and runs again what had not begun', async () => {
    const { asked, script } = createScript([new ServiceError('engine_failed')])
    const { generation, usage } = await openGeneration(script, options)

    const sequences = await generation.fold()
    expect(outcomes(sequences)).toEqual(['a', 'engine_failed', 'a', 'a'])
    // As they were billed.
    expect(sequences.map(({ tokenIds }) => tokenIds.length)).toEqual([1, 1, 1, 1])
    expect(sequences[1]?.promptTokens).toBe(sequences[0]?.promptTokens)
    expect(asked).toEqual([
      ['1', '2', '3', '4'],
      ['3', '4'],
    ])
    expect(usage).toMatchObject([{ status: 200, tokensOut: 4 }])
  })

  it('keeps what has ended at the end of the server', async () => {
    const { asked, script } = createScript([new ServiceError('shutting_down')])
    const { generation } = await openGeneration(script, options)

    const ended = ['a', 'shutting_down', 'shutting_down', 'shutting_down']
    expect(outcomes(await generation.fold())).toEqual(ended)
    expect(asked).toHaveLength(1)
  })

  it('is refused as a whole', async () => {
    const { generation, usage } = await openGeneration(async function* () {
      yield* []
      throw new ServiceError('engine_failed')
    }, options)
    await expect(generation.fold()).rejects.toMatchObject({ code: 'engine_failed' })
    expect(usage).toHaveLength(1)
  })
})

describe('a prompt that cannot fit into the context', () => {
  const info = { maxSeqLen: 10, maxTokenBytes: 1 }
  const long = 'x'.repeat(11)

  it('is refused before anything looks at it', async () => {
    await expect(openGeneration(oneToken, { texts: [long], info })).rejects.toMatchObject({
      ...{ code: 'context_length_exceeded', params: { given: 'at least 11', max: 10 } },
    })
  })

  it('is the failure of its item in a batch, and the engine gets the others', async () => {
    const { generation, usage } = await openGeneration(oneToken, {
      ...{ texts: ['a', long, 'b'], batch: 'block', info },
    })

    const sequences = await generation.fold()

    expect(sequences.map(({ text, error }) => error?.code ?? text)).toEqual([
      'a',
      'context_length_exceeded',
      'a',
    ])
    expect(usage).toMatchObject([{ status: 200, tokensOut: 2 }])
  })

  it.each(['block', 'separate'] as const)('leaves a batch of such prompts an answer: %s', async (batch) => {
    const { generation } = await openGeneration(oneToken, { texts: [long, long], batch, info })

    expect(await generation.fold()).toMatchObject([
      { error: { code: 'context_length_exceeded' } },
      { error: { code: 'context_length_exceeded' } },
    ])
  })
})
