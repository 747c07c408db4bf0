/** E-mail addresses out of what was pasted: lines, commas, semicolons, and recipients as `Ada Lovelace <ada@example.org>`. */
export function readAddresses(text: string): readonly string[] {
  const pieces = text.split(/[\s,;<>"'()]+/).filter((piece) => piece.includes('@'))
  const seen = new Map(
    pieces.map((piece) => [piece.toLowerCase(), piece.replace(/^mailto:/i, '').replace(/\.+$/, '')]),
  )
  return [...new Set(seen.values())]
}

/** Lines without an address; names beside one are no such lines. */
export function findOthers(text: string): readonly string[] {
  const lines = text.split(/[\n;]+/).map((line) => line.trim())
  return lines.filter((line) => line !== '' && !line.includes('@'))
}

export function describeAddresses(addresses: readonly string[], others: readonly string[]): string {
  if (addresses.length === 0 && others.length === 0)
    return 'Paste them as they are: lines, commas or a list of recipients.'
  const count = addresses.length === 1 ? '1 address' : `${addresses.length} addresses`
  return others.length === 0 ? count : `${count}. Left out: ${others.join(', ')}`
}
