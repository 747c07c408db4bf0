/**
 * Scans one text for attacks: as given, then what it holds in encoded form. Every pass goes over the text once, and no
 * step looks further back or ahead than a fixed number of characters, so the time is linear in the length whatever the
 * text is; `steps` counts the work. The guard has one for short prompts, its thread another.
 */
import { decodePayloads } from './encodings.ts'
import { hasRoleMarkers } from './role-markers.ts'
import { ENCODED, ROLE_MARKER, type PromptRule } from './rules.ts'
import { WordScanner } from './word-scanner.ts'

export interface ScanOptions {
  /** Whether the text is a turn of a chat, which must not look like several. A prompt of one's own may hold any. */
  readonly isChat: boolean
  /** Names of the model's special tokens (`markerNames`). */
  readonly ownMarkers: ReadonlySet<string>
}

export interface ScanResult {
  readonly rule: PromptRule | null
  readonly steps: number
}

export class PromptScanner {
  readonly #words = new WordScanner()

  scan(text: string, options: ScanOptions): ScanResult {
    const direct = this.#scanPlain(text, options)
    if (direct.rule !== null) return direct
    let { steps } = direct
    for (const payload of decodePayloads(text)) {
      const inner = this.#scanPlain(payload, options)
      steps += inner.steps
      if (inner.rule !== null) return { rule: ENCODED, steps }
    }
    return { rule: null, steps }
  }

  #scanPlain(text: string, { isChat, ownMarkers }: ScanOptions): ScanResult {
    if (isChat && hasRoleMarkers(text, ownMarkers)) return { rule: ROLE_MARKER, steps: text.length }
    const rule = this.#words.scan(text, { isChat })
    return { rule, steps: this.#words.steps + text.length }
  }
}
