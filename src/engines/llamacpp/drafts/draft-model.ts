/**
 * A second, smaller model in the engine, with a KV cache of its own for each slot: proposes the likeliest next tokens. Owned
 * by the runner, which verifies them; what it computes and how much it proposes is in the plan.
 * Invariant: whatever it proposes, no text changes; a wrong position would only make its proposals worse.
 */
import { InvariantError, StartError } from '../../../core/errors.ts'
import {
  withProposal,
  type DraftRoom,
  type DraftRun,
  type DraftTimes,
  type SlotRun,
} from '../../../protocol/model-runner.ts'
import type { DraftModelOptions, LoadProgress } from '../../../protocol/runner-options.ts'
import { draftSeqLen } from '../../../checkpoints/memory/kv-room.ts'
import { Context, type ContextOptions } from '../context.ts'
import { checkDraftVocabulary } from './draft-vocabulary.ts'
import { groupByLength } from '../slots/run-groups.ts'
import type { Bindings } from '../ffi/bindings.ts'
import { checkGguf } from '../gguf-check.ts'
import { type Model, openModel } from '../model.ts'
import { findLargest } from '../sampling/candidates.ts'

/** Each one costs a pass through the model, and the last of more are seldom right. */
const MAX_DRAFT_TOKENS = 8
/** Over all slots, so that the logits of a large vocabulary find room. */
const MAX_STEP_DRAFT_TOKENS = 64

export interface DraftOutput {
  /** In the order of the runs. */
  readonly proposals: readonly ArrayLike<number>[]
  readonly times: DraftTimes
}

/** @param cache of the model that it drafts for */
export function draftRoomOf(
  maxBatchSize: number,
  cache: { readonly tokens: number; readonly maxSeqLen: number },
): DraftRoom {
  return {
    maxSeqLen: draftSeqLen({ maxBatchSize }, cache),
    maxTokens: MAX_DRAFT_TOKENS,
    maxStepTokens: Math.min(MAX_STEP_DRAFT_TOKENS, MAX_DRAFT_TOKENS * maxBatchSize),
  }
}

/** The runs of a plan with what was proposed for their slots. */
export function withProposals(
  runs: readonly SlotRun[],
  drafts: readonly DraftRun[],
  { proposals }: Pick<DraftOutput, 'proposals'>,
): readonly SlotRun[] {
  const bySlot = new Map(drafts.map(({ slotId }, index) => [slotId, proposals[index] ?? []]))
  return runs.map((run) => withProposal(run, bySlot.get(run.slotId) ?? []))
}

interface DraftWeightsOptions extends DraftModelOptions {
  /** The model that it drafts for, and its id. */
  readonly target: Model
  readonly targetId: string
  readonly onProgress: LoadProgress
}

/** @throws StartError in one sentence when the file, or its vocabulary, does not fit */
export function openDraftWeights(
  api: Bindings,
  { target, targetId, onProgress, ...options }: DraftWeightsOptions,
): Model {
  const { architecture, kvElementsPerToken } = checkGguf(api, options.modelPath)
  const weights = openModel(api, { ...options, architecture, kvElementsPerToken, plan: null }, onProgress)
  try {
    const [model, draft] = [
      { ...target, name: targetId },
      { ...weights, name: options.name },
    ]
    checkDraftVocabulary(api, model, draft)
    for (const { name, isRecurrent } of [model, draft]) {
      if (isRecurrent)
        throw new StartError(`'${name}' cannot be used with a draft model: its cache cannot be cut back.`, 1)
    }
    return weights
  } catch (error) {
    weights.close()
    throw error
  }
}

export class DraftModel {
  readonly #model: Model
  readonly #context: Context
  /** Tokens that both vocabularies have. */
  readonly #sharedTokens: number

  /** Takes the weights over. @throws StartError where there is no room for its KV cache */
  constructor(api: Bindings, model: Model, options: ContextOptions & { readonly targetVocabSize: number }) {
    this.#model = model
    this.#context = Context.open(api, model, options)
    this.#sharedTokens = Math.min(model.vocabSize, options.targetVocabSize)
    this.#context.decode([{ slotId: 0, position: 0, tokenIds: [0, 0], wantsToken: true }])
    this.#context.clear()
  }

  /** Null where there is nothing to compute. */
  execute(drafts: readonly DraftRun[], threads: number): DraftOutput | null {
    if (drafts.length === 0) return null
    for (const { slotId, position } of drafts) {
      if (!this.#context.trimSlot(slotId, position)) {
        throw new InvariantError(`The draft model's cache of slot ${slotId} cannot be cut to ${position}.`)
      }
    }
    const startedMs = performance.now()
    this.#catchUp(
      drafts.filter(({ proposes }) => proposes === 0),
      threads,
    )
    const proposingMs = performance.now()
    const proposals = this.#propose(
      drafts.filter(({ proposes }) => proposes > 0),
      threads,
    )
    return {
      proposals: drafts.map((draft) => proposals.get(draft) ?? []),
      times: { catchUpMs: proposingMs - startedMs, proposalsMs: performance.now() - proposingMs },
    }
  }

  close(): void {
    this.#context.close()
    this.#model.close()
  }

  #catchUp(drafts: readonly DraftRun[], threads: number): void {
    for (const equals of groupByLength(drafts)) {
      this.#context.decode(
        equals.map((draft) => ({ ...draft, wantsToken: false })),
        threads,
      )
    }
  }

  /** One token of each at a time: all want equally many. */
  #propose(drafts: readonly DraftRun[], threads: number): Map<DraftRun, readonly number[]> {
    const proposals = new Map(drafts.map((draft) => [draft, [] as number[]]))
    let runs: SlotRun[] = drafts.map((draft) => ({ ...draft, wantsToken: true }))
    for (let left = drafts[0]?.proposes ?? 0; left > 0; left--) {
      this.#context.decode(runs, threads)
      const logits = this.#context.logits()
      runs = runs.map(({ slotId, position, tokenIds }, row) => {
        const tokenId = this.#likeliest(logits[row])
        const draft = drafts[row]
        if (draft !== undefined) proposals.get(draft)?.push(tokenId)
        return { slotId, position: position + tokenIds.length, tokenIds: [tokenId], wantsToken: true }
      })
    }
    return proposals
  }

  #likeliest(logits: Float32Array | undefined): number {
    if (logits === undefined) throw new InvariantError('The draft model gave no logits.')
    return findLargest(logits.subarray(0, this.#sharedTokens))
  }
}
