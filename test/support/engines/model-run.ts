/** Runs a real runner by hand, one sequence at a time: for tests that compare tokens, not schedules. */
import type { ModelRunner } from '../../../src/protocol/model-runner.ts'
import { GREEDY } from '../../../src/scheduler/sequence.ts'

/** Continues a prompt greedily in slot 0, up to `maxNewTokens` or an end token, which is included. */
export function continueGreedily(
  runner: ModelRunner,
  promptTokenIds: Int32Array,
  maxNewTokens: number,
): number[] {
  const start = { slotId: 0, promptTokenIds, sampling: GREEDY, cachedTokens: 0, copyFromSlotId: null }
  const made: number[] = []
  let starts = [start]
  for (let position = 0; position < promptTokenIds.length;) {
    const tokenIds = promptTokenIds.subarray(position, position + runner.maxStepTokens)
    const wantsToken = position + tokenIds.length === promptTokenIds.length
    const output = runner.execute({ starts, runs: [{ slotId: 0, position, tokenIds, wantsToken }] })
    if (wantsToken) made.push(output.tokenIds[0] ?? 0)
    position += tokenIds.length
    starts = []
  }
  for (let last = made[0] ?? 0; made.length < maxNewTokens && !runner.isEndOfGeneration(last);) {
    const position = promptTokenIds.length + made.length - 1
    const output = runner.execute({
      starts,
      runs: [{ slotId: 0, position, tokenIds: [last], wantsToken: true }],
    })
    last = output.tokenIds[0] ?? 0
    made.push(last)
  }
  return made
}
