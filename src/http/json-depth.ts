/** How deep a parsed JSON value is nested. Without recursion: its writer chose the depth. */

/** Far more than any request of this interface needs, and far less than recursion elsewhere can bear. */
export const MAX_JSON_DEPTH = 100

/** An array or object that holds none is one level. */
export function isDeeperThan(value: unknown, maxDepth: number): boolean {
  let level: readonly object[] = isContainer(value) ? [value] : []
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === maxDepth) return true
    const inner: object[] = []
    for (const container of level) {
      for (const item of Array.isArray(container) ? container : Object.values(container)) {
        if (isContainer(item)) inner.push(item)
      }
    }
    level = inner
  }
  return false
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
