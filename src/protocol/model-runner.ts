/**
 * What the scheduler drives: a model with a fixed number of slots that computes one planned step at a time.
 * Implemented by llama.cpp and by the passthrough model. Called from the step loop only, never concurrently.
 */
import type { ServiceError } from '../core/errors.ts'
import type { NumberedAdapter } from './adapter.ts'
import type { Constraint } from './constraint.ts'
import type { EndRules, Sampling, TextPrompt } from './engine.ts'
import type { TokenLogprob } from './engine-events.ts'
import type { ModelInfo } from './model-info.ts'

/** How a slot and the copies in host memory change before anything is computed, in this order. */
export interface HostMoves {
  /** Copies to forget. */
  readonly drop: readonly number[]
  /** What the slot holds, cut to so many tokens, is copied under this number. */
  readonly save: { readonly entryId: number; readonly tokens: number } | null
  /** This copy takes the place of what the slot holds. */
  readonly restore: { readonly entryId: number; readonly isForgotten: boolean } | null
}

/** A sequence takes a slot, whose former sampling state is forgotten: what the runner must know before it runs. */
export interface SlotStart {
  readonly slotId: number
  /** The whole prompt, cached tokens included: the repetition penalty looks at all of it. */
  readonly promptTokenIds: Int32Array
  /** The text so far of a sequence that lost its slot and goes on: tokens that were sampled for it before. @default none */
  readonly newTokenIds?: Int32Array
  readonly sampling: Sampling
  /** Tokens that may not end the text yet are not to be sampled. @default none */
  readonly endRules?: EndRules
  /** Its tokens come with their log probabilities, and with those of so many of the likeliest. @default without */
  readonly topLogprobs?: number
  /** Of the constraint that its text keeps to; see `ConstraintCompiler`. @default none */
  readonly matcherId?: number
  /** What it is computed with, from its first token on. @default none */
  readonly adapterId?: number
  /** Tokens at the start of the prompt whose KV cache is kept; the rest of the slot's cache is dropped. */
  readonly cachedTokens: number
  /** Another slot to copy those cached tokens from first; null when they are the slot's own. */
  readonly copyFromSlotId: number | null
  /** Comes before the slot is cut. @default none */
  readonly host?: HostMoves
  /** Comes before everything else of this start, to make room for it. @default none */
  readonly cuts?: readonly SlotCut[]
}

/** A slot that nothing runs in is cut to its first tokens, so that others find room in a KV cache that all share. */
export interface SlotCut {
  readonly slotId: number
  readonly tokens: number
  /** Comes before; restores nothing. @default none */
  readonly host?: HostMoves
}

/** Tokens to compute in this step, at consecutive positions from `position`. */
interface TokenRun {
  readonly position: number
  readonly tokenIds: ArrayLike<number>
  /** True when the next token is to be sampled after the last of these. */
  readonly wantsToken: boolean
}

/** Of one slot. */
export interface SlotRun extends TokenRun {
  readonly slotId: number
  /**
   * How many of the last of these are guesses, in a run that wants a token. The runner samples after the last token that
   * is none, and goes on after each guess as long as it is just what was sampled; the others leave its KV cache again.
   * @default 0
   */
  readonly draftTokens?: number
}

/** One token, and guesses of those behind it: what a sequence computes once its prompt is done. */
export function isDecodeRun({ tokenIds, draftTokens = 0 }: SlotRun): boolean {
  return tokenIds.length - draftTokens === 1
}

/** A run that goes on with what the draft model proposed. */
export function withProposal(run: SlotRun, proposal: ArrayLike<number>): SlotRun {
  if (proposal.length === 0) return run
  const tokenIds = [...Array.from(run.tokenIds), ...Array.from(proposal)]
  return { ...run, tokenIds, draftTokens: proposal.length }
}

/**
 * What the draft model computes of one slot's text, and how many tokens it proposes behind it. Its KV cache of the slot is
 * cut to `position` first.
 */
export interface DraftRun {
  readonly slotId: number
  readonly position: number
  readonly tokenIds: ArrayLike<number>
  /**
   * Tokens to propose. Above 0 these are its text up to its last token, which is all of the slot's run in this plan: the
   * runner puts the proposals behind that token, as its `draftTokens`. 0 makes up for what the draft model lacks.
   */
  readonly proposes: number
}

/** Of one beam, which lives in a seat of the beams' own KV cache. */
export interface SeatRun extends TokenRun {
  readonly seat: number
}

/** One step, whole: cuts come first, then starts are applied in order, then the runs are computed together. */
export interface StepPlan {
  /** @default none */
  readonly cuts?: readonly SlotCut[]
  readonly starts: readonly SlotStart[]
  readonly runs: readonly SlotRun[]
  /** What the draft model computes before the runs; those with proposals are equally long and want equally many. @default nothing */
  readonly drafts?: readonly DraftRun[]
  /** What the beams compute in the same step, after the runs; absent where none run. */
  readonly beams?: BeamPlan
}

/** One seat gets the contents of another: both share the cells until their next tokens. */
export interface BeamFork {
  readonly from: number
  readonly to: number
}

/** A group begins; its first seat stands for it from now on. */
export interface BeamStart {
  readonly seat: number
  readonly promptTokenIds: Int32Array
  readonly sampling: Sampling
  /** As for a slot. */
  readonly endRules?: EndRules
  /** As for a slot. */
  readonly adapterId?: number
}

/** What one group computes in a step, and how many candidates it needs after it. */
export interface BeamRun {
  /** The group's first seat. */
  readonly seat: number
  /** Tokens for its seats. */
  readonly runs: readonly SeatRun[]
  /** Its beams, in the order of the runs; empty while the prompt is not computed. */
  readonly beams: readonly { readonly score: number; readonly tokenIds: readonly number[] }[]
  /** How many ways to continue are wanted, over all its beams. */
  readonly candidates: number
}

/**
 * The beams' part of a step. Beams live in a KV cache of their own, whose seats share cells. Drops come first, then
 * starts, then forks, then the runs of all groups together.
 */
export interface BeamPlan {
  readonly drops: readonly number[]
  readonly starts: readonly BeamStart[]
  readonly forks: readonly BeamFork[]
  readonly groups: readonly BeamRun[]
}

/** One way to continue a beam: its index in the group, the token, and the beam's score with it. */
export interface BeamChoice {
  readonly beam: number
  readonly tokenId: number
  readonly score: number
}

/** Of a sampled token, and of the likeliest ones in its place. */
export interface SampledLogprob {
  readonly logprob: number
  /** The likeliest first. */
  readonly top: readonly Omit<TokenLogprob, 'bytes'>[]
}
/** In the place of a token where the sequence cannot go on. */
export const NO_TOKEN = -1

/**
 * The tokens sampled in a step: `tokenIds[i]` belongs to the i-th run that wanted one. Null says that the text
 * ends here without a token for it (a model with an end token samples that instead), and `NO_TOKEN` that none could be
 * chosen, so that the sequence fails.
 */
export interface StepOutput {
  readonly tokenIds: ArrayLike<number | null>
  /** How many guesses of each such run were right; they come before its token. @default none of any */
  readonly acceptedTokens?: ArrayLike<number>
  /** What the draft model proposed, in the order of the plan's `drafts`. @default none of any */
  readonly proposals?: readonly ArrayLike<number>[]
  /** Of each such run the accepted guesses' and then the token's own, where its sequence asked for them. @default none of any */
  readonly logprobs?: readonly (readonly SampledLogprob[])[]
  /** What the copies that this step made in host memory take, where that is less than was reckoned. @default none */
  readonly saved?: readonly SavedCopy[]
  /** How long the runs took; the scheduler sizes later steps by it. */
  readonly times?: StepTimes
  /** For each group that has beams, in the order of the plan: the best first, or in the order of the draws. */
  readonly beamChoices?: readonly (readonly BeamChoice[])[]
}

/** Milliseconds that the runs of a step took, without its starts and its beams. */
export interface StepTimes {
  /** The runs of one token. */
  readonly decodeMs: number
  /** The longer ones. */
  readonly promptMs: number
  /** What the draft model took. @default it computed nothing */
  readonly draft?: DraftTimes
}

export interface DraftTimes {
  /** Its proposals. */
  readonly proposalsMs: number
  /** What it made up for. */
  readonly catchUpMs: number
}

/** What the draft model of a runner may be asked for. */
export interface DraftRoom {
  /** Tokens of a slot's text that its KV cache takes. */
  readonly maxSeqLen: number
  /** Most tokens that it proposes for one slot. */
  readonly maxTokens: number
  /** Most tokens that it proposes in one step, over all slots. */
  readonly maxStepTokens: number
}

/** Capacity for beams, beside the slots. */
export interface BeamRoom {
  /** Beams that run at once, over all groups; also the most one group may have. */
  readonly seats: number
  /** Tokens that all seats together hold. */
  readonly tokens: number
  /** Further seats, numbered after those, for searches of a higher tier beside ones of a lower tier. @default none */
  readonly reserve?: { readonly seats: number; readonly tokens: number }
}

/** A copy that was made in host memory. */
export interface SavedCopy {
  readonly entryId: number
  readonly bytes: number
}

/** What a slot or a copy holds, from position 0, as computed without an adapter. */
export interface StoredPrefix {
  readonly cachedTokenIds: ArrayLike<number>
  /** Account of the sequence that computed it. */
  readonly accountId: string
  /** It can be cut to this many tokens or more, and to none. */
  readonly leastCut: number
}

/** Where the KV cache of a prefix is. */
export type HeldPrefix = StoredPrefix & ({ readonly slotId: number } | { readonly entryId: number })

/** A copy that an earlier process of this model has left on the disk. */
export interface StoredCopy extends StoredPrefix {
  readonly bytes: number
}

/** `lost` is one that cannot be read any more. */
export type CopyState = 'ready' | 'reading' | 'lost'

/** Host memory for what leaves the slots. */
export interface HostRoom {
  readonly maxBytes: number
  /** The most that copies may take now, where they take `heldBytes`: less than `maxBytes` where memory is short. @default maxBytes */
  readonly roomBytes?: (heldBytes: number) => number
  /** The most bytes that a copy of so many tokens takes. */
  readonly copyBytes: (tokens: number) => number
  /** Layers that see so many tokens only are copied without those before; null where there are none. */
  readonly windowTokens: number | null
  /** Copies on the disk, which are read when they are wanted, by the numbers 0, 1, …; the least recently used first. @default none */
  readonly stored?: readonly StoredCopy[]
  /** Whether a copy is in memory; begins to read one that is not. @default always ready */
  readonly fetch?: (entryId: number) => CopyState
}

/** A prompt as it came over a socket. */
export interface PackedPrompt {
  /** UTF-8 of its pieces, one behind the other. */
  readonly text: Uint8Array
  readonly pieceBytes: readonly number[]
  /** As `TextPrompt.addSpecial`. */
  readonly addSpecial: boolean
}

export type LongPrompt = TextPrompt | PackedPrompt

/** One prompt that is tokenized in slices. */
export interface TokenizingJob {
  /** Works for some milliseconds. Gives the tokens, or why there are none; null while there is more to do. @throws when broken */
  advance(): Promise<Int32Array | ServiceError | null>
  /** Forgets it, before it is done; not while `advance` runs. */
  drop(): void
}

/** A constraint that is on its way to being compiled, and the matchers of the texts that keep to it. */
export interface PreparedConstraint {
  readonly matcherIds: readonly number[]
  /** @throws ServiceError `constraint_invalid`, `constraint_too_costly` */
  readonly compiled: Promise<void>
}

/** Compiles what texts must look like, beside the steps. */
export interface ConstraintCompiler {
  /** One matcher for each of `count` sequences; each is dropped by whoever prepared it. Accounts take turns. */
  prepare(constraint: Constraint, count: number, accountId: string): PreparedConstraint
  /** Whether a sequence with this matcher may start in this step; asked once it has been compiled. */
  isReady(matcherId: number): boolean
  /** Its sequence has ended, or will not run. */
  drop(matcherId: number): void
}

/** The adapters that sequences may be computed with. Called between steps only. */
export interface AdapterStore {
  has(adapterId: number): boolean
  /** Does nothing where it is there already. @throws ServiceError `model_not_loadable` */
  load(adapter: NumberedAdapter): void
  /** No sequence with it runs, or will. */
  free(adapterId: number): void
}

/** What both loops ask of their runner: what the model is, and its tokens. */
export interface Runner {
  info(): ModelInfo
  /** Says how many engines on this machine have work, this one included: they share the cores. */
  shareCores?(busyEngines: number): void
  /** Longest text a single token can stand for, in bytes; proves prompts too long without tokenizing them. */
  readonly maxTokenBytes: number
  /** @throws ServiceError `prompt_empty` when there is nothing to begin with. */
  tokenize(prompt: TextPrompt): Int32Array
  /** The same in slices, for a long prompt; holds the thread of the caller for a few milliseconds at most. */
  beginTokenizing(prompt: LongPrompt): TokenizingJob
  close(): void
}

export interface ModelRunner extends Runner {
  /** Most tokens one `execute` takes. */
  readonly maxStepTokens: number
  /** Steps that may be computed in one turn of the event loop: more than one where a turn costs more than a step. @default 1 */
  readonly stepsPerTurn?: number
  /** Whether a slot's KV cache can be cut at any token, so that a prompt's known beginning is kept. */
  readonly canReusePrefixes: boolean
  /** Whether what a slot holds can be continued whole where it cannot be cut. @default false */
  readonly canContinueSlots?: boolean
  /** Whether such a beginning can also be copied from another slot. */
  readonly canCopySlots: boolean
  /** Tokens of one KV cache that all slots share, so that a copy between them takes none; null where each has its own. @default null */
  readonly sharedTokens?: number | null
  /** Null where nothing is kept outside the slots. @default null */
  readonly hostRoom?: HostRoom | null
  /**
   * Writes to the disk what is not there of the prefixes held by then, one after the other, and asks again before each; between two steps only.
   * Ends early where `held` gives null. @default nothing is kept on the disk
   */
  storePrefixes?(held: () => readonly HeldPrefix[] | null): Promise<void>
  /** Most guessed tokens one step takes; needs a KV cache that can be cut. @default 0 */
  readonly maxDraftTokens?: number
  /** Null without a draft model. @default null */
  readonly draftRoom?: DraftRoom | null
  /** The bytes a token stands for in generated text; empty for control tokens. */
  tokenBytes(tokenId: number): Uint8Array
  /** As the vocabulary writes a token: `▁the`, `Ġthe`, `<s>`. */
  tokenText(tokenId: number): string
  /** The text that tokens stand for, control tokens written out, without the space that the tokenizer puts in front of a text. */
  detokenize(tokenIds: ArrayLike<number>): string
  /** The control tokens that these texts name, with the bytes of the texts. @default none */
  specialTokens?(texts: readonly string[]): ReadonlyMap<number, Uint8Array>
  isEndOfGeneration(tokenId: number): boolean
  /** Absent where texts cannot be constrained. */
  readonly constraints?: ConstraintCompiler
  /** Absent where the model takes none. */
  readonly adapters?: AdapterStore
  /** Null where beams change nothing. @default null */
  readonly beamRoom?: BeamRoom | null
  /** Allocates the beams' KV cache on first use, while steps go on; null once it is there. @throws ServiceError when there is no memory for it. */
  prepareBeams?(): Promise<void> | null
  /** @throws when the step cannot be computed; the runner is then broken and its process ends. */
  execute(plan: StepPlan): StepOutput
}
