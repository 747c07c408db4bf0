/** The two batch routes: shape, order, and prompts that fail without losing the others. */
import { describe, expect, it } from 'vitest'
import { batchResponse } from '../../../src/api/dialects/generate/schema.ts'
import { ServiceError, StartError } from '../../../src/core/errors.ts'
import { TIER_LIMITS } from '../../../src/core/tiers.ts'
import { OPEN_POLICY } from '../../../src/protocol/model-policy.ts'
import { withResolvers } from '../../../src/core/concurrency/with-resolvers.ts'
import type { EngineRequest } from '../../../src/protocol/engine.ts'
import type { EngineEvent } from '../../../src/protocol/engine-events.ts'
import {
  ScriptedEngine,
  sayOk,
  sequenceEnd,
  sequenceStart,
  textDelta,
  piecesOf,
} from '../../support/engines/scripted-engine.ts'
import { createRegistry, createTestApp } from '../../support/servers/test-app.ts'

const result = (index: number, text: string) => {
  const tokens = Buffer.byteLength(text)
  return {
    index,
    generated_text: text,
    token_ids: [...Buffer.from(text)],
    prompt_tokens: tokens,
    completion_tokens: tokens,
    total_tokens: 2 * tokens,
    model: 'default',
    created: 1_700_000_000,
    finish_reason: 'stop',
  }
}

describe('POST /v1/generate/batch', () => {
  it('answers in the order of the prompts, with sums', async () => {
    const answer = await createTestApp().post('/v1/generate/batch', { prompts: ['abc', 'a', ''] })

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      results: [result(0, 'abc'), result(1, 'a'), result(2, '')],
      prompt_tokens: 4,
      completion_tokens: 4,
      total_tokens: 8,
      model: 'default',
      created: 1_700_000_000,
    })
    expect(batchResponse.parse(answer.json())).toEqual(answer.json())
  })

  it('is one block for the engine', async () => {
    const engine = new ScriptedEngine(sayOk)

    await createTestApp({ engine }).post('/v1/generate/batch', { prompts: ['a', 'b'] })

    expect(engine.requests.map(({ prompts }) => prompts.map(piecesOf))).toEqual([[['a'], ['b']]])
  })

  it('keeps the others when one prompt fails', async () => {
    const engine = new ScriptedEngine(async function* () {
      const error = { code: 'context_length_exceeded', params: { given: 5000, max: 4096 } } as const
      yield { type: 'sequence-end', index: 0, finishReason: 'error', error }
      yield sequenceStart(1)
      yield textDelta('ok', [5], 1)
      yield sequenceEnd('stop', 1)
    })

    const answer = await createTestApp({ engine }).post('/v1/generate/batch', { prompts: ['a', 'b'] })

    expect(answer.statusCode).toBe(200)
    const [failed, good] = answer.json().results
    expect(failed).toMatchObject({
      index: 0,
      error: {
        code: 'context_length_exceeded',
        type: 'invalid_request_error',
        message: expect.stringContaining('5000'),
      },
      token_ids: [],
      finish_reason: 'error',
    })
    expect(failed).not.toHaveProperty('generated_text')
    expect(good).toMatchObject({ index: 1, generated_text: 'ok' })
    expect(batchResponse.parse(answer.json())).toEqual(answer.json())
  })

  it.each(['batch', 'continuous-batch'])('names the prompt that fails: %s', async (route) => {
    const engine = new ScriptedEngine(async function* ({ prompts }: EngineRequest) {
      for (const [index, prompt] of prompts.entries()) {
        const text = piecesOf(prompt).join('')
        if (text === 'fine') {
          yield sequenceStart(index)
          yield sequenceEnd('stop', index)
          continue
        }
        const error =
          text === ''
            ? ({ code: 'prompt_empty', params: {} } as const)
            : ({ code: 'context_length_exceeded', params: { given: 5000, max: 4096 } } as const)
        yield { type: 'sequence-end', index, finishReason: 'error', error }
      }
    })

    const answer = await createTestApp({ engine }).post(`/v1/generate/${route}`, {
      prompts: ['fine', '', 'long'],
    })

    const results: { error?: { message: string; param: string } }[] = answer.json().results
    expect(results.map(({ error }) => error && [error.message, error.param])).toEqual([
      undefined,
      ['prompts[1] must not be empty: the model has no token to begin a text with.', 'prompts[1]'],
      [
        "This model's maximum context length is 4096 tokens, but prompts[2] is 5000 tokens long.",
        'prompts[2]',
      ],
    ])
  })

  it('is refused whole when the queue is full', async () => {
    const engine = new ScriptedEngine(async function* () {
      yield* []
      throw new ServiceError('queue_full', { waiting: 1, max: 1 })
    })

    const answer = await createTestApp({ engine }).post('/v1/generate/batch', { prompts: ['a', 'b'] })

    expect(answer.statusCode).toBe(429)
  })
})

describe('POST /v1/generate/continuous-batch', () => {
  it('adds the time each prompt waited', async () => {
    const answer = await createTestApp().post('/v1/generate/continuous-batch', { prompts: ['ab', 'c'] })

    expect(answer.json().results).toEqual([
      { ...result(0, 'ab'), queue_ms: expect.any(Number) },
      { ...result(1, 'c'), queue_ms: expect.any(Number) },
    ])
    expect(batchResponse.parse(answer.json())).toEqual(answer.json())
  })

  it('queues each prompt by itself', async () => {
    const engine = new ScriptedEngine(sayOk)

    await createTestApp({ engine }).post('/v1/generate/continuous-batch', {
      prompts: ['a', 'b'],
      priority: 9,
    })

    expect(engine.requests.map(({ prompts }) => prompts.length)).toEqual([1, 1])
    expect(engine.requests.map(({ place }) => place.priority)).toEqual([9, 9])
  })

  it('runs the prompts that found room in the queue', async () => {
    const { post } = createTestApp({ maxBatchSize: 1, maxQueue: 2 })

    const answer = await post('/v1/generate/continuous-batch', { prompts: ['a', 'b', 'c', 'd', 'e'] })

    expect(answer.statusCode).toBe(200)
    const results: { error?: { code: string } }[] = answer.json().results
    expect(results.slice(0, 2).every(({ error }) => error === undefined)).toBe(true)
    expect(results.at(-1)?.error?.code).toBe('queue_full')
    expect(batchResponse.parse(answer.json())).toEqual(answer.json())
  })

  it('is refused when every one of its prompts is', async () => {
    const engine = new ScriptedEngine(async function* () {
      yield* []
      throw new ServiceError('queue_full', { waiting: 1, max: 1 })
    })

    const answer = await createTestApp({ engine }).post('/v1/generate/continuous-batch', {
      prompts: ['a', 'b'],
    })

    expect(answer.statusCode).toBe(429)
  })

  it('keeps the others when the engine loses one', async () => {
    const engine = new ScriptedEngine(async function* (request: EngineRequest): AsyncGenerator<EngineEvent> {
      if (piecesOf(request.prompts[0])[0] === 'bad') throw new ServiceError('engine_failed')
      yield* sayOk(request)
    })

    const answer = await createTestApp({ engine }).post('/v1/generate/continuous-batch', {
      prompts: ['bad', 'b'],
    })

    expect(answer.json().results).toMatchObject([
      { error: { code: 'engine_failed' } },
      { generated_text: 'ok' },
    ])
  })
})

describe.each(['/v1/generate/batch', '/v1/generate/continuous-batch'])(
  '%s of a model with a fallback',
  (route) => {
    /** Posts a batch for `m` while that is being loaded, its fallback `other` being there. */
    async function postWhileLoading() {
      const loaded = withResolvers<void>()
      const registry = createRegistry({
        openEngine: async (id) => {
          if (id === 'm') await loaded.promise
          return new ScriptedEngine(sayOk)
        },
      })
      const { post } = createTestApp({ registry })
      await registry.register('other', { checkpoint: 'x' })
      const policy = { ...OPEN_POLICY, fallback: 'other' }
      registry.register('m', { checkpoint: 'x' }, { policy }).catch(() => {})
      const answer = post(route, { model: 'm', prompts: ['a', 'b'] }).then((answered) => answered)
      await expect.poll(() => registry.waitingOf(TIER_LIMITS.enterprise.priorityClass)).toBe(1)
      return { loaded, answer }
    }

    it('waits for the model while it is being loaded', async () => {
      const { loaded, answer } = await postWhileLoading()
      loaded.resolve()
      expect((await answer).json()).toMatchObject({ model: 'm' })
    })

    it('goes to the fallback when that load fails', async () => {
      const { loaded, answer } = await postWhileLoading()
      loaded.reject(new StartError("'x.gguf' is damaged."))
      expect((await answer).json()).toMatchObject({ model: 'other' })
    })
  },
)
