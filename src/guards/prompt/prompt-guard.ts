/**
 * Decides which prompts are attacks on the instructions that a model was given. Short prompts are scanned in place, in
 * microseconds; long ones in a thread (docs/security.md, Prompt guard).
 */
import { markerNames } from './role-markers.ts'
import type { PromptRule } from './rules.ts'
import { PromptScanner } from './prompt-scanner.ts'
import { ScanThread } from './scan-thread.ts'

export interface PromptGuardOptions {
  /** Requests with long prompts that may wait. @default 64 */
  readonly maxWaiting?: number
  readonly workerUrl?: URL
}

export interface PromptCheck {
  readonly texts: readonly string[]
  /** Whether the texts are turns of a chat, which must not look like several. A prompt of one's own may hold any. */
  readonly isChat: boolean
  /** The model's special tokens. */
  readonly specialTexts: readonly string[]
}

/** The rule that refuses a text; null lets it pass. */
export type PromptVerdict = PromptRule | null

/** More than this in one request is scanned in the thread. */
export const MAX_BYTES_AT_ONCE = 65_536
const MAX_WAITING = 64

export class PromptGuard {
  readonly #scanner = new PromptScanner()
  readonly #thread: ScanThread
  /** Names in the tokens of each model, by its list of them. */
  readonly #markersOf = new WeakMap<readonly string[], ReadonlySet<string>>()

  constructor({ maxWaiting = MAX_WAITING, workerUrl }: PromptGuardOptions = {}) {
    this.#thread = new ScanThread({ maxWaiting, ...(workerUrl !== undefined && { workerUrl }) })
  }

  /** One verdict for each text. @throws what `ScanThread.scan` throws. */
  async check(check: PromptCheck, signal: AbortSignal): Promise<readonly PromptVerdict[]> {
    const { texts, isChat, specialTexts } = check
    if (isLong(texts)) return await this.#thread.scan({ texts, isChat, specialTexts }, signal)
    const ownMarkers = this.#ownMarkers(specialTexts)
    return texts.map((text) => this.#scanner.scan(text, { isChat, ownMarkers }).rule)
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  #ownMarkers(specialTexts: readonly string[]): ReadonlySet<string> {
    const known = this.#markersOf.get(specialTexts)
    if (known !== undefined) return known
    const names = markerNames(specialTexts)
    this.#markersOf.set(specialTexts, names)
    return names
  }
}

function isLong(texts: readonly string[]): boolean {
  let bytes = 0
  for (const text of texts) {
    // Its length is never more than its bytes.
    if (bytes + text.length > MAX_BYTES_AT_ONCE) return true
    bytes += Buffer.byteLength(text)
  }
  return bytes > MAX_BYTES_AT_ONCE
}
