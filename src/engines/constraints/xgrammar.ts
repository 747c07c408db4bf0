/**
 * Loads XGrammar, the compiler and matcher of grammars that vLLM and SGLang use. Its package holds one UMD script, marked
 * as an ES module, with the WebAssembly inside, so its text is run here as CommonJS. Called in grammar threads only.
 * Each call makes an instance with memory of its own: a failed check in the C++ code aborts its instance, which is then
 * not to be used again.
 */
import { readFileSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import type Package from '@mlc-ai/web-xgrammar'

export type XGrammar = typeof Package

/** What Node calls for each CommonJS file. */
interface CompilingModule {
  readonly exports: unknown
  _compile(text: string, fileName: string): void
}

const require = createRequire(import.meta.url)

export function loadXGrammar(): XGrammar {
  const fileName = require.resolve('@mlc-ai/web-xgrammar')
  // Under a name of its own: the package says that its files are ES modules.
  const module = new Module(`${fileName}.cjs`) as unknown as CompilingModule
  module._compile(readFileSync(fileName, 'utf8'), `${fileName}.cjs`)
  return module.exports as XGrammar
}

/** `[FATAL] /path/of/the/file.cc:123: What is wrong` */
const LOGGED = /^\[(?:FATAL|ERROR)\] \S+: ([^]*)$/

/** Keeps the last error that the C++ code of this thread writes, and drops its warnings. */
export function captureErrors(): { take(): string | null } {
  let last: string | null = null
  const capture = (...parts: readonly unknown[]): void => {
    last = LOGGED.exec(parts.map(String).join(' '))?.[1] ?? last
  }
  Object.assign(console, { error: capture, warn: capture })
  return {
    take: () => {
      const taken = last
      last = null
      return taken
    },
  }
}

const PAGE_BYTES = 65_536

interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(this: WasmMemory, pages: number): number
}

/** Not among the types of Node. */
interface WithWebAssembly {
  readonly WebAssembly: { readonly Memory: { readonly prototype: WasmMemory } }
}

/**
 * Bounds the WebAssembly memory of this thread; what asks for more fails. Emscripten grows it through this function.
 */
export function boundMemory(): MemoryBound {
  const bound = { limit: Number.POSITIVE_INFINITY, largestBytes: 0 }
  const { prototype } = (globalThis as unknown as WithWebAssembly).WebAssembly.Memory
  // oxlint-disable-next-line typescript/unbound-method -- called with the memory as `this` below
  const { grow } = prototype
  prototype.grow = function (pages: number): number {
    const bytes = this.buffer.byteLength + pages * PAGE_BYTES
    if (bytes > bound.limit) throw new RangeError(`more than ${bound.limit} bytes of memory`)
    bound.largestBytes = Math.max(bound.largestBytes, bytes)
    return grow.call(this, pages)
  }
  return bound
}

interface MemoryBound {
  /** Of each instance, in bytes. */
  limit: number
  /** What the largest instance has. */
  readonly largestBytes: number
}
