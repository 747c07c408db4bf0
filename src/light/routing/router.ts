/**
 * Finds the route of a request: one tree of path segments for each method. A literal segment wins over a capture,
 * from left to right; where the literal leads nowhere the capture is tried. HEAD is answered by the route of GET.
 */
import { showValue, StartError } from '../../core/errors.ts'
import { toSegments } from '../../net/requests/request-target.ts'
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
  /** Of the path, percent-decoded. */
  readonly segments: readonly string[]
}

/** The routes of one method. */
interface Tree<Target> {
  readonly root: Branch<Target>
  /** Routes without captures by their whole path, which most requests match literally. */
  readonly literals: Map<string, RouteMatch<Target>>
}

export class Router<Target> {
  readonly #trees = new Map<string, Tree<Target>>(
    METHODS.map((method) => [method, { root: createBranch(), literals: new Map() }]),
  )

  /** @throws StartError for an unknown method, a malformed pattern, or a duplicate. */
  add(method: Method, pattern: string, target: Target): void {
    const tree = this.#trees.get(method)
    if (tree === undefined) {
      const methods = METHODS.join(', ')
      throw new StartError(`A route's method must be one of ${methods}, but was ${showValue(method)}.`, 2)
    }
    const segments = parsePattern(pattern)
    let branch = tree.root
    for (const segment of segments) branch = growBranch(branch, segment)
    if (branch.route !== null) throw new StartError(`There is already a route ${method} ${pattern}.`, 2)
    branch.route = { target, pattern: segments }
    const texts = segments.flatMap((segment) => (segment.type === 'literal' ? [segment.text] : []))
    if (texts.length < segments.length) return
    tree.literals.set(pattern, { target, params: Object.freeze({}), segments: texts })
  }

  /**
   * Null when no route of this method has the path.
   * @throws ServiceError `malformed_request` when the path is not valid percent-encoding.
   */
  find(method: string, path: string): RouteMatch<Target> | null {
    const tree = this.#trees.get(method === 'HEAD' ? 'GET' : method)
    const literal = tree?.literals.get(path)
    if (literal !== undefined) return literal
    const segments = toSegments(path)
    return tree === undefined ? null : findMatch(tree.root, segments)
  }

  /** Paths of this method's routes without captures. */
  literalPaths(method: string): readonly string[] {
    return [...(this.#trees.get(method)?.literals.keys() ?? [])]
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

function findMatch<Target>(root: Branch<Target>, segments: readonly string[]): RouteMatch<Target> | null {
  const route = findRoute(root, segments)
  if (route === null) return null
  const captured = route.pattern.flatMap((segment, index) =>
    segment.type === 'capture' ? [[segment.name, segments[index] ?? '']] : [],
  )
  return { target: route.target, params: Object.fromEntries(captured), segments }
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
