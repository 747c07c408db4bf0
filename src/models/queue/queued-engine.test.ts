import { describe, expect, it } from 'vitest'
import { engineRequest, runRequest } from '../../../test/support/engines/engine-requests.ts'
import { PassthroughRunner } from '../../engines/passthrough/passthrough-runner.ts'
import { InProcessEngine } from '../../engines/process/step-loop/in-process-engine.ts'
import { createEngineQueue } from './engine-queue.ts'
import type { EngineRequest } from '../../protocol/engine.ts'
import { QueuedEngine } from './queued-engine.ts'
import { QueueLimit } from './queue-limit.ts'
import { SequenceCounts } from '../sequence-counts.ts'

function createEngine({ maxQueue }: { maxQueue: number }): QueuedEngine {
  const runner = new PassthroughRunner({ maxBatchSize: 1, maxSeqLen: null })
  const engine = new InProcessEngine({ runner })
  const counts = new SequenceCounts().of('m', engine.info())
  return new QueuedEngine(engine, createEngineQueue(engine, new QueueLimit({ max: maxQueue })), counts)
}

it('counts each choice of a prompt', async () => {
  const engine = createEngine({ maxQueue: 2 })
  const outcomes = await Promise.allSettled(
    [3, 1].map((choices) => runRequest(engine, { ...engineRequest('a'), choices })),
  )
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: [{ text: 'a' }, { text: 'a' }, { text: 'a' }] },
    { status: 'rejected', reason: { code: 'queue_full' } },
  ])
})

it('refuses what the queue does not hold, and takes it when there is room again', async () => {
  const engine = createEngine({ maxQueue: 1 })
  const outcomes = await Promise.allSettled(
    ['a', 'b', 'c'].map((text) => runRequest(engine, engineRequest(text))),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(outcomes[2]).toMatchObject({ reason: { code: 'queue_full' } })
  expect(await runRequest(engine, engineRequest('c'))).toMatchObject([{ text: 'c' }])
})

describe('tokens of application code', () => {
  const of = (change: Partial<EngineRequest>): EngineRequest => ({ ...engineRequest('a'), ...change })
  const { options } = engineRequest('a')
  const last = new PassthroughRunner({ maxBatchSize: 1, maxSeqLen: null }).info().vocabSize - 1

  it.each([
    [
      'a negative id',
      of({ prompts: [{ tokenIds: [1, -5] }] }),
      `prompts[0].tokenIds[1] must be a token id between 0 and ${last}, but was -5.`,
    ],
    [
      'one past the vocabulary',
      of({ prompts: [{ tokenIds: [last] }, { tokenIds: new Int32Array([last + 1]) }] }),
      `prompts[1].tokenIds[0] must be a token id between 0 and ${last}, but was ${last + 1}.`,
    ],
    [
      'what is no integer',
      of({ prompts: [{ tokenIds: [0.5] }] }),
      `prompts[0].tokenIds[0] must be a token id between 0 and ${last}, but was 0.5.`,
    ],
    ['none', of({ prompts: [{ tokenIds: [] }] }), 'prompts[0].tokenIds must hold at least one token id.'],
    [
      'a bias of an unknown one',
      of({ options: { ...options, sampling: { ...options.sampling, logitBias: [[1e9, 1]] } } }),
      `options.sampling.logitBias[0] must be a token id between 0 and ${last}, but was 1000000000.`,
    ],
    [
      'an unknown one that ends',
      of({
        options: { ...options, endRules: { minTokens: 0, ignoresEndTokens: false, stopTokenIds: [-1] } },
      }),
      `options.endRules.stopTokenIds[0] must be a token id between 0 and ${last}, but was -1.`,
    ],
  ])('refuses %s, and the engine goes on', async (_, request, message) => {
    const engine = createEngine({ maxQueue: 1 })
    await expect(runRequest(engine, request)).rejects.toMatchObject({ code: 'invalid_request', message })
    expect(await runRequest(engine, engineRequest('b'))).toMatchObject([{ text: 'b' }])
  })

  it('refuses to write out an unknown one', async () => {
    const engine = createEngine({ maxQueue: 1 })
    const refusal = engine.detokenize([-5], new AbortController().signal)
    await expect(refusal).rejects.toThrow(`tokenIds[0] must be a token id between 0 and ${last}, but was -5.`)
  })
})
