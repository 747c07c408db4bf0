/** How deep a parsed JSON value is nested. Its writer chose the depth, so the descent ends at the bound. */

/** Far more than any request of this interface needs, and far less than recursion can bear. */
export const MAX_JSON_DEPTH = 100

/** An array or object that holds none is one level. */
export function isDeeperThan(value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (maxDepth === 0) return true
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  return inner.some((item) => isDeeperThan(item, maxDepth - 1))
}
