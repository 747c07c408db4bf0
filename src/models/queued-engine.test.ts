import { expect, it } from 'vitest'
import { engineRequest, runRequest } from '../../test/support/engines/engine-requests.ts'
import { PassthroughRunner } from '../engines/passthrough/passthrough-runner.ts'
import { InProcessEngine } from '../engines/process/step-loop/in-process-engine.ts'
import { createEngineQueue } from './queue/engine-queue.ts'
import { QueuedEngine } from './queued-engine.ts'
import { QueueLimit } from './queue/queue-limit.ts'
import { SequenceCounts } from './sequence-counts.ts'

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
