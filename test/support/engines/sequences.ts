/** Builders for scheduler tests: sequences by the number, and a pretend model that a test steps by hand. */
import type { StepOutput, StepPlan } from '../../../src/protocol/model-runner.ts'
import type { ScheduledRequest } from '../../../src/scheduler/sequence.ts'

/** A request with a prompt of `promptTokens` ids that no other request shares, unless `from` says so. */
export function createRequest(
  reqId: number,
  options: Partial<ScheduledRequest> & { readonly promptTokens?: number; readonly from?: number } = {},
): ScheduledRequest {
  const { promptTokens = 4, from = reqId * 100_000, ...rest } = options
  return { ids: Array.from({ length: promptTokens }, (_, i) => from + i), reqId, maxNewTokens: 8, ...rest }
}

/** Answers each run that wants a token with `tokenId`. */
export function answer(plan: StepPlan, tokenId: number | null = 7): StepOutput {
  return { tokenIds: plan.runs.filter(({ wantsToken }) => wantsToken).map(() => tokenId) }
}
