/**
 * Scans one text for attacks: as given, then what it holds in encoded form. Control tokens and role labels are refused by
 * their shape. Other attacks are what the classifier says, and what matches a rule of words unless the classifier finds the
 * text plainly harmless. Every pass goes over the text once, and no step looks further back or ahead than a fixed number of
 * characters, so the time is linear in the length whatever the text is; `steps` counts the work. The guard has one scanner
 * for short prompts, its thread another.
 */
import { ATTACK_CLASSES, AttackClassifier } from './classifier/attack-classifier.ts'
import { decodePayloads } from './encodings.ts'
import { hasRoleMarkers } from './role-markers.ts'
import { ENCODED, ROLE_LABEL, ROLE_MARKER, sectionRule, type PromptRule } from './rules.ts'
import { WordScanner } from './word-scanner.ts'

export interface ScanOptions {
  /** Whether the text is one turn of a chat and must not contain others. A raw prompt may hold template tokens. */
  readonly isChat: boolean
  /** Names of the model's special tokens (`markerNames`). */
  readonly ownMarkers: ReadonlySet<string>
}

export interface ScanResult {
  readonly rule: PromptRule | null
  readonly steps: number
}

const CLASS_RULES = new Map(ATTACK_CLASSES.map((attackClass) => [attackClass, sectionRule(attackClass)]))

export class PromptScanner {
  readonly #words = new WordScanner()
  readonly #classifier = new AttackClassifier()

  scan(text: string, options: ScanOptions): ScanResult {
    const direct = this.#scanPlain(text, options)
    if (direct.isCertain) return direct
    let { steps } = direct
    for (const payload of decodePayloads(text)) {
      const inner = this.#scanPlain(payload, options)
      steps += inner.steps
      if (inner.rule !== null) return { rule: ENCODED, steps }
    }
    return { rule: direct.rule, steps }
  }

  /** A text that the classifier alone refuses is not certain: what it looks like may come from an encoding. */
  #scanPlain(
    text: string,
    { isChat, ownMarkers }: ScanOptions,
  ): ScanResult & { readonly isCertain: boolean } {
    if (isChat && hasRoleMarkers(text, ownMarkers))
      return { rule: ROLE_MARKER, steps: text.length, isCertain: true }
    const matched = this.#words.scan(text, { isChat })
    const { isAttack, isSuspicious, attackClass, steps } = this.#classifier.classify(text)
    const isCertain = matched !== null && (isSuspicious || matched.id === ROLE_LABEL)
    const classified = isAttack ? (CLASS_RULES.get(attackClass) ?? null) : null
    return {
      rule: isCertain ? matched : classified,
      steps: steps + this.#words.steps + text.length,
      isCertain,
    }
  }
}
