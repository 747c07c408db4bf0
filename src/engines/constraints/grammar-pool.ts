/**
 * Compiles constraints in threads of their own and hands out the masks of texts that keep to them. Used by the step loop, which
 * prepares and drops, and by the runner, which starts texts.
 *
 *   prepare ──▶ compiled (cached) ──▶ isReady ──▶ start: a mask for each token ──▶ drop
 *
 * A compiled grammar lives in the thread that compiled it, and a thread that compiles makes no masks. So a thread compiles only
 * while it matches no text: there is one thread more than texts that run, up to MAX_THREADS, and with more different grammars
 * than that one of them takes no new texts until it can compile.
 * Accounts take turns: one compiles two grammars at once only where no other waits.
 * Invariant: no mask is ever waited for behind a compilation.
 */
import { InvariantError, ServiceError } from '../../core/errors.ts'
import { FairLines } from '../../core/concurrency/fair-lines.ts'
import { withResolvers } from '../../core/concurrency/with-resolvers.ts'
import type { Constraint } from '../../protocol/constraint.ts'
import type { ConstraintCompiler, PreparedConstraint } from '../../protocol/model-runner.ts'
import { GrammarThread } from './grammar-thread.ts'
import type { MaskReader } from './mask-lane.ts'
import type { GrammarVocabulary } from './token-texts.ts'

const MAX_THREADS = 8
/** Each uses a core, beside those that compute steps. */
const MAX_COMPILING = 2
const COMPILE_MS = 10_000
/** Grammars that no text uses and that are kept for the next one, in each thread. */
const MAX_IDLE_GRAMMARS = 32
const IDLE_THREAD_MS = 5 * 60_000
const MAX_GRAMMAR_BYTES = 256 * 1024 * 1024

/** For messages, until the field that asked for it takes its place. */
const FIELD = 'The constraint'

export interface GrammarPoolOptions {
  readonly vocabulary: GrammarVocabulary
  /** Texts that run at once. */
  readonly maxBatchSize: number
  /** @default ten seconds */
  readonly compileMs?: number
  /** What compiled grammars may add to the memory of a thread. @default 256 MiB */
  readonly maxGrammarBytes?: number
}

interface Entry {
  readonly key: string
  readonly constraint: Constraint
  /** Settles when it has been compiled or refused; for those that are prepared before. */
  readonly compiled: ReturnType<typeof withResolvers<void>>
  /** The account of each text that waits or runs with it. */
  readonly accountIds: Map<number, string>
  /** Where it waits to be compiled: a place for each account that waits for it. */
  readonly places: Map<string, Place>
  /** The account in whose turn it was compiled; empty before. */
  turnOf: string
  /** Holds the compiled grammar; null before. */
  thread: GrammarThread | null
  /** Whether a thread has ended while it compiled this. */
  hasFailedOnce: boolean
  /** Whether its texts cannot go on. */
  isLost: boolean
}

/** In the line of one account, which it leaves with the last of the account's texts. */
interface Place {
  readonly entry: Entry
}

export class GrammarPool implements ConstraintCompiler {
  readonly #options: GrammarPoolOptions
  /** By the constraint's JSON; the least recently used first. */
  readonly #entries = new Map<string, Entry>()
  readonly #matchers = new Map<number, Entry>()
  readonly #threads = new Set<GrammarThread>()
  /** Texts that had begun in a thread that is gone: what came of them cannot be matched again from its middle. */
  readonly #lost = new Set<number>()
  /** What has not been compiled, in lines of accounts. */
  readonly #waiting = new FairLines<Place>()
  readonly #idleTimers = new Map<GrammarThread, NodeJS.Timeout>()
  #nextId = 0

  constructor(options: GrammarPoolOptions) {
    this.#options = options
  }

  prepare(constraint: Constraint, count: number, accountId: string): PreparedConstraint {
    const key = JSON.stringify(constraint)
    const known = this.#entries.get(key)
    const entry = known ?? createEntry(key, constraint)
    if (known === undefined || known.places.size > 0) this.#enter(entry, accountId)
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    const matcherIds = Array.from({ length: count }, () => this.#nextId++)
    for (const matcherId of matcherIds) {
      entry.accountIds.set(matcherId, accountId)
      this.#matchers.set(matcherId, entry)
    }
    this.#compileNext()
    return { matcherIds, compiled: entry.compiled.promise }
  }

  isReady(matcherId: number): boolean {
    const entry = this.#matchers.get(matcherId)
    if (entry === undefined || entry.isLost || this.#lost.has(matcherId)) return true
    const { thread } = entry
    if (thread === null) return false
    // One that lost its slot goes on: a thread that matches it compiles nothing, and would never be free while it waits.
    return thread.hasOpened(matcherId) || (thread.compiling === null && !thread.isDraining)
  }

  /** Also for a text that lost its slot and goes on. Null where the text cannot be matched any more. */
  start(matcherId: number): MaskReader | null {
    const entry = this.#matchers.get(matcherId)
    if (entry?.isLost === true || this.#lost.has(matcherId)) return null
    if (!entry?.thread) throw new InvariantError(`Matcher ${matcherId} is not ready.`)
    return entry.thread.open(matcherId, entry.key)
  }

  /** Has the masks made behind the tokens that were posted, while the next step is computed. */
  wake(): void {
    for (const thread of this.#threads) thread.wake()
  }

  drop(matcherId: number): void {
    const entry = this.#matchers.get(matcherId)
    if (entry === undefined) return
    this.#matchers.delete(matcherId)
    this.#lost.delete(matcherId)
    const accountId = entry.accountIds.get(matcherId) ?? ''
    entry.accountIds.delete(matcherId)
    entry.thread?.close(matcherId)
    const isLastOfAccount = ![...entry.accountIds.values()].includes(accountId)
    if (isLastOfAccount && this.#leave(entry, accountId) && entry.places.size === 0)
      this.#entries.delete(entry.key)
    this.#compileNext()
  }

  close(): void {
    for (const timer of this.#idleTimers.values()) clearTimeout(timer)
    for (const thread of this.#threads) thread.terminate()
  }

  #enter(entry: Entry, accountId: string): void {
    if (entry.places.has(accountId)) return
    const place = { entry }
    entry.places.set(accountId, place)
    this.#waiting.add(accountId, place)
  }

  /** Returns whether it was there. */
  #leave(entry: Entry, accountId: string): boolean {
    const place = entry.places.get(accountId)
    if (place === undefined) return false
    this.#waiting.remove(place)
    return entry.places.delete(accountId)
  }

  #compileNext(): void {
    while (!this.#waiting.isEmpty) {
      const busyAccountIds = this.#busyAccountIds()
      if (busyAccountIds.length >= MAX_COMPILING) return
      const thread = this.#freeThread()
      if (thread === null) return
      const [{ entry }, accountId] = this.#waiting.take(busyAccountIds)
      for (const each of entry.places.keys()) this.#leave(entry, each)
      entry.turnOf = accountId
      this.#compile(entry, thread)
    }
    for (const thread of this.#threads) thread.isDraining = false
  }

  /** One for each grammar that is being compiled, also where its texts have been dropped. */
  #busyAccountIds(): readonly string[] {
    const keys = [...this.#threads].flatMap(({ compiling }) => compiling ?? [])
    return keys.map((key) => this.#entries.get(key)?.turnOf ?? '')
  }

  /** A thread that matches no text; where there is none, one that will soon match none is kept for it. */
  #freeThread(): GrammarThread | null {
    const threads = [...this.#threads].filter(({ compiling }) => compiling === null)
    const free = threads.find(({ openMatchers }) => openMatchers === 0)
    if (free !== undefined) return free
    if (this.#threads.size < Math.min(MAX_THREADS, this.#options.maxBatchSize + 1)) return this.#openThread()
    const [least] = threads.toSorted((a, b) => a.openMatchers - b.openMatchers)
    if (least !== undefined && !threads.some(({ isDraining }) => isDraining)) least.isDraining = true
    return null
  }

  #openThread(): GrammarThread {
    const thread: GrammarThread = new GrammarThread({
      vocabulary: this.#options.vocabulary,
      maxGrammarBytes: this.#options.maxGrammarBytes ?? MAX_GRAMMAR_BYTES,
      onCompiled: (key) => this.#settle(thread, key, null),
      onRefused: (key, { message, field }) => {
        const params = { field: field ?? FIELD, message, ...(field !== null && { part: field }) }
        this.#settle(thread, key, new ServiceError('constraint_invalid', params))
      },
      onEnd: (matcherIds) => this.#lose(thread, matcherIds),
    })
    this.#threads.add(thread)
    return thread
  }

  #compile(entry: Entry, thread: GrammarThread): void {
    clearTimeout(this.#idleTimers.get(thread))
    const { compileMs = COMPILE_MS } = this.#options
    thread.isDraining = false
    thread.compile(entry.key, entry.constraint, compileMs)
  }

  /** @param error null where it was compiled */
  #settle(thread: GrammarThread, key: string, error: ServiceError | null): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined && error === null) {
      entry.thread = thread
      entry.compiled.resolve()
    } else if (entry !== undefined) this.#refuse(entry, error)
    this.#evict(thread)
    this.#closeWhenIdle(thread)
    this.#compileNext()
  }

  #refuse(entry: Entry, error: ServiceError | null): void {
    this.#entries.delete(entry.key)
    entry.isLost = true
    entry.compiled.reject(error)
  }

  /** The least recently used of those that no text uses. */
  #evict(thread: GrammarThread): void {
    const idle = [...this.#entries.values()].filter(
      (entry) => entry.thread === thread && entry.accountIds.size === 0,
    )
    for (const { key } of idle.slice(0, Math.max(0, idle.length - MAX_IDLE_GRAMMARS))) {
      this.#entries.delete(key)
      thread.forget(key)
    }
  }

  /**
   * A thread has ended: it was given up, or its memory was too small. What it compiled is compiled again where texts wait for it;
   * what it was compiling too, once, unless it had the thread to itself.
   */
  #lose(thread: GrammarThread, matcherIds: readonly number[]): void {
    this.#threads.delete(thread)
    clearTimeout(this.#idleTimers.get(thread))
    this.#idleTimers.delete(thread)
    for (const matcherId of matcherIds) this.#lost.add(matcherId)
    const { compiling, keys } = thread
    for (const entry of this.#entries.values()) {
      if (entry.thread === thread) {
        entry.thread = null
        this.#compileAgain(entry)
      } else if (entry.key === compiling) {
        const isItsFault = thread.isTooSlow || entry.hasFailedOnce || keys.size === 0
        entry.hasFailedOnce = true
        if (isItsFault) this.#refuse(entry, new ServiceError('constraint_too_costly', { field: FIELD }))
        else this.#compileAgain(entry)
      }
    }
    this.#compileNext()
  }

  /** For the texts that have not begun; it is forgotten where there are none. */
  #compileAgain(entry: Entry): void {
    const waiting = [...entry.accountIds].filter(([matcherId]) => !this.#lost.has(matcherId))
    if (waiting.length === 0) this.#entries.delete(entry.key)
    for (const [, accountId] of waiting) this.#enter(entry, accountId)
  }

  #closeWhenIdle(thread: GrammarThread): void {
    clearTimeout(this.#idleTimers.get(thread))
    const timer = setTimeout(() => {
      const isUsed = [...this.#entries.values()].some(
        (entry) => entry.thread === thread && entry.accountIds.size > 0,
      )
      if (isUsed || thread.compiling !== null) this.#closeWhenIdle(thread)
      else {
        this.#idleTimers.delete(thread)
        if (this.#threads.size > 1) thread.terminate()
      }
    }, IDLE_THREAD_MS)
    timer.unref()
    this.#idleTimers.set(thread, timer)
  }
}

function createEntry(key: string, constraint: Constraint): Entry {
  const compiled = withResolvers<void>()
  // Those that wait for it see it fail.
  compiled.promise.catch(() => {})
  return {
    ...{ key, constraint, compiled },
    accountIds: new Map(),
    places: new Map(),
    turnOf: '',
    thread: null,
    hasFailedOnce: false,
    isLost: false,
  }
}
