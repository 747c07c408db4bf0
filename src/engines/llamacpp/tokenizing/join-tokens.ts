/** The tokens of a text that was tokenized in parts, in memory of their own. */
export function joinTokens(parts: readonly Int32Array[]): Int32Array {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only.slice()
  const whole = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}
