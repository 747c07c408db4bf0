// @ts-check
/**
 * Fails when imports in src/ go in a circle: between files, types included, or between folders that stand side by side.
 * A folder and those inside it are one part, whose files the first circle is for.
 */
import { readSourceImports, resolveImport } from './read-imports.mjs'
import { runCheck } from './run-check.mjs'

/** Where each arrow goes, and an import that it stands for. @typedef {Map<string, Map<string, string>>} Graph */

/**
 * One line for each group of files or folders that reach each other, with the shortest circle in it.
 * @param {string} root
 * @returns {string[]}
 */
export function checkCircles(root) {
  /** @type {Graph} */
  const files = new Map()
  /** @type {Graph} */
  const folders = new Map()
  for (const [file, imports] of readSourceImports(root)) {
    for (const { specifier } of imports.filter((found) => found.specifier.startsWith('.'))) {
      const target = resolveImport(file, specifier)
      const reason = `${file} imports ${target}`
      addArrow(files, { from: file, to: target, reason })
      const [from, to] = siblings(file, target)
      if (from !== undefined && to !== undefined) addArrow(folders, { from, to, reason })
    }
  }
  return [
    ...findCircles(files).map((circle) => `files import in a circle: ${circle.join(' → ')}`),
    ...findCircles(folders).map((circle) => `folders import in a circle: ${explain(circle, folders)}`),
  ]
}

/** @param {Graph} graph @param {{ from: string, to: string, reason: string }} arrow */
function addArrow(graph, { from, to, reason }) {
  const arrows = graph.get(from) ?? new Map()
  graph.set(from, arrows)
  if (!arrows.has(to)) arrows.set(to, reason)
}

/**
 * The folders around two files in the deepest folder that holds both; none when one of them stands there itself.
 * @param {string} file @param {string} target
 * @returns {[from?: string, to?: string]}
 */
function siblings(file, target) {
  const [from, to] = [file.split('/'), target.split('/')]
  let depth = 0
  while (depth < from.length && from[depth] === to[depth]) depth++
  if (depth + 1 >= from.length || depth + 1 >= to.length) return []
  return [from.slice(0, depth + 1).join('/'), to.slice(0, depth + 1).join('/')]
}

/** The shortest circle from each name, without those that share a name with one found before. @param {Graph} graph */
function findCircles(graph) {
  /** @type {string[][]} */
  const circles = []
  for (const start of graph.keys()) {
    const circle = shortestCircle(graph, start)
    if (circle !== null && !circles.some((other) => other.some((name) => circle.includes(name))))
      circles.push(circle)
  }
  return circles
}

/** @param {Graph} graph @param {string} start @returns {string[] | null} */
function shortestCircle(graph, start) {
  /** @type {Map<string, string>} */
  const reachedFrom = new Map()
  const queue = [start]
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    for (const target of graph.get(name)?.keys() ?? []) {
      if (reachedFrom.has(target)) continue
      reachedFrom.set(target, name)
      if (target === start) return tracePath(reachedFrom, start)
      queue.push(target)
    }
  }
  return null
}

/** @param {Map<string, string>} reachedFrom @param {string} start */
function tracePath(reachedFrom, start) {
  const path = [start]
  for (let name = reachedFrom.get(start) ?? start; name !== start; name = reachedFrom.get(name) ?? start)
    path.unshift(name)
  return [start, ...path]
}

/** @param {string[]} circle @param {Graph} graph */
function explain(circle, graph) {
  const reasons = circle.slice(0, -1).map((name, index) => graph.get(name)?.get(circle[index + 1] ?? ''))
  return `${circle.join(' → ')} (${reasons.join('; ')})`
}

runCheck(import.meta.url, checkCircles)
