import { describe, expect, it } from 'vitest'
import { engineRequest, runRequest } from '../../../../test/support/engines/engine-requests.ts'
import {
  hang,
  sayOk,
  ScriptedEngine,
  sequenceStart,
} from '../../../../test/support/engines/scripted-engine.ts'
import { ServiceError } from '../../../core/errors.ts'
import type { EngineStatus, TokenizedText } from '../../../protocol/engine.ts'
import { ReplicatedEngine, startReplicas } from './replicated-engine.ts'

class StatedEngine extends ScriptedEngine {
  current: EngineStatus = { state: 'ready' }

  override status(): EngineStatus {
    return this.current
  }
}

class TokenizingEngine extends StatedEngine {
  calls = 0
  onCall = (): void => {}

  constructor() {
    super(sayOk)
  }

  override async tokenize(): Promise<TokenizedText> {
    this.calls++
    this.onCall()
    return { tokenIds: new Int32Array(), texts: ['done'] }
  }

  override async detokenize(): Promise<string> {
    this.calls++
    this.onCall()
    return 'done'
  }
}

async function tokenizeOne(engine: ReplicatedEngine): Promise<unknown> {
  const request = { prompt: { pieces: ['x'], addSpecial: true }, accountId: 'a', wantsTexts: true }
  const { texts } = await engine.tokenize(request, new AbortController().signal)
  return texts?.[0]
}

function detokenizeOne(engine: ReplicatedEngine): Promise<string> {
  return engine.detokenize([1], new AbortController().signal)
}

const restarting: EngineStatus = { state: 'restarting' }
const failed: EngineStatus = { state: 'failed', message: 'it died.' }

/** Starts a request that goes on until it is abandoned. */
async function occupy(engine: ReplicatedEngine): Promise<AbortController> {
  const leaving = new AbortController()
  const events = engine.generate(engineRequest('x'), leaving.signal)
  await events.next()
  return leaving
}

describe('ReplicatedEngine', () => {
  it('gives each request to the replica with the fewest running sequences', async () => {
    const replicas = [new ScriptedEngine(hang), new ScriptedEngine(hang), new ScriptedEngine(hang)]
    const engine = new ReplicatedEngine(replicas)
    for (let request = 0; request < 6; request++) await occupy(engine)
    expect(replicas.map(({ requests }) => requests.length)).toEqual([2, 2, 2])
  })

  it('counts each choice of a prompt as a sequence', async () => {
    const replicas = [new ScriptedEngine(hang), new ScriptedEngine(hang)]
    const engine = new ReplicatedEngine(replicas)
    await engine.generate({ ...engineRequest('x'), choices: 3 }, new AbortController().signal).next()
    for (let request = 0; request < 3; request++) await occupy(engine)
    expect(replicas.map(({ requests }) => requests.length)).toEqual([1, 3])
  })

  it('counts a request no longer when it has ended, however it ended', async () => {
    const replicas = [new ScriptedEngine(sayOk), new ScriptedEngine(sayOk)]
    const engine = new ReplicatedEngine(replicas)
    await runRequest(engine, engineRequest('x'))
    for await (const _ of engine.generate(engineRequest('x'), new AbortController().signal)) break
    await runRequest(engine, engineRequest('x'))
    expect(replicas.map(({ requests }) => requests.length)).toEqual([3, 0])
  })

  it('leaves out a replica that is being started again, unless there is no other', async () => {
    const [one, two] = [new StatedEngine(sayOk), new StatedEngine(sayOk)]
    const engine = new ReplicatedEngine([one, two])
    one.current = restarting
    await runRequest(engine, engineRequest('x'))
    two.current = failed
    await runRequest(engine, engineRequest('x'))
    expect([one.requests.length, two.requests.length]).toEqual([1, 1])
  })

  it('asks another when one was given up before anything came of the request', async () => {
    const gone = new ScriptedEngine(() => {
      throw new ServiceError('engine_unavailable', { message: 'it died.' })
    })
    const engine = new ReplicatedEngine([gone, new ScriptedEngine(sayOk)])
    expect(await runRequest(engine, engineRequest('x'))).toMatchObject([{ text: 'ok' }])
    await expect(runRequest(new ReplicatedEngine([gone, gone]), engineRequest('x'))).rejects.toMatchObject({
      code: 'engine_unavailable',
    })
  })

  it('runs a request once more, elsewhere, when its replica died before anything came of it', async () => {
    const dying = new StatedEngine(() => {
      dying.current = restarting
      throw new ServiceError('engine_failed')
    })
    const other = new ScriptedEngine(sayOk)
    expect(await runRequest(new ReplicatedEngine([dying, other]), engineRequest('x'))).toMatchObject([
      { text: 'ok' },
    ])
    const alone = new ReplicatedEngine([dying])
    await expect(runRequest(alone, engineRequest('x'))).rejects.toMatchObject({ code: 'engine_failed' })
    expect([dying.requests.length, other.requests.length]).toEqual([3, 1])
  })

  it('does not run again what had begun', async () => {
    const dying = new StatedEngine(async function* () {
      yield sequenceStart()
      dying.current = restarting
      throw new ServiceError('engine_failed')
    })
    const other = new ScriptedEngine(sayOk)
    const engine = new ReplicatedEngine([dying, other])
    await expect(runRequest(engine, engineRequest('x'))).rejects.toMatchObject({ code: 'engine_failed' })
    expect([dying.requests.length, other.requests.length]).toEqual([1, 0])
  })

  it.each(['engine_failed', 'engine_unavailable'] as const)(
    'tokenizes and detokenizes elsewhere when its replica answers %s',
    async (code) => {
      const dying = new TokenizingEngine()
      const other = new TokenizingEngine()
      const engine = new ReplicatedEngine([dying, other])
      for (const work of [tokenizeOne, detokenizeOne]) {
        dying.current = { state: 'ready' }
        dying.onCall = () => {
          dying.current = restarting
          throw new ServiceError(code, { message: 'it died.' })
        }
        expect(await work(engine)).toBe('done')
      }
      expect([dying.calls, other.calls]).toEqual([2, 2])
    },
  )

  it('tokenizes twice at most, and not again for an error of the text itself', async () => {
    const dying = new TokenizingEngine()
    const alone = new ReplicatedEngine([dying])
    dying.onCall = () => {
      throw new ServiceError('engine_failed')
    }
    await expect(tokenizeOne(alone)).rejects.toMatchObject({ code: 'engine_failed' })
    expect(dying.calls).toBe(2)
    dying.onCall = () => {
      throw new ServiceError('prompt_empty', { field: 'prompt' })
    }
    await expect(tokenizeOne(alone)).rejects.toMatchObject({ code: 'prompt_empty' })
    expect(dying.calls).toBe(3)
  })

  it('is as ready as its best replica, and has the slots and the memory of all', () => {
    const replicas = [1, 2].map(() => new StatedEngine(sayOk, { maxBatchSize: 4, memoryBytes: 10 }))
    const [one, two] = replicas
    const engine = new ReplicatedEngine(replicas)
    expect(engine.info()).toMatchObject({ maxBatchSize: 8, memoryBytes: 20 })
    if (one === undefined || two === undefined) throw new Error('there are two')
    one.current = { ...failed, deaths: 3 }
    expect(engine.status()).toEqual({ state: 'ready', replicas: { all: 2, ready: 1 }, deaths: 3 })
    two.current = { ...restarting, deaths: 1 }
    expect(engine.status()).toEqual({ ...restarting, replicas: { all: 2, ready: 0 }, deaths: 4 })
    two.current = failed
    expect(engine.status()).toMatchObject(failed)
  })
})

describe('replicas of which one cannot be started', () => {
  it('are given up and closed, without waiting for those that start', async () => {
    const started = new StatedEngine(sayOk)
    let isClosed = false
    started.close = async () => void (isClosed = true)
    const starts = [
      () => Promise.resolve(started),
      () => Promise.reject(new Error('no memory')),
      (signal: AbortSignal) =>
        new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('given up')), { once: true }),
        ),
    ]
    await expect(startReplicas(starts, new AbortController().signal)).rejects.toThrow('no memory')
    expect(isClosed).toBe(true)
  })
})
