/**
 * Hands the events of a generation to a reader that may take its time: one call at a time, and what has come meanwhile with the next.
 * Used by `generation.ts`.
 */
export type OnEvents<Event> = (events: readonly Event[]) => Promise<void> | void

export class EventOutlet<Event> {
  readonly #onEvents: OnEvents<Event>
  readonly #signal: AbortSignal
  #ready: Event[] = []
  /** Resolves when the call under way has ended. */
  #giving: Promise<void> | null = null
  #failure: { readonly error: unknown } | null = null

  constructor(onEvents: OnEvents<Event>, signal: AbortSignal) {
    this.#onEvents = onEvents
    this.#signal = signal
  }

  /** Whether its reader takes nothing more. */
  get hasFailed(): boolean {
    return this.#failure !== null
  }

  add(event: Event): void {
    this.#ready.push(event)
  }

  /** Hands over what there is, unless the reader is still at what it got before. @throws what it throws at once */
  give(): void {
    if (this.#giving !== null || this.#failure !== null || this.#ready.length === 0) return
    const events = this.#ready
    this.#ready = []
    const reading = this.#onEvents(events)
    if (reading !== undefined) this.#giving = this.#goOnAfter(reading)
  }

  /** Resolves when the reader has everything. @throws what it has thrown; the signal's reason where that has aborted while it read */
  async whenEmpty(): Promise<void> {
    while (this.#giving !== null) await this.#giving
    if (this.#failure !== null) throw this.#failure.error
  }

  async #goOnAfter(reading: Promise<void>): Promise<void> {
    try {
      await reading
      this.#signal.throwIfAborted()
      this.#giving = null
      this.give()
    } catch (error) {
      this.#failure = { error }
      this.#giving = null
    }
  }
}
