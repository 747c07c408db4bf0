/**
 * Decides which prompts are attacks on the instructions that a model was given. Short prompts are scanned in place, in
 * milliseconds at most; long ones in a thread (docs/security.md, Prompt guard).
 */
import { markerNames } from './role-markers.ts'
import { PromptScanner } from './prompt-scanner.ts'
import { type PromptCheck, type PromptGuardOptions, type PromptVerdict, ScanThread } from './scan-thread.ts'

/** More than this in one request is scanned in the thread. */
export const MAX_BYTES_AT_ONCE = 32_768

export class PromptGuard {
  readonly #scanner = new PromptScanner()
  readonly #thread: ScanThread
  /** Names in the tokens of each model, by its list of them. */
  readonly #markersOf = new WeakMap<readonly string[], ReadonlySet<string>>()

  constructor(options: PromptGuardOptions = {}) {
    this.#thread = new ScanThread(options)
  }

  /** One verdict for each text. @throws what `ScanThread.scan` throws. */
  async check(check: PromptCheck, signal: AbortSignal): Promise<readonly PromptVerdict[]> {
    const { texts, isChat, specialTexts } = check
    if (isLong(texts)) return await this.#thread.scan(check, signal)
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
