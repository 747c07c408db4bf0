import { expect, it, onTestFinished, vi } from 'vitest'
import { SourceCompiler } from './source-compiler.ts'
import { loadXGrammar } from './xgrammar.ts'

interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(this: WasmMemory, pages: number): number
}

/** Bytes of the instance of WebAssembly that has grown last; 0 before. */
function watchMemory(): () => number {
  const { prototype } = (globalThis as unknown as { WebAssembly: { Memory: { prototype: WasmMemory } } })
    .WebAssembly.Memory
  // oxlint-disable-next-line typescript/unbound-method -- called with the memory as `this` below
  const { grow } = prototype
  let bytes = 0
  const spy = vi.spyOn(prototype, 'grow').mockImplementation(function (this: WasmMemory, pages) {
    const before = grow.call(this, pages)
    bytes = this.buffer.byteLength
    return before
  })
  onTestFinished(() => spy.mockRestore())
  return () => bytes
}

it('keeps nothing of a grammar that was disposed', async () => {
  const memoryBytes = watchMemory()
  const xgrammar = loadXGrammar()
  const texts = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code < 33 ? 256 + code : code))
  const compiler = await SourceCompiler.open(xgrammar, { texts, endTokenIds: [0] })
  /** Most of it is rules that nothing names, which are read and not compiled. */
  const rules = Array.from({ length: 2000 }, (_, at) => `rule${at} ::= "${'x'.repeat(60)}" [0-9]+`)
  const compileMany = async (count: number): Promise<number> => {
    for (let number = 0; number < count; number++) {
      const grammar = await compiler.compile({ kind: 'ebnf', text: ['root ::= "a"', ...rules].join('\n') })
      const matcher = await xgrammar.GrammarMatcher.createGrammarMatcher(grammar)
      expect((await matcher.getNextTokenBitmask()).some((word) => word !== 0)).toBe(true)
      matcher.dispose()
      grammar.dispose()
    }
    return memoryBytes()
  }

  const afterFirst = await compileMany(1)

  expect(await compileMany(20)).toBe(afterFirst)
})
