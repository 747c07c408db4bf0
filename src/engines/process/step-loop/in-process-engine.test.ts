import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { engineRequest, runRequest } from '../../../../test/support/engines/engine-requests.ts'
import { ServiceError } from '../../../core/errors.ts'
import type { StepOutput, StepPlan } from '../../../protocol/model-runner.ts'
import { GREEDY } from '../../../scheduler/sequence.ts'
import { PassthroughRunner } from '../../passthrough/passthrough-runner.ts'
import { InProcessEngine } from './in-process-engine.ts'

/** Counts what it is asked to compute, and can be told to fail. */
class CountingRunner extends PassthroughRunner {
  steps = 0
  tokens = 0
  failsAtStep = Number.POSITIVE_INFINITY

  override execute(plan: StepPlan): StepOutput {
    this.steps++
    for (const { tokenIds } of plan.runs) this.tokens += tokenIds.length
    if (this.steps >= this.failsAtStep) throw new Error('the step failed')
    return super.execute(plan)
  }
}

function createEngine(options: { maxBatchSize?: number; maxSeqLen?: number } = {}): {
  engine: InProcessEngine
  runner: CountingRunner
} {
  const { maxBatchSize = 4, maxSeqLen = null } = options
  const runner = new CountingRunner({ maxBatchSize, maxSeqLen })
  return { engine: new InProcessEngine({ runner }), runner }
}

describe('the passthrough model in an in-process engine', () => {
  it('continues a prompt with the prompt itself, once, and stops', async () => {
    const [result] = await runRequest(createEngine().engine, engineRequest('héllo 🙂'))
    expect(result).toEqual({ text: 'héllo 🙂', tokenIds: [...Buffer.from('héllo 🙂')], ends: ['stop'] })
  })

  it('stops with length at max_new_tokens and shows no half character', async () => {
    const [result] = await runRequest(createEngine().engine, engineRequest('a🙂', { maxNewTokens: 3 }))
    expect(result).toMatchObject({ text: 'a', ends: ['length'] })
    expect(result?.tokenIds).toHaveLength(3)
  })

  it('gives empty text for an empty prompt', async () => {
    expect(await runRequest(createEngine().engine, engineRequest(''))).toEqual([
      { text: '', tokenIds: [], ends: ['stop'] },
    ])
  })

  it('gives each prompt as many sequences as it has choices, in order, and tokenizes it once', async () => {
    const { engine, runner } = createEngine()
    let tokenized = 0
    const tokenize = runner.tokenize.bind(runner)
    runner.tokenize = (prompt) => {
      tokenized++
      return tokenize(prompt)
    }
    const results = await runRequest(engine, { ...engineRequest(['one', 'two']), choices: 3 })
    expect(results.map(({ text }) => text)).toEqual(['one', 'one', 'one', 'two', 'two', 'two'])
    expect(tokenized).toBe(2)
  })

  it('refuses all choices of a prompt that is too long', async () => {
    const { engine } = createEngine({ maxSeqLen: 4 })
    const results = await runRequest(engine, { ...engineRequest(['too long', 'ok']), choices: 2 })
    const tooLong = { ends: ['context_length_exceeded'] }
    expect(results).toMatchObject([tooLong, tooLong, { text: 'ok' }, { text: 'ok' }])
  })

  it('seeds each choice, the first with the seed as it is', async () => {
    const { engine, runner } = createEngine()
    const seeds: (number | null)[] = []
    const execute = runner.execute.bind(runner)
    runner.execute = (plan) => {
      seeds.push(...plan.starts.map(({ sampling }) => sampling.seed))
      return execute(plan)
    }
    const request = engineRequest('a', { sampling: { ...GREEDY, temperature: 1, seed: 7 } })
    await runRequest(engine, { ...request, choices: 3 })
    await runRequest(engine, { ...engineRequest('a'), choices: 2 })
    expect(seeds).toEqual([7, 8, 9, null, null])
  })

  it('obeys stop strings', async () => {
    const request = engineRequest('one END two', { stopStrings: ['END'] })
    expect(await runRequest(createEngine().engine, request)).toMatchObject([{ text: 'one ', ends: ['stop'] }])
  })

  it.each([
    [1, 3],
    [2, 2],
    [2, 4],
    [4, 2],
    [4, 6],
  ])('gives the same texts with %i slots for %i requests', async (maxBatchSize, count) => {
    const { engine } = createEngine({ maxBatchSize })
    const texts = Array.from({ length: count }, (_, i) => `request number ${i} `.repeat(i + 1))
    const results = await Promise.all(texts.map((text) => runRequest(engine, engineRequest(text))))
    expect(results.map(([result]) => result?.text)).toEqual(texts)
  })

  it('runs the prompts of a block each to exactly one end', async () => {
    const texts = Array.from({ length: 10 }, (_, i) => `prompt ${i}`)
    const results = await runRequest(createEngine({ maxBatchSize: 2 }).engine, engineRequest(texts))
    expect(results).toMatchObject(texts.map((text) => ({ text, ends: ['stop'] })))
  })

  it('ends a prompt that is too long with an error and loses no other of its block', async () => {
    const { engine } = createEngine({ maxSeqLen: 8 })
    expect(await runRequest(engine, engineRequest(['123456789', 'abc']))).toMatchObject([
      { text: '', ends: ['context_length_exceeded'] },
      { text: 'abc', ends: ['stop'] },
    ])
  })

  it('runs long prompts beside short ones, and each to its own text', async () => {
    const { engine } = createEngine({ maxBatchSize: 2 })
    const long = 'a long prompt '.repeat(2000)
    const requests = [[long, 'x'], ['short'], [long, long]].map((texts) =>
      runRequest(engine, engineRequest(texts, { maxNewTokens: 20 })),
    )
    const texts = (await Promise.all(requests)).map((results) => results.map(({ text }) => text))
    const beginning = long.slice(0, 20)
    expect(texts).toEqual([[beginning, 'x'], ['short'], [beginning, beginning]])
  })

  it('ends a long prompt that is aborted before it is tokenized, and computes nothing of it', async () => {
    const { engine, runner } = createEngine()
    const controller = new AbortController()
    const request = runRequest(engine, engineRequest('x'.repeat(4_000_000)), controller.signal)
    await new Promise((resolve) => void setImmediate(resolve))
    controller.abort()
    await expect(request).rejects.toThrow('aborted')
    expect(runner.steps).toBe(0)
  })

  it('fails long prompts that are being tokenized when it is closed', async () => {
    const { engine } = createEngine()
    const request = runRequest(engine, engineRequest('x'.repeat(4_000_000)))
    await new Promise((resolve) => void setImmediate(resolve))
    await engine.close()
    await expect(request).rejects.toMatchObject({ code: 'shutting_down' })
  })

  it('stops working within one step when the signal aborts', async () => {
    const { engine, runner } = createEngine()
    const controller = new AbortController()
    let deltas = 0
    const reading = async (): Promise<void> => {
      for await (const events of engine.generate(engineRequest('x'.repeat(1000)), controller.signal)) {
        deltas += events.filter(({ type }) => type === 'text-delta').length
        if (deltas >= 5) controller.abort()
      }
    }
    await expect(reading()).rejects.toThrow('aborted')
    const stepsAtAbort = runner.steps
    await runRequest(engine, engineRequest('y'))
    // Prefill, one token, and the step that finds the end: none for the aborted sequence in between.
    expect(runner.steps - stepsAtAbort).toBeLessThanOrEqual(3)
  })

  it('lets HTTP have its turn after some steps, however many follow', async () => {
    const { engine, runner } = createEngine()
    const turns: number[] = []
    const running = runRequest(engine, engineRequest('x'.repeat(200)))
    while (runner.steps < 200) {
      turns.push(runner.steps)
      await nextTurn()
    }
    await running
    expect(new Set(turns).size).toBeGreaterThanOrEqual(200 / runner.stepsPerTurn)
  })

  it('reads at most 65,536 bytes of huge prompts in one turn of the event loop', async () => {
    const { engine, runner } = createEngine({ maxBatchSize: 4 })
    const prompts = ['x', 'y', 'z'].map((letter) => letter.repeat(200_000))
    const running = runRequest(engine, engineRequest(prompts, { maxNewTokens: 1 }))
    const perTurn: number[] = []
    while (runner.tokens < 600_000) {
      const before = runner.tokens
      await nextTurn()
      perTurn.push(runner.tokens - before)
    }
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(65_536)
    await running
  })

  it('stops working when the reader leaves early', async () => {
    const { engine, runner } = createEngine({ maxBatchSize: 1 })
    const { signal } = new AbortController()
    for await (const events of engine.generate(engineRequest('x'.repeat(1000)), signal)) {
      if (events.some(({ type }) => type === 'text-delta')) break
    }
    const stepsAtLeave = runner.steps
    await runRequest(engine, engineRequest('y'))
    expect(runner.steps - stepsAtLeave).toBeLessThanOrEqual(3)
  })

  it('fails every open request, and later ones at once, when a step fails', async () => {
    const { engine, runner } = createEngine()
    runner.failsAtStep = 3
    const outcomes = await Promise.allSettled(
      ['abcdef', 'ghijkl'].map((text) => runRequest(engine, engineRequest(text))),
    )
    expect(outcomes).toMatchObject([
      { status: 'rejected', reason: { code: 'engine_failed' } },
      { status: 'rejected', reason: { code: 'engine_failed' } },
    ])
    await expect(runRequest(engine, engineRequest('later'))).rejects.toMatchObject({ code: 'engine_failed' })
  })

  it('refuses a beam search there is no memory for, and loses nothing else', async () => {
    class FullRunner extends CountingRunner {
      readonly beamRoom = { seats: 8, tokens: 1000 }

      prepareBeams(): Promise<void> {
        const message = 'it needs 2 MB, and 1 MB is available.'
        return Promise.reject(new ServiceError('beams_unavailable', { message }))
      }
    }
    const engine = new InProcessEngine({ runner: new FullRunner({ maxBatchSize: 2, maxSeqLen: null }) })
    const running = runRequest(engine, engineRequest('abcdef'))
    expect(
      await runRequest(engine, engineRequest(['x', 'y'], { numBeams: 2, maxNewTokens: 9 })),
    ).toMatchObject([{ ends: ['beams_unavailable'] }, { ends: ['beams_unavailable'] }])
    expect(await running).toMatchObject([{ text: 'abcdef', ends: ['stop'] }])
  })

  it('lets beams change nothing for a runner that has no room for them', async () => {
    const request = engineRequest('abc', { numBeams: 8 })
    expect(await runRequest(createEngine().engine, request)).toMatchObject([{ text: 'abc', ends: ['stop'] }])
  })
})

describe('tokens without a generation', () => {
  const { signal } = new AbortController()
  const tokenize = (engine: InProcessEngine, text: string, abort = signal) =>
    engine.tokenize({ prompt: { pieces: [text], addSpecial: true }, accountId: 'a', wantsTexts: true }, abort)

  it('are those of a prompt, and become its text again', async () => {
    const { engine } = createEngine()
    const { tokenIds, texts } = await tokenize(engine, 'héllo')
    expect([...tokenIds]).toEqual([...Buffer.from('héllo')])
    expect(texts?.slice(0, 2)).toEqual(['h', '\u{FFFD}'])
    expect(await engine.detokenize(tokenIds)).toBe('héllo')
  })

  it('are a prompt themselves', async () => {
    const { engine } = createEngine()
    const request = { ...engineRequest('x'), prompts: [{ tokenIds: [...Buffer.from('héllo')] }] }
    expect(await runRequest(engine, request)).toEqual([
      { text: 'héllo', tokenIds: [...Buffer.from('héllo')], ends: ['stop'] },
    ])
    const long = { ...request, prompts: [{ tokenIds: Array.from({ length: 9 }, () => 65) }] }
    expect(await runRequest(createEngine({ maxSeqLen: 8 }).engine, long)).toMatchObject([
      { ends: ['context_length_exceeded'] },
    ])
  })

  it('of a text that no context holds are refused', async () => {
    const { engine } = createEngine({ maxSeqLen: 8 })
    await expect(tokenize(engine, 'nine char')).rejects.toMatchObject({ code: 'context_length_exceeded' })
  })

  it('of a long text are dropped when the caller leaves, and fail when the engine closes', async () => {
    const { engine } = createEngine()
    const long = 'a'.repeat(5_000_000)
    const leave = new AbortController()
    const left = tokenize(engine, long, leave.signal)
    const closed = tokenize(engine, long).catch(({ code }) => code)
    leave.abort()
    await expect(left).rejects.toMatchObject({ name: 'AbortError' })
    await engine.close()
    expect(await closed).toBe('shutting_down')
    await expect(tokenize(engine, 'more')).rejects.toMatchObject({ code: 'shutting_down' })
  })
})
