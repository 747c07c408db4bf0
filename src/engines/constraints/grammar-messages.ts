/** What an engine's thread and a grammar thread say to each other. Types only. */
import type { Constraint } from '../../protocol/constraint.ts'
import type { GrammarVocabulary } from './token-texts.ts'

/** The `workerData` of a grammar thread. */
export interface GrammarThreadData {
  readonly vocabulary: GrammarVocabulary
  /** What compiled grammars may add to the memory of the vocabulary. */
  readonly maxGrammarBytes: number
  /** Waited on by the thread; see `ring`. */
  readonly bell: Int32Array
}

export type GrammarRequest =
  | { readonly type: 'compile'; readonly key: string; readonly constraint: Constraint }
  | { readonly type: 'forget'; readonly key: string }
  /** A matcher of a compiled grammar, whose masks go to `lane`. */
  | {
      readonly type: 'open'
      readonly matcherId: number
      readonly key: string
      readonly lane: SharedArrayBuffer
    }
  | { readonly type: 'close'; readonly matcherId: number }

export type GrammarAnswer =
  | { readonly type: 'compiled'; readonly key: string }
  | { readonly type: 'refused'; readonly key: string; readonly refusal: ConstraintProblem }

/** What is wrong with a constraint. */
export interface ConstraintProblem {
  /** One clause. */
  readonly message: string
  /** The body's name for the part that it is about; null for what asked for the constraint. */
  readonly field: string | null
}
