/** Python's `strftime` in its own locale, for the dates that chat templates put into prompts. */

const DAY_MS = 86_400_000

const CODES: Readonly<Record<string, (date: Date) => string>> = {
  a: (date) => dayName(date).slice(0, 3),
  A: dayName,
  b: (date) => monthName(date).slice(0, 3),
  B: monthName,
  d: (date) => padded(date.getDate()),
  H: (date) => padded(date.getHours()),
  I: (date) => padded(date.getHours() % 12 || 12),
  j: (date) => padded(dayOfYear(date), 3),
  m: (date) => padded(date.getMonth() + 1),
  M: (date) => padded(date.getMinutes()),
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  S: (date) => padded(date.getSeconds()),
  y: (date) => padded(date.getFullYear() % 100),
  Y: (date) => String(date.getFullYear()),
  '%': () => '%',
}

/** `%-d` is without leading zeros. What is not known stays as it is. */
export function strftime(date: Date, format: string): string {
  return format.replaceAll(/%(?<flag>-?)(?<code>[a-zA-Z%])/g, (written, flag: string, code: string) => {
    const text = CODES[code]?.(date) ?? written
    return flag === '-' ? text.replace(/^0+(?=\d)/, '') : text
  })
}

function dayName(date: Date): string {
  return date.toLocaleDateString('en-US', { weekday: 'long' })
}

function monthName(date: Date): string {
  return date.toLocaleDateString('en-US', { month: 'long' })
}

function padded(value: number, width = 2): string {
  return String(value).padStart(width, '0')
}

function dayOfYear(date: Date): number {
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()]
  return (Date.UTC(year, month, day) - Date.UTC(year, 0, 1)) / DAY_MS + 1
}
