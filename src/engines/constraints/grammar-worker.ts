/**
 * The program of a grammar thread: compiles constraints for one vocabulary and matches texts with them. It serves messages
 * and lanes in one loop that sleeps on the doorbell, so that a mask costs no turn of an event loop.
 * A constraint is read by an instance of XGrammar that knows no vocabulary first, since what it refuses aborts it; only what
 * that has accepted reaches the instance that holds compiled grammars.
 */
import os from 'node:os'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { CompiledGrammar, GrammarMatcher } from '@mlc-ai/web-xgrammar'
import { InvariantError } from '../../core/errors.ts'
import type { Constraint } from '../../protocol/constraint.ts'
import type {
  ConstraintProblem,
  GrammarAnswer,
  GrammarRequest,
  GrammarThreadData,
} from './grammar-messages.ts'
import { SourceCompiler } from './source-compiler.ts'
import { separateAlternatives } from './alternatives/separate-alternatives.ts'
import { type GrammarSource, grammarSourceOf } from './grammar-source.ts'
import { answerBell, endBell, MaskWriter, ringsOf, sleep } from './mask-lane.ts'
import { SchemaError } from './schema/schema-error.ts'
import { ownThreadId } from './thread-cpu-time.ts'
import { byteLevelTexts } from './token-texts.ts'
import { ValidUtf8 } from './valid-utf8.ts'
import { boundMemory, captureErrors, loadXGrammar, type XGrammar } from './xgrammar.ts'

const NONE_SHOWN: readonly string[] = []
/** So that the threads that compute a step, which wait for each other, do not wait for this one. */
const PRIORITY = 10

// Of this thread: elsewhere than on Linux it would be that of the process.
if (process.platform === 'linux') os.setPriority(0, PRIORITY)

interface OpenMatcher {
  readonly matcher: GrammarMatcher
  readonly writer: MaskWriter
}

const { vocabulary, maxGrammarBytes, bell } = workerData as GrammarThreadData
const port = parentPort ?? missingPort()
const errors = captureErrors()
const memory = boundMemory()
const xgrammar = loadXGrammar()
/** By the control tokens that stand for their text. */
const compilers = new Map<string, SourceCompiler>()
let checker: XGrammar | null = null
const compiled = new Map<string, CompiledGrammar>()
const matchers = new Map<number, OpenMatcher>()
const validUtf8 = new ValidUtf8(vocabulary)

memory.limit = maxGrammarBytes
await compilerFor(NONE_SHOWN)
answerBell(bell, ownThreadId())
try {
  await serve()
} finally {
  endBell(bell)
}

/** Never returns: `await` in here only ever waits for microtasks. */
async function serve(): Promise<never> {
  for (;;) {
    const heard = ringsOf(bell)
    for (const { writer } of matchers.values()) await writer.answer()
    for (;;) {
      const received = receiveMessageOnPort(port)
      if (received === undefined) break
      await act(received.message as GrammarRequest)
    }
    sleep(bell, heard)
  }
}

async function act(request: GrammarRequest): Promise<void> {
  switch (request.type) {
    case 'compile':
      return tell(await compile(request.key, request.constraint))
    case 'forget':
      compiled.get(request.key)?.dispose()
      compiled.delete(request.key)
      return
    case 'open':
      return await open(request)
    case 'close':
      matchers.get(request.matcherId)?.matcher.dispose()
      matchers.delete(request.matcherId)
  }
}

/** A model's format of calls and of reasoning shows the same tokens for each chat, so there are few of them. */
async function compilerFor(shownSpecialTexts: readonly string[]): Promise<SourceCompiler> {
  const key = JSON.stringify(shownSpecialTexts)
  const known = compilers.get(key)
  if (known !== undefined) return known
  const { largestBytes, limit } = memory
  memory.limit = Number.POSITIVE_INFINITY
  const compiler = await openCompiler(shownSpecialTexts)
  memory.limit = limit + memory.largestBytes - largestBytes
  compilers.set(key, compiler)
  return compiler
}

async function openCompiler(shownSpecialTexts: readonly string[]): Promise<SourceCompiler> {
  const texts = [...byteLevelTexts(vocabulary, shownSpecialTexts)]
  return await SourceCompiler.open(xgrammar, { texts, endTokenIds: vocabulary.endTokenIds })
}

/** @throws where the instance that holds the compiled grammars fails, which is not to be used again */
async function compile(key: string, constraint: Constraint): Promise<GrammarAnswer> {
  const source = await check(constraint)
  if ('message' in source) return { type: 'refused', key, refusal: source }
  const shownSpecialTexts = constraint.kind === 'structural-tag' ? constraint.shownSpecialTexts : undefined
  const compiler = await compilerFor(shownSpecialTexts ?? NONE_SHOWN)
  const grammar = await compiler.compile(source)
  if (!(await allowsText(grammar))) {
    grammar.dispose()
    return { type: 'refused', key, refusal: { message: 'it allows no text', field: null } }
  }
  compiled.set(key, grammar)
  return { type: 'compiled', key }
}

/** The constraint as XGrammar takes it, or what is wrong with it. @throws where it is too large to be read */
async function check(constraint: Constraint): Promise<GrammarSource | ConstraintProblem> {
  checker ??= loadXGrammar()
  const reader = checker
  errors.take()
  try {
    const source = await grammarSourceOf(constraint, (ebnf) => separateAlternatives(reader, ebnf))
    if (source.kind === 'structural-tag') (await reader.Grammar.fromStructuralTag(source.text)).dispose()
    return source
  } catch (error) {
    if (error instanceof SchemaError) return { message: error.message, field: error.field }
    checker = null
    const message = errors.take()
    // The address of an exception, whose message stays inside.
    if (typeof error === 'number')
      return { message: 'it is no structural tag that XGrammar reads', field: null }
    if (message !== null) return { message, field: null }
    if (error instanceof Error && !isAbort(error)) return { message: error.message, field: null }
    throw error
  }
}

function isAbort(error: Error): boolean {
  return error.name === 'RuntimeError' || error instanceof RangeError
}

async function allowsText(grammar: CompiledGrammar): Promise<boolean> {
  const matcher = await xgrammar.GrammarMatcher.createGrammarMatcher(grammar)
  const mask = await matcher.getNextTokenBitmask()
  matcher.dispose()
  return mask.some((word) => word !== 0)
}

async function open({ matcherId, key, lane }: Extract<GrammarRequest, { type: 'open' }>): Promise<void> {
  const grammar = compiled.get(key)
  if (grammar === undefined)
    throw new InvariantError(`There is no compiled grammar for matcher ${matcherId}.`)
  const matcher = await xgrammar.GrammarMatcher.createGrammarMatcher(grammar)
  const advance = async (tokenId: number | null): Promise<Int32Array | 'ended' | 'stuck'> => {
    if (tokenId !== null && !matcher.acceptToken(tokenId)) return 'stuck'
    if (matcher.isTerminated()) return 'ended'
    const mask = await matcher.getNextTokenBitmask()
    validUtf8.restrict(mask, tokenId)
    if (mask.some((word) => word !== 0)) return mask
    // Where a text may end, an end token may come, if the model has one.
    return vocabulary.endTokenIds.length === 0 ? 'ended' : 'stuck'
  }
  const writer = new MaskWriter(lane, bell, { advance })
  matchers.set(matcherId, { matcher, writer })
  await writer.answer()
}

function missingPort(): never {
  throw new InvariantError('This is the program of a worker thread.')
}

function tell(answer: GrammarAnswer): void {
  port.postMessage(answer)
}
