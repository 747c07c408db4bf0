/**
 * Reads a data file of the prompt guard: a section for each line `[name] note`, with one entry on each line below it;
 * lines that begin with `#` are comments. Synchronous, because it runs when a module is loaded.
 */
import { readFileSync } from 'node:fs'

export interface Section {
  readonly name: string
  /** What stands behind the brackets. */
  readonly note: string
  readonly entries: readonly string[]
}

/** @param file relative to this folder */
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
