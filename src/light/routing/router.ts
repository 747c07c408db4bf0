/**
 * Finds the route of a request: one tree of path segments for each method. A literal segment wins over a capture,
 * from left to right; where the literal leads nowhere the capture is tried. HEAD is answered by the route of GET.
 */
import { StartError } from '../../core/errors.ts'
import { parsePattern, type PatternSegment } from './path-pattern.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export type Method = (typeof METHODS)[number]

interface Route<Target> {
  readonly target: Target
  readonly pattern: readonly PatternSegment[]
}

interface Branch<Target> {
  readonly literals: Map<string, Branch<Target>>
  capture: Branch<Target> | null
  route: Route<Target> | null
}

export interface RouteMatch<Target> {
  readonly target: Target
  readonly params: Readonly<Record<string, string>>
}

/** The routes of one method. */
interface Tree<Target> {
  readonly root: Branch<Target>
  /** Those without captures by their whole paths: most requests are for one of them, as it is written. */
  readonly literals: Map<string, RouteMatch<Target>>
}

export class Router<Target> {
  readonly #trees = new Map<string, Tree<Target>>(
    METHODS.map((method) => [method, { root: createBranch(), literals: new Map() }]),
  )

  /** @throws StartError for an unknown method, a malformed pattern, or one that is there already. */
  add(method: Method, pattern: string, target: Target): void {
    const tree = this.#trees.get(method)
    if (tree === undefined) {
      throw new StartError(`A route's method must be one of ${METHODS.join(', ')}, but was '${method}'.`, 2)
    }
    const segments = parsePattern(pattern)
    let branch = tree.root
    for (const segment of segments) branch = growBranch(branch, segment)
    if (branch.route !== null) throw new StartError(`There is already a route ${method} ${pattern}.`, 2)
    branch.route = { target, pattern: segments }
    if (segments.every(({ type }) => type === 'literal')) {
      tree.literals.set(pattern, { target, params: Object.freeze({}) })
    }
  }

  /** The route without captures that has exactly this path, which is not decoded; null leaves `find` to say. */
  findLiteral(method: string, path: string): RouteMatch<Target> | null {
    return this.#treeOf(method)?.literals.get(path) ?? null
  }

  /** Null when no route of this method has the path. */
  find(method: string, segments: readonly string[]): RouteMatch<Target> | null {
    const tree = this.#treeOf(method)
    const route = tree === undefined ? null : findRoute(tree.root, segments)
    return route === null ? null : { target: route.target, params: captureParams(route.pattern, segments) }
  }

  #treeOf(method: string): Tree<Target> | undefined {
    return this.#trees.get(method === 'HEAD' ? 'GET' : method)
  }
}

function createBranch<Target>(): Branch<Target> {
  return { literals: new Map(), capture: null, route: null }
}

function growBranch<Target>(branch: Branch<Target>, segment: PatternSegment): Branch<Target> {
  if (segment.type === 'capture') return (branch.capture ??= createBranch())
  const grown = branch.literals.get(segment.text) ?? createBranch<Target>()
  branch.literals.set(segment.text, grown)
  return grown
}

function findRoute<Target>(
  branch: Branch<Target>,
  segments: readonly string[],
  depth = 0,
): Route<Target> | null {
  const segment = segments[depth]
  if (segment === undefined) return branch.route
  const literal = branch.literals.get(segment)
  const route = literal === undefined ? null : findRoute(literal, segments, depth + 1)
  if (route !== null || branch.capture === null || segment === '') return route
  return findRoute(branch.capture, segments, depth + 1)
}

function captureParams(
  pattern: readonly PatternSegment[],
  segments: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pattern.flatMap((segment, index) =>
      segment.type === 'capture' ? [[segment.name, segments[index] ?? '']] : [],
    ),
  )
}
