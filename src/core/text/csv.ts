/** Comma-separated values (RFC 4180) that a spreadsheet may open: a text is never taken for a formula. */

/** A spreadsheet evaluates what begins with one of these; an apostrophe before it makes it text (OWASP, CSV Injection). */
const FORMULA = /^[=+\-@\t\r\n]/

const NEEDS_QUOTES = /[",\r\n]/

export type CsvCell = string | number | null

/** Every line, the last one too, ends with CRLF. */
export function renderCsv(columns: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [columns, ...rows].map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('')
}

function toCell(value: CsvCell): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
