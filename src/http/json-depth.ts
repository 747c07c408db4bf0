/** How deep a parsed JSON value is nested. Without recursion: its writer chose the depth. */

/** Far more than any request of this interface needs, and far less than recursion elsewhere can bear. */
export const MAX_JSON_DEPTH = 100

/** An array or object that holds none is one level. */
export function isDeeperThan(value: unknown, maxDepth: number): boolean {
  let level = containersIn([value])
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === maxDepth) return true
    level = level.flatMap((container) =>
      containersIn(Array.isArray(container) ? container : Object.values(container)),
    )
  }
  return false
}

function containersIn(values: readonly unknown[]): object[] {
  return values.filter((value): value is object => typeof value === 'object' && value !== null)
}
