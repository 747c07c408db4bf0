/**
 * Compiles grammars for one vocabulary, and frees what XGrammar's package makes on the way and keeps: its objects are memory of the
 * WebAssembly instance, which no collection of garbage sees.
 */
import type { CompiledGrammar, GrammarCompiler, TokenizerInfo } from '@mlc-ai/web-xgrammar'
import type { GrammarSource } from './grammar-source.ts'
import type { XGrammar } from './xgrammar.ts'

interface TokenTexts {
  /** By their ids, in the characters that stand for bytes. */
  readonly texts: string[]
  readonly endTokenIds: readonly number[]
}

export class SourceCompiler {
  readonly #xgrammar: XGrammar
  readonly #compiler: GrammarCompiler
  readonly #info: TokenizerInfo

  private constructor(xgrammar: XGrammar, compiler: GrammarCompiler, info: TokenizerInfo) {
    this.#xgrammar = xgrammar
    this.#compiler = compiler
    this.#info = info
  }

  static async open(xgrammar: XGrammar, { texts, endTokenIds }: TokenTexts): Promise<SourceCompiler> {
    const { GrammarCompiler, TokenizerInfo } = xgrammar
    const ends = [...endTokenIds]
    const info = await TokenizerInfo.createTokenizerInfo(texts, 'byte_level', false, texts.length, ends)
    return new SourceCompiler(xgrammar, await GrammarCompiler.createGrammarCompiler(info, false), info)
  }

  /** The caller disposes it. @throws where the instance fails, which is not to be used again */
  async compile(source: GrammarSource): Promise<CompiledGrammar> {
    const compiled = await this.#compile(source)
    // Each matcher asks for the vocabulary, and would be given an object that nobody disposes.
    return Object.assign(compiled, { tokenizerInfo: () => this.#info })
  }

  async #compile({ kind, text }: GrammarSource): Promise<CompiledGrammar> {
    if (kind === 'structural-tag') return await this.#compiler.compileStructuralTag(text)
    // Of a text it would make this itself, and not dispose it.
    const grammar = await this.#xgrammar.Grammar.fromEBNF(text)
    try {
      return await this.#compiler.compileGrammar(grammar)
    } finally {
      grammar.dispose()
    }
  }
}
