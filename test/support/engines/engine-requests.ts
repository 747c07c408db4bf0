/** Builders for engine tests: requests by the word, and a reader that folds events. */
import type { Engine, EngineRequest, SequenceOptions, TextPrompt } from '../../../src/protocol/engine.ts'
import type { AnswerEvent } from '../../../src/protocol/engine-events.ts'
import { GREEDY } from '../../../src/scheduler/sequence.ts'

let requests = 0

export function engineRequest(
  prompts: string | readonly string[],
  options: Partial<SequenceOptions> = {},
): EngineRequest & { readonly prompts: readonly TextPrompt[] } {
  const texts = typeof prompts === 'string' ? [prompts] : prompts
  return {
    reqId: `test-${++requests}`,
    prompts: texts.map((text) => ({ pieces: [text], addSpecial: true })),
    options: { maxNewTokens: 256, sampling: GREEDY, stopStrings: [], ...options },
    place: { priorityClass: 0, priority: 0, accountId: 'test' },
  }
}

export interface SequenceResult {
  text: string
  tokenIds: number[]
  ends: string[]
}

/** Reads a request to its end; one result per sequence. */
export async function runRequest(
  engine: Pick<Engine, 'generate'>,
  request: EngineRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<SequenceResult[]> {
  const sequences = request.prompts.length * (request.choices ?? 1)
  const results = Array.from({ length: sequences }, (): SequenceResult => ({
    text: '',
    tokenIds: [],
    ends: [],
  }))
  for await (const events of engine.generate(request, signal)) {
    for (const event of events) apply(results, event)
  }
  return results
}

function apply(results: readonly SequenceResult[], event: AnswerEvent): void {
  const result = results[event.index]
  if (result === undefined) throw new Error(`event for sequence ${event.index} of ${results.length}`)
  if (event.type === 'text-delta') {
    result.text += event.text
    result.tokenIds.push(...event.tokenIds)
  }
  if (event.type === 'sequence-end') result.ends.push(event.error?.code ?? event.finishReason)
}
