/**
 * `Symbol.dispose` and `Symbol.asyncDispose` in a context of their own, as Jest and Vitest's `vmThreads` make one for each test file: before
 * Node 24 only the main context has them. They must be Node's own, by which its file handles are closed. To be imported before any class that
 * is disposed of.
 */
import { Readable } from 'node:stream'
import { setTimeout as startTimer } from 'node:timers'

type DisposeSymbols = Partial<Record<'dispose' | 'asyncDispose', symbol>>

export function giveDisposeSymbols(target: DisposeSymbols): void {
  if (target.dispose !== undefined && target.asyncDispose !== undefined) return
  const timer = startTimer(() => {}, 0)
  clearTimeout(timer)
  target.dispose ??= findSymbol(Object.getPrototypeOf(timer) as object, '.dispose')
  target.asyncDispose ??= findSymbol(Readable.prototype, '.asyncDispose')
}

/** Its description has changed with Node's versions, except for its end. */
function findSymbol(prototype: object, end: string): symbol {
  const found = Object.getOwnPropertySymbols(prototype).find(({ description = '' }) =>
    description.endsWith(end),
  )
  return found ?? Symbol(end)
}

giveDisposeSymbols(Symbol)
