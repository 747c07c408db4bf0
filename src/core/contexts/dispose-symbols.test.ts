import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { giveDisposeSymbols } from './dispose-symbols.ts'

it('gives another context the symbols by which Node’s objects are disposed of', () => {
  const target = runInNewContext('Symbol') as SymbolConstructor

  giveDisposeSymbols(target)

  expect(target.dispose).toBe(Symbol.dispose)
  expect(target.asyncDispose).toBe(Symbol.asyncDispose)
})
