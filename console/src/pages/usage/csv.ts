/** One file of several: the first line of each names the same columns. */
export const joinCsv = (parts: readonly string[]) =>
  parts.map((part, index) => (index === 0 ? part : part.slice(part.indexOf('\n') + 1))).join('')
