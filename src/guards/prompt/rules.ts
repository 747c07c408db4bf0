/** The rules of the prompt guard: rules of words, read from `rules.txt`, which documents its syntax, and two rules of shapes. */
import { InvariantError } from '../../core/errors.ts'
import { conceptNumber, readSections } from './terms.ts'

export interface PromptRule {
  readonly id: string
  /** One sentence for the docs and for people who read the metrics. */
  readonly reason: string
}

/** Of control tokens, by shape (`role-markers.ts`). */
export const ROLE_MARKER: PromptRule = {
  id: 'role-marker',
  reason: "Closes its own turn and opens another with a model's control tokens.",
}

/** The id of the rules of words that are about a turn's label. */
export const ROLE_LABEL = 'role-label'

/** Of text that was decoded and broke another rule (`encodings.ts`). */
export const ENCODED: PromptRule = {
  id: 'encoded-payload',
  reason: 'Hides in an encoding what breaks another rule.',
}

const SECTIONS = readSections('rules.txt')

/** The rule of a section of `rules.txt`, for what the classifier finds. */
export function sectionRule(id: string): PromptRule {
  const section = SECTIONS.find(({ name }) => name === id)
  if (section === undefined) throw new InvariantError(`rules.txt has no section '${id}'`)
  return { id, reason: section.note }
}

interface WordRule {
  readonly rule: PromptRule
  /** A concept that must not stand between the first word and the last. */
  readonly unless: number | null
}

/** Concepts that must follow one another. */
export interface SequenceRule extends WordRule {
  readonly sequence: readonly {
    readonly any: readonly number[]
    /** Most words between this and the step before. */
    readonly within: number
  }[]
  /** Only where the text is one turn among others. */
  readonly isChatOnly: boolean
}

/** Concepts that must stand together in any order. */
export interface TogetherRule extends WordRule {
  readonly together: readonly number[]
  readonly within: number
}

/** The rules of words, each kind in the order of the file. */
export function readRules(): { sequences: readonly SequenceRule[]; together: readonly TogetherRule[] } {
  const sequences: SequenceRule[] = []
  const together: TogetherRule[] = []
  for (const { name: id, note: reason, entries } of SECTIONS) {
    for (const entry of entries) {
      const { within, words = '', unless, chat } = ENTRY.exec(entry)?.groups ?? {}
      const rule = { rule: { id, reason }, unless: unless === undefined ? null : conceptNumber(unless) }
      if (within === undefined)
        sequences.push({ ...rule, sequence: readSteps(words), isChatOnly: chat !== undefined })
      else together.push({ ...rule, together: words.split(' ').map(conceptNumber), within: Number(within) })
    }
  }
  return { sequences, together }
}

const ENTRY = /^(?:within (?<within>\d+): )?(?<words>.+?)(?:, unless (?<unless>\w+))?(?<chat>, in chats)?$/

/** Of `ignore|lift ..5 prior`: the first step, then numbers of words and steps alternate. */
function readSteps(words: string): SequenceRule['sequence'] {
  const parts = ['0', ...words.split(/ \.\.(\d+) /)]
  return parts.flatMap((part, index) =>
    index % 2 === 0 ? [] : [{ any: part.split('|').map(conceptNumber), within: Number(parts[index - 1]) }],
  )
}
