/** Runs a beam search on a real runner by hand, to see its score and every step of it. */
import type { Sampling } from '../../../src/protocol/engine.ts'
import type { BeamPlan, ModelRunner } from '../../../src/protocol/model-runner.ts'
import { BeamSearch, type Hypothesis } from '../../../src/scheduler/beams/beam-search.ts'
import { reseat } from '../../../src/scheduler/beams/beam-seats.ts'
import { GREEDY } from '../../../src/scheduler/sequence.ts'

export interface BeamRunOptions {
  readonly promptTokenIds: Int32Array
  readonly numBeams: number
  readonly maxNewTokens: number
  readonly sampling?: Sampling
}

/** The group takes seats 0 to `numBeams - 1`, whose former tokens are dropped. */
export async function searchWithBeams(runner: ModelRunner, options: BeamRunOptions): Promise<Hypothesis> {
  await runner.prepareBeams?.()
  const { promptTokenIds, numBeams, maxNewTokens, sampling = GREEDY } = options
  const all = Array.from({ length: numBeams }, (_, seat) => seat)
  const search = new BeamSearch<null>({
    numBeams,
    firstState: null,
    extend: ({ tokenIds }, tokenId) => {
      if (runner.isEndOfGeneration(tokenId)) return { state: null, end: 'stop' }
      return { state: null, end: tokenIds.length + 1 === maxNewTokens ? 'length' : null }
    },
  })
  const candidates = 2 * numBeams
  const prompt = { seat: 0, position: 0, tokenIds: promptTokenIds, wantsToken: true }
  let seats: readonly number[] = [0]
  let plan: BeamPlan = {
    drops: all,
    starts: [{ seat: 0, promptTokenIds, sampling }],
    forks: [],
    groups: [{ seat: 0, runs: [prompt], beams: search.beams, candidates }],
  }
  for (;;) {
    const { beamChoices } = runner.execute({ starts: [], runs: [], beams: plan })
    const reseating = reseat(search.advance(beamChoices?.[0] ?? []), seats, all)
    if (search.isDone) return search.best
    seats = reseating.seats
    const runs = search.beams.map(({ tokenIds }, beam) => ({
      seat: seats[beam] ?? 0,
      position: promptTokenIds.length + tokenIds.length - 1,
      tokenIds: tokenIds.slice(-1),
      wantsToken: true,
    }))
    const { drops, forks } = reseating
    plan = { drops, starts: [], forks, groups: [{ seat: 0, runs, beams: search.beams, candidates }] }
  }
}
