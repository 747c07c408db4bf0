/**
 * The terms that the rules are made of, by concept, from `terms/`: one on a line, `*` for any ending. Concepts of English
 * stand by themselves, because its word order tells an order from a narration; `x` ones hold all other languages.
 */
import { readFileSync } from 'node:fs'
import { InvariantError } from '../../core/errors.ts'
import { normalizeTerm } from './normalized-text.ts'

const FILES = ['english', 'latin', 'cyrillic', 'chinese-and-japanese', 'korean', 'arabic', 'hindi', 'labels']
const SECTIONS = [...FILES, 'backwards'].flatMap((name) => readSections(`terms/${name}.txt`))

/** All concepts; a concept's number is its index here. */
export const CONCEPTS: readonly string[] = [...new Set(SECTIONS.map(({ name }) => name))]

const NUMBERS: ReadonlyMap<string, number> = new Map(CONCEPTS.map((concept, number) => [concept, number]))

/** @throws InvariantError for a concept without terms. */
export function conceptNumber(concept: string): number {
  const number = NUMBERS.get(concept)
  if (number === undefined) throw new InvariantError(`The prompt guard has no terms for '${concept}'`)
  return number
}

export interface Term {
  /** Normalized. */
  readonly text: string
  readonly isStem: boolean
  readonly concept: number
}

export function readTerms(): Term[] {
  const terms: Term[] = []
  const add = ({ name, entries }: Section, disguise: (word: string) => string): void => {
    const concept = conceptNumber(name)
    for (const entry of entries) {
      const text = normalizeTerm(disguise(entry.replaceAll('*', '')))
      terms.push({ text, isStem: entry.endsWith('*'), concept })
    }
  }
  for (const section of SECTIONS) add(section, section.note === 'backwards' ? reversed : (word) => word)
  for (const section of SECTIONS) if (section.note === 'also rot13') add(section, rotated)
  return terms
}

function reversed(word: string): string {
  return Array.from(word).toReversed().join('')
}

function rotated(word: string): string {
  return word.replaceAll(/[a-z]/g, (letter) => {
    const code = letter.charCodeAt(0)
    return String.fromCharCode(code < 110 ? code + 13 : code - 13)
  })
}

interface Section {
  readonly name: string
  /** The text after the brackets. */
  readonly note: string
  readonly entries: readonly string[]
}

/**
 * Reads a data file: a section for each line `[name] note`, with one entry on each line below it; lines that begin with `#`
 * are comments.
 * @param file relative to this folder
 */
export function readSections(file: string): readonly Section[] {
  const sections: { name: string; note: string; entries: string[] }[] = []
  for (const line of readFileSync(new URL(file, import.meta.url), 'utf8').split('\n')) {
    if (line.startsWith('[')) {
      const [name = '', note = ''] = line.slice(1).split(/\] ?/)
      sections.push({ name, note, entries: [] })
    } else if (line !== '' && !line.startsWith('#')) sections.at(-1)?.entries.push(line)
  }
  return sections
}
