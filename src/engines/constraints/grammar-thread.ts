/**
 * One grammar thread, as the engine's thread sees it: what it compiles, which grammars it holds, which texts it matches.
 * The pool decides what goes to which thread.
 */
import { WorkerChannel, workerEntry } from '../../core/concurrency/worker-channel.ts'
import type { Constraint } from '../../protocol/constraint.ts'
import type {
  GrammarAnswer,
  GrammarRequest,
  GrammarThreadData,
  ConstraintProblem,
} from './grammar-messages.ts'
import { createBell, createLane, MaskReader, ring, threadOf } from './mask-lane.ts'
import { threadCpuMs } from './thread-cpu-time.ts'
import type { GrammarVocabulary } from './token-texts.ts'

/** Times its limit that a compilation may last on the wall, where other work keeps the cores. */
const LONGEST_WAIT = 6
const SHORTEST_LOOK_MS = 20
/** On the wall; it takes a fraction of a second where there is a core. */
const LONGEST_START_MS = 60_000

interface Compilation {
  readonly limitMs: number
  readonly startedMs: number
  readonly startedCpuMs: number
}

export interface GrammarThreadOptions {
  readonly vocabulary: GrammarVocabulary
  readonly maxGrammarBytes: number
  readonly onCompiled: (key: string) => void
  readonly onRefused: (key: string, refusal: ConstraintProblem) => void
  /** The thread is gone, and what it compiled and matched with it. @param matcherIds of the texts that have begun */
  readonly onEnd: (matcherIds: readonly number[]) => void
}

export class GrammarThread {
  /** The keys of the grammars it has compiled. */
  readonly keys = new Set<string>()
  /** The key of what it compiles; null while it compiles nothing. */
  compiling: string | null = null
  /** Takes no more texts, so that it can compile. */
  isDraining = false
  /** Whether it was given up because what it compiled took too long. */
  isTooSlow = false
  readonly #options: GrammarThreadOptions
  readonly #channel: WorkerChannel<GrammarRequest, GrammarAnswer>
  readonly #bell = createBell()
  readonly #readers = new Map<number, MaskReader>()
  #timer: NodeJS.Timeout | undefined
  #isEnded = false

  constructor(options: GrammarThreadOptions) {
    const { vocabulary, maxGrammarBytes } = options
    this.#options = options
    this.#channel = new WorkerChannel({
      entry: workerEntry(import.meta.url, 'grammar-worker'),
      name: 'The thread that compiles grammars',
      workerData: { vocabulary, maxGrammarBytes, bell: this.#bell } satisfies GrammarThreadData,
      keepsAlive: false,
      onMessage: (answer) => this.#receive(answer),
      onEnd: () => this.#end(),
    })
  }

  /** Texts that are matched now. */
  get openMatchers(): number {
    return this.#readers.size
  }

  hasOpened(matcherId: number): boolean {
    return this.#readers.has(matcherId)
  }

  /** @param limitMs of a core, after which the thread is given up */
  compile(key: string, constraint: Constraint, limitMs: number): void {
    this.compiling = key
    this.#bound(limitMs)
    this.#post({ type: 'compile', key, constraint })
  }

  /** The start of the thread is no part of its first compilation, unless it hangs. */
  #bound(limitMs: number, sinceMs = performance.now()): void {
    if (threadOf(this.#bell) === 0 && performance.now() - sinceMs < LONGEST_START_MS)
      this.#timer = setTimeout(() => this.#bound(limitMs, sinceMs), SHORTEST_LOOK_MS).unref()
    else
      this.#giveUpAfter(limitMs, { limitMs, startedMs: performance.now(), startedCpuMs: this.#cpuMs() ?? 0 })
  }

  #giveUpAfter(waitMs: number, compilation: Compilation): void {
    const { limitMs, startedMs, startedCpuMs } = compilation
    const look = (): void => {
      const cpuMs = this.#cpuMs()
      const leftMs = cpuMs === null ? 0 : limitMs - (cpuMs - startedCpuMs)
      if (leftMs > 0 && performance.now() - startedMs < LONGEST_WAIT * limitMs)
        return this.#giveUpAfter(leftMs, compilation)
      this.isTooSlow = true
      this.terminate()
    }
    this.#timer = setTimeout(look, Math.max(waitMs, SHORTEST_LOOK_MS)).unref()
  }

  #cpuMs(): number | null {
    return threadCpuMs(threadOf(this.#bell))
  }

  forget(key: string): void {
    this.keys.delete(key)
    this.#post({ type: 'forget', key })
  }

  /** The same reader for a text that is matched already: it goes on where it stands. */
  open(matcherId: number, key: string): MaskReader {
    const opened = this.#readers.get(matcherId)
    if (opened !== undefined) return opened
    const lane = createLane(this.#options.vocabulary.offsets.length - 1)
    const reader = new MaskReader(lane, this.#bell, () => this.terminate())
    this.#readers.set(matcherId, reader)
    this.#post({ type: 'open', matcherId, key, lane })
    return reader
  }

  close(matcherId: number): void {
    if (this.#readers.delete(matcherId)) this.#post({ type: 'close', matcherId })
  }

  /** Tokens were posted: the masks behind them are to be made. */
  wake(): void {
    if (this.openMatchers > 0) ring(this.#bell)
  }

  /** Ends it in the middle of whatever it does. */
  terminate(): void {
    void this.#channel.close()
    this.#end()
  }

  #receive(answer: GrammarAnswer): void {
    if (this.#isEnded) return
    this.compiling = null
    clearTimeout(this.#timer)
    if (answer.type === 'refused') return this.#options.onRefused(answer.key, answer.refusal)
    this.keys.add(answer.key)
    this.#options.onCompiled(answer.key)
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearTimeout(this.#timer)
    for (const reader of this.#readers.values()) reader.lose()
    const matcherIds = [...this.#readers.keys()]
    this.#readers.clear()
    this.#options.onEnd(matcherIds)
  }

  #post(request: GrammarRequest): void {
    if (this.#isEnded) return
    this.#channel.post(request)
    ring(this.#bell)
  }
}
