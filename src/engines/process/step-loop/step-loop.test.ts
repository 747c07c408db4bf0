import { describe, expect, it, vi } from 'vitest'
import { engineRequest } from '../../../../test/support/engines/engine-requests.ts'
import { VirtualClock } from '../../../core/clock.ts'
import { type Resolvers, withResolvers } from '../../../core/concurrency/with-resolvers.ts'
import { ServiceError } from '../../../core/errors.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { ConstraintCompiler } from '../../../protocol/model-runner.ts'
import { PassthroughRunner } from '../../passthrough/passthrough-runner.ts'
import { StepLoop } from './step-loop.ts'

/** Compiles when the test says so, and knows which matchers were dropped. */
class HeldConstraints implements ConstraintCompiler {
  readonly compiling: Resolvers<void>[] = []
  readonly dropped: number[] = []
  #nextMatcherId = 0

  prepare(_constraint: unknown, count: number) {
    const compiling = withResolvers<void>()
    this.compiling.push(compiling)
    const matcherIds = Array.from({ length: count }, () => this.#nextMatcherId++)
    return { matcherIds, compiled: compiling.promise }
  }

  isReady(): boolean {
    return true
  }

  drop(matcherId: number): void {
    this.dropped.push(matcherId)
  }
}

/** A loop of a model with a context of 8 tokens. */
function createLoop() {
  const constraints = new HeldConstraints()
  const runner = Object.assign(new PassthroughRunner({ maxBatchSize: 2, maxSeqLen: 8 }), { constraints })
  const loop = new StepLoop({
    runner,
    schedulePolicy: 'fcfs',
    clock: new VirtualClock(),
    onBroken: (error) => {
      throw error
    },
  })
  const submit = (...prompts: readonly string[]) => {
    const events: EngineEvent[] = []
    const { promise: ended, resolve: end } = withResolvers<void>()
    const fail = vi.fn<(error: ServiceError) => void>()
    const request = engineRequest(prompts, { constraint: { kind: 'json-object' }, maxNewTokens: 1 })
    loop.submit(request, { deliver: (more) => void events.push(...more), fail, end })
    return { events, ended, fail }
  }
  return { loop, constraints, submit }
}

describe('a request whose constraint is compiled', () => {
  it('fails when the loop stops', () => {
    const { loop, constraints, submit } = createLoop()
    const { fail } = submit('a')
    expect(constraints.compiling).toHaveLength(1)
    const error = new ServiceError('shutting_down')

    loop.stop(error)

    expect(fail.mock.calls).toEqual([[error]])
  })

  it('drops the matcher of each of its sequences once, also of one that is refused', async () => {
    const { constraints, submit } = createLoop()
    const { events, ended } = submit('too long for it', 'a')

    constraints.compiling[0]?.resolve()
    await ended

    expect(events[0]).toMatchObject({ index: 0, error: { code: 'context_length_exceeded' } })
    expect(events.at(-1)).toMatchObject({ index: 1, finishReason: 'length' })
    expect(constraints.dropped).toEqual([0, 1])
  })
})
