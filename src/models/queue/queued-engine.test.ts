import { describe, expect, it } from 'vitest'
import { engineRequest, runRequest } from '../../../test/support/engines/engine-requests.ts'
import { ScriptedEngine, sequenceEnd, sequenceStart } from '../../../test/support/engines/scripted-engine.ts'
import { ServiceError } from '../../core/errors.ts'
import { PassthroughRunner } from '../../engines/passthrough/passthrough-runner.ts'
import { InProcessEngine } from '../../engines/process/step-loop/in-process-engine.ts'
import type { EngineRequest } from '../../protocol/engine.ts'
import type { EngineEvent } from '../../protocol/engine-events.ts'
import { createEngineQueue, type SequenceLine } from './engine-queue.ts'
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

describe('what a request counts in the queue', () => {
  const place = engineRequest('a').place
  const signal = new AbortController().signal
  const failed: EngineEvent = { type: 'sequence-end', index: 0, finishReason: 'error', error: null }

  /** An engine of two slots and four seats that plays these events, and a queue in which one more may wait. */
  function createScripted(events: readonly EngineEvent[], servedClasses: readonly number[] = []) {
    const info = { maxBatchSize: 2, maxBeams: 4 }
    const scripted = new ScriptedEngine(async function* () {
      yield* events
    }, info)
    const limit = new QueueLimit({ max: 1, servedClasses: () => servedClasses })
    const queue = createEngineQueue(scripted, limit)
    const counts = new SequenceCounts().of('m', scripted.info())
    const engine = new QueuedEngine(scripted, queue, counts)
    /** How many more find a slot, a seat or the place to wait. */
    const room = (line: SequenceLine | null): number => {
      let taken = 0
      for (; taken < 10; taken++) {
        try {
          void line?.enter(1, { place })
        } catch {
          break
        }
      }
      line?.leave(taken, { place })
      return taken
    }
    return { engine, scripted, queue, counts, rooms: () => [room(queue.slots), room(queue.beams)] }
  }

  const start = sequenceStart()
  const runs: Readonly<Record<string, readonly EngineEvent[]>> = {
    'has ended': [start, sequenceEnd()],
    'ends without having run': [failed],
    'has not begun when it is left': [],
    'runs when it is left': [start],
  }

  it.each(Object.entries(runs))('is nothing once it %s', async (_, events) => {
    for (const numBeams of [1, 2]) {
      const { engine, counts, rooms } = createScripted(events)
      for await (const one of engine.generate(engineRequest('a', { numBeams }), signal)) void one
      expect(rooms()).toEqual([3, 5])
      expect(counts).toMatchObject({ waiting: 0, running: 0, heldTokens: 0 })
    }
  })

  it.each(Object.entries(runs))('is nothing of embeddings once it %s', async (_, events) => {
    const { engine, counts, rooms } = createScripted(events)
    const { reqId, prompts } = engineRequest('a')
    for await (const one of engine.embed({ reqId, prompts, place }, signal)) void one
    expect(rooms()).toEqual([3, 5])
    expect(counts).toMatchObject({ waiting: 0, running: 0 })
  })

  it('is a slot while a text runs, and the seats of its beams while a search does, which hold no tokens', async () => {
    for (const { numBeams, room, heldTokens } of [
      { numBeams: 1, room: [2, 5], heldTokens: 2 },
      { numBeams: 3, room: [3, 2], heldTokens: 0 },
    ]) {
      const { engine, counts, rooms } = createScripted([start, sequenceEnd()])
      const events = engine.generate(engineRequest('a', { numBeams }), signal)
      await events.next()
      expect(rooms()).toEqual(room)
      expect(counts).toMatchObject({ waiting: 0, running: 1, heldTokens })
      await events.return()
    }
  })

  it('is asked of a queue elsewhere before the request reaches the engine', async () => {
    const { scripted, queue, counts } = createScripted([start, sequenceEnd()])
    const refusal = new ServiceError('queue_full', { waiting: 1, max: 1, given: 1 })
    const slots: SequenceLine = {
      enter: () => Promise.reject(refusal),
      begin: () => {},
      leave: () => expect.fail('nothing had entered'),
      end: () => expect.fail('nothing had begun'),
    }
    const engine = new QueuedEngine(scripted, { ...queue, slots }, counts)
    await expect(engine.generate(engineRequest('a'), signal).next()).rejects.toBe(refusal)
    await expect(engine.embed(engineRequest('a'), signal).next()).rejects.toBe(refusal)
    expect(scripted.requests).toEqual([])
    expect(counts).toMatchObject({ waiting: 0, running: 0 })
  })

  it('comes with the tiers that have callers', async () => {
    const { engine, scripted } = createScripted([start, sequenceEnd()], [0, 2])
    for await (const one of engine.generate(engineRequest('a'), signal)) void one
    expect(scripted.requests[0]?.place).toEqual({ ...place, servedClasses: [0, 2] })
  })

  it('is bound by the seats of all replicas', () => {
    const scripted = new ScriptedEngine(async function* () {}, { maxBeams: 4 })
    const replicas = { all: 2, ready: 2 }
    const engine = Object.assign(scripted, { status: () => ({ state: 'ready', replicas }) as const })
    const { beams } = createEngineQueue(engine, new QueueLimit({ max: 1 }))
    for (let search = 0; search < 2; search++) void beams?.enter(1, { place, size: 4 })
    void beams?.enter(1, { place, size: 4 })
    expect(() => beams?.enter(1, { place, size: 4 })).toThrow(expect.objectContaining({ code: 'queue_full' }))
  })
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
