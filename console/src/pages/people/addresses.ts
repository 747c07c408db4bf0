/** E-mail addresses out of what was pasted: lines, commas, semicolons, and recipients as `Ada Lovelace <ada@example.org>`. */
export function readAddresses(text: string): readonly string[] {
  const pieces = text.split(/[\s,;<>"'()]+/).filter((piece) => piece.includes('@'))
  const seen = new Map(
    pieces.map((piece) => [piece.toLowerCase(), piece.replace(/^mailto:/i, '').replace(/\.+$/, '')]),
  )
  return [...new Set(seen.values())]
}
