/** How the runs of a step are cut into native calls: by adapter, of which a call has one, and by length. Pure. */
import type { SlotRun } from '../../../protocol/model-runner.ts'
import type { ActiveAdapter } from '../lora/adapters.ts'
import type { StepWork } from '../threads/thread-governor.ts'

/** Runs that are computed in one decode. */
export interface RunGroup {
  readonly adapter: ActiveAdapter | null
  readonly runs: readonly SlotRun[]
}

/**
 * Runs of one adapter and one length at a time; those of the adapter that the step before ended with come first: a change takes time.
 * @param adapters by slot
 */
export function groupRuns(
  runs: readonly SlotRun[],
  adapters: ReadonlyMap<number, ActiveAdapter>,
  current: ActiveAdapter | null,
): readonly RunGroup[] {
  const byAdapter = new Map<ActiveAdapter | null, SlotRun[]>([[current, []]])
  for (const run of runs) {
    const adapter = adapters.get(run.slotId) ?? null
    const group = byAdapter.get(adapter)
    if (group === undefined) byAdapter.set(adapter, [run])
    else group.push(run)
  }
  return [...byAdapter].flatMap(([adapter, own]) =>
    groupByLength(own).map((equals) => ({ adapter, runs: equals })),
  )
}

/** The shortest first, so that the streams' tokens come before prompts. */
export function groupByLength<Run extends { readonly tokenIds: ArrayLike<number> }>(
  runs: readonly Run[],
): readonly Run[][] {
  const groups = new Map<number, Run[]>()
  for (const run of runs) {
    const group = groups.get(run.tokenIds.length)
    if (group === undefined) groups.set(run.tokenIds.length, [run])
    else group.push(run)
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group)
}

export function workOf(runs: readonly SlotRun[]): StepWork {
  let rows = 0
  let contextTokens = 0
  for (const { position, tokenIds } of runs) {
    rows += tokenIds.length
    contextTokens += position + tokenIds.length
  }
  return { rows, contextTokens }
}
