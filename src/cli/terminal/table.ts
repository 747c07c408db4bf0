/** Aligned columns with headings for a terminal. Cells may hold untrusted text. */
import { escapeUnseen } from './terminal-text.ts'

const GAP = '  '

/** Shown for an empty cell. */
const ABSENT = '-'

/** Labels and values in two columns. */
export function renderFacts(facts: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...facts.map(([label]) => label.length))
  return facts.map(([label, value]) => `${label.padEnd(width)}  ${escapeUnseen(value) || ABSENT}`)
}

export function renderTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const lines = [columns, ...rows].map((cells) => cells.map(toCell))
  const widths = columns.map((_, column) => Math.max(...lines.map((cells) => cellWidth(cells[column]))))
  return lines.map((cells) =>
    cells
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - cellWidth(cell)))
      .join(GAP)
      .trimEnd(),
  )
}

function toCell(text: string): string {
  return escapeUnseen(text) || ABSENT
}

/** Combining marks take no column; East Asian scripts and emoji take two. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}！-｠]/u
const MARK = /\p{M}/u

/** Columns of the terminal. */
function cellWidth(text = ''): number {
  let width = 0
  for (const character of text) {
    if (!MARK.test(character)) width += WIDE.test(character) ? 2 : 1
  }
  return width
}

/** The day in UTC. */
export function toIsoDay(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 10)
}
