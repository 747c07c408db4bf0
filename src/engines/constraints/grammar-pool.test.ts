/** The pool of grammar threads: caching, refusals, bounds, and that hostile constraints cost nothing but themselves. */
import { availableParallelism } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { shared, whenUnused } from '../../../test/support/shared.ts'
import type { Constraint } from '../../protocol/constraint.ts'
import type * as Pools from './grammar-pool.ts'
import type { MaskReader } from './mask-lane.ts'

/** Threads run what was built. */
const BUILT = '../../../dist/engines/constraints/grammar-pool.js'
/** A token for each byte, one that ends a text, and a control token. */
const END = 256
const CONTROL = 257
const vocabulary = {
  bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  offsets: Int32Array.from({ length: 259 }, (_, i) => Math.min(i, 256)),
  endTokenIds: [END],
  specialTexts: ['[CALL]'],
  specialTokenIds: [CONTROL],
}
const YES_NO: Constraint = { kind: 'choice', choices: ['yes', 'no'] }
/** Of a core; so much is wasted by each that takes too long. */
const COMPILE_MS = 500
const RULES = 20_000
/** Takes many times the limit of these tests to compile. */
const ENDLESS: Constraint = {
  kind: 'grammar',
  grammar: [
    'root ::= r0',
    ...Array.from(
      { length: RULES },
      (_, i) => `r${i} ::= r${(i + 1) % RULES} r${(i * 3 + 1) % RULES} | [a-z]+ r${(i * 5 + 2) % RULES}?`,
    ),
  ].join('\n'),
}
/** Its masks take longer and longer. */
const AMBIGUOUS: Constraint = {
  kind: 'grammar',
  grammar: 'root ::= e\ne ::= [a-z] | e e | [a-z] e e | [a-z] e e e | e e e e',
}
/** Takes a fraction of a second. */
const costly = (index: number): Constraint => ({ kind: 'regex', pattern: `(${index}|[a-z]{1,120}x){1,4}` })
let pool: Pools.GrammarPool | null = null

afterEach(() => pool?.close())

async function openPool(options: Partial<Pools.GrammarPoolOptions> = {}) {
  const { GrammarPool } = (await import(BUILT)) as typeof Pools
  pool = new GrammarPool({ vocabulary, maxBatchSize: 2, ...options })
  return pool
}

async function start(own: Pools.GrammarPool, constraint: Constraint) {
  const { matcherIds, compiled } = own.prepare(constraint, 1, 'a')
  const [matcherId = -1] = matcherIds
  await compiled
  await expect.poll(() => own.isReady(matcherId)).toBe(true)
  return { matcherId, reader: own.start(matcherId) as MaskReader }
}

function allowedOf(reader: MaskReader): readonly number[] {
  const isAllowed = (tokenId: number): boolean =>
    (((reader.mask[tokenId >> 5] ?? 0) >>> (tokenId & 31)) & 1) === 1
  return Array.from({ length: CONTROL + 1 }, (_, tokenId) => tokenId).filter(isAllowed)
}

const codes = (text: string): readonly number[] => [...Buffer.from(text)]

describe('a text that has begun', () => {
  it('may go on after it lost its slot, also where its thread takes no new texts', async () => {
    const own = await openPool({ maxBatchSize: 1 })
    const first = await start(own, costly(1))
    const second = await start(own, costly(2))
    // A third grammar: both threads match texts, so one of them is kept for it.
    const third = own.prepare(YES_NO, 1, 'a')
    expect([first, second].map(({ matcherId }) => own.isReady(matcherId))).toEqual([true, true])
    expect(own.start(first.matcherId)).toBe(first.reader)
    own.drop(first.matcherId)
    own.drop(second.matcherId)
    await third.compiled
  })
})

describe('a text with a constraint', () => {
  /** Of texts that leave nothing behind but their grammars: its threads take longer to start than these tests. */
  const sharedPool = shared(async () => {
    const { GrammarPool } = (await import(BUILT)) as typeof Pools
    const own = new GrammarPool({ vocabulary, maxBatchSize: 2 })
    whenUnused(() => own.close())
    return own
  })

  async function begin(constraint: Constraint) {
    const { matcherId, reader } = await start(sharedPool(), constraint)
    onTestFinished(() => sharedPool().drop(matcherId))
    return reader
  }

  it('may have a control token where that is text', async () => {
    const format = {
      type: 'triggered_tags',
      triggers: ['[CALL]'],
      tags: [{ type: 'tag', begin: '[CALL]', content: { type: 'const_string', value: 'ab' }, end: '' }],
      at_least_one: true,
    }
    const tag = JSON.stringify({ type: 'structural_tag', format })
    const shown = await begin({ kind: 'structural-tag', tag, shownSpecialTexts: ['[CALL]'] })
    expect([shown.wait(), allowedOf(shown)]).toEqual(['open', [...codes('['), CONTROL]])
    shown.post(CONTROL)
    expect([shown.wait(), allowedOf(shown)]).toEqual(['open', codes('a')])

    const hidden = await begin({ kind: 'structural-tag', tag })
    expect([hidden.wait(), allowedOf(hidden)]).toEqual(['open', codes('[')])
  })

  it('may begin as the grammar does', async () => {
    const reader = await begin(YES_NO)
    expect([reader.wait(), allowedOf(reader)]).toEqual(['open', codes('ny')])
  })

  it('is followed token by token', async () => {
    const reader = await begin(YES_NO)
    for (const tokenId of codes('no')) {
      expect(reader.wait()).toBe('open')
      expect(allowedOf(reader)).toContain(tokenId)
      reader.post(tokenId)
    }
    expect([reader.wait(), allowedOf(reader)]).toEqual(['open', [END]])
    reader.post(END)
    expect(reader.wait()).toBe('ended')
  })

  it('has its mask made when the pool is woken, before anyone waits for it', async () => {
    const reader = await begin(YES_NO)
    reader.wait()
    reader.post(codes('y')[0] as number)
    sharedPool().wake()
    await expect.poll(() => allowedOf(reader)).toEqual(codes('e'))
  })

  it('cannot go on where its thread has ended, whatever was made before', async () => {
    const own = await openPool()
    const { reader } = await start(own, YES_NO)
    expect(reader.wait()).toBe('open')
    own.close()
    expect(reader.wait()).toBe('lost')
  })

  it('has no byte that no character begins with', async () => {
    const reader = await begin({ kind: 'regex', pattern: '[^a]' })
    expect(reader.wait()).toBe('open')
    const allowed = allowedOf(reader)
    expect([0xc1, 0xc2, 0xf4, 0xf5].filter((byte) => allowed.includes(byte))).toEqual([0xc2, 0xf4])
    reader.post(0xed)
    expect([reader.wait(), allowedOf(reader).at(-1)]).toEqual(['open', 0x9f])
  })

  it('leaves no memory behind when it is dropped', async () => {
    const own = await openPool({ maxGrammarBytes: 65_536 })
    for (let texts = 0; texts < 4000; texts++) {
      const { matcherId, reader } = await start(own, YES_NO)
      expect(reader.wait()).toBe('open')
      own.drop(matcherId)
    }
  })

  it('has a matcher of its own beside others of the same grammar', async () => {
    const [one, other] = await Promise.all([begin(YES_NO), begin(YES_NO)])
    one.wait()
    one.post(codes('n')[0] as number)
    expect([one.wait(), allowedOf(one)]).toEqual(['open', codes('o')])
    expect([other.wait(), allowedOf(other)]).toEqual(['open', codes('ny')])
  })
})

describe('a thread whose masks take too long', () => {
  it('takes the texts with it that have begun, those that were preempted too, and no other', async () => {
    const own = await openPool()
    const { reader: preempted, matcherId: preemptedId } = await start(own, AMBIGUOUS)
    const [a = 0] = codes('a')
    preempted.wait()
    preempted.post(a)
    const { matcherIds } = own.prepare(AMBIGUOUS, 2, 'a')
    const [runningId = -1, waitingId = -1] = matcherIds
    const running = own.start(runningId) as MaskReader

    for (let tokens = 0; tokens < 5000 && running.wait() !== 'lost'; tokens++) running.post(a)

    expect(running.wait()).toBe('lost')
    await expect.poll(() => own.isReady(waitingId)).toBe(true)
    expect([own.isReady(preemptedId), own.start(preemptedId)]).toEqual([true, null])
    expect(own.start(waitingId)?.wait()).toBe('open')
  })
})

describe('a compilation', () => {
  it('is refused in words, and the thread goes on', async () => {
    const own = await openPool()
    for (const [constraint, message] of [
      [{ kind: 'grammar', grammar: 'root ::= (' }, /EBNF parser error at line 1/],
      [{ kind: 'regex', pattern: '(?=a)' }, /lookaround/],
      [
        { kind: 'json-schema', schema: '{"type":"x"}', isStrict: false },
        /at \/type: the type "x" does not exist/,
      ],
      [{ kind: 'structural-tag', tag: '{"type":"structural_tag","format":{"type":"x"}}' }, /./],
      [{ kind: 'grammar', grammar: 'root ::= root "a"' }, /allows no text/],
    ] as const) {
      const { compiled, matcherIds } = own.prepare(constraint, 1, 'a')
      await expect(compiled).rejects.toThrow(message)
      for (const matcherId of matcherIds) own.drop(matcherId)
    }
    expect((await start(own, YES_NO)).reader.wait()).toBe('open')
  })

  it('that takes too long is given up, and what runs and what comes does not notice', async () => {
    const own = await openPool({ compileMs: COMPILE_MS })
    const running = await start(own, YES_NO)
    await expect(own.prepare(ENDLESS, 1, 'a').compiled).rejects.toMatchObject({
      code: 'constraint_too_costly',
    })
    expect(running.reader.wait()).toBe('open')
    expect((await start(own, { kind: 'choice', choices: ['x'] })).reader.wait()).toBe('open')
  })

  it('may take longer than its time where other work keeps the cores', async () => {
    const own = await openPool()
    await start(own, YES_NO)
    const startedMs = performance.now()
    await own.prepare(costly(0), 1, 'a').compiled
    const aloneMs = performance.now() - startedMs
    own.close()
    const program = 'Atomics.wait(new Int32Array(workerData), 0, 0); for (;;);'
    const gate = new SharedArrayBuffer(4)
    const busy = Array.from(
      { length: availableParallelism() },
      () =>
        new Worker(`const { workerData } = require('worker_threads'); ${program}`, {
          eval: true,
          workerData: gate,
        }),
    )
    const beside = await openPool({ compileMs: 8 * aloneMs + 200 })
    await start(beside, YES_NO)

    Atomics.store(new Int32Array(gate), 0, 1)
    Atomics.notify(new Int32Array(gate), 0)
    const { compiled } = beside.prepare(costly(1), 1, 'a')

    await expect(compiled).resolves.toBeUndefined()
    await Promise.all(busy.map((worker) => worker.terminate()))
  })

  it('that takes too much memory is given up', async () => {
    const own = await openPool({ maxGrammarBytes: 65_536 })
    const constraint: Constraint = { kind: 'regex', pattern: '[a-z]{0,90000}' }
    await expect(own.prepare(constraint, 1, 'a').compiled).rejects.toMatchObject({
      code: 'constraint_too_costly',
    })
    expect((await start(own, YES_NO)).reader.wait()).toBe('open')
  })

  it('holds no mask up: a thread compiles only while none of its texts runs', async () => {
    const own = await openPool({ compileMs: COMPILE_MS })
    const running = await start(own, YES_NO)
    const endless = own.prepare(ENDLESS, 1, 'a').compiled
    let isGivenUp = false
    endless.catch(() => (isGivenUp = true))
    running.reader.wait()
    running.reader.post(codes('y')[0] as number)
    expect([running.reader.wait(), allowedOf(running.reader)]).toEqual(['open', codes('e')])
    await nextTurn()
    expect(isGivenUp).toBe(false)
    await expect(endless).rejects.toMatchObject({ code: 'constraint_too_costly' })
  })

  it('whose request was dropped is not begun', async () => {
    const own = await openPool({ maxBatchSize: 1, compileMs: COMPILE_MS })
    const both = [
      own.prepare(ENDLESS, 1, 'a'),
      own.prepare({ ...ENDLESS, grammar: `${ENDLESS.grammar}\n` }, 1, 'a'),
    ]
    const dropped = own.prepare({ ...ENDLESS, grammar: `${ENDLESS.grammar}\n\n` }, 1, 'a')
    for (const matcherId of dropped.matcherIds) own.drop(matcherId)
    await Promise.allSettled(both.map(({ compiled }) => compiled))
    expect((await start(own, YES_NO)).reader.wait()).toBe('open')
  })

  it.each<[string, readonly Constraint[]]>([
    ['of its own', [YES_NO, { kind: 'choice', choices: ['x'] }]],
    ['that the other waits for too', [costly(11)]],
  ])('does not wait for the many of another account: %s', async (_, constraints) => {
    const own = await openPool()
    const done: number[] = []
    const many = Array.from({ length: 12 }, async (_unused, index) => {
      await own.prepare(costly(index), 1, 'a').compiled
      done.push(index)
    })
    await Promise.all(constraints.map((constraint) => own.prepare(constraint, 1, 'b').compiled))
    const doneBefore = done.length
    await Promise.all(many)
    // In the order in which they came, nine would be: all but the two that the other threads compile still, and it.
    expect(doneBefore).toBeLessThan(9)
  })

  it('takes no turn of an account whose texts were dropped', async () => {
    const own = await openPool({ maxBatchSize: 1 })
    // Its thread matches it, so that the other one compiles all that follows, one after the other.
    await start(own, YES_NO)
    const first = own.prepare(costly(0), 1, 'x').compiled
    const done: string[] = []
    const prepare = (accountId: string, choice: string) => {
      const prepared = own.prepare({ kind: 'choice', choices: [choice] }, 1, accountId)
      return { ...prepared, compiled: prepared.compiled.then(() => done.push(choice)) }
    }
    const dropped = prepare('a', 'shared')
    const others = [prepare('b', 'own'), prepare('c', 'shared')]
    for (const matcherId of dropped.matcherIds) own.drop(matcherId)
    await Promise.all([first, ...others.map(({ compiled }) => compiled)])
    expect(done[0]).toBe('own')
  })

  it('is kept for the next text when none uses it', async () => {
    const own = await openPool()
    const { matcherId } = await start(own, YES_NO)
    own.drop(matcherId)
    await own.prepare({ kind: 'choice', choices: ['x'] }, 1, 'a').compiled
    const [nextId = -1] = own.prepare(YES_NO, 1, 'a').matcherIds
    expect(own.isReady(nextId)).toBe(true)
  })

  it('is done once for many', async () => {
    const own = await openPool()
    await start(own, YES_NO)
    const beganMs = performance.now()
    await own.prepare(costly(0), 1, 'a').compiled
    const onceMs = performance.now() - beganMs
    for (let i = 0; i < 100; i++) await own.prepare(costly(0), 1, 'a').compiled
    expect(performance.now() - beganMs - onceMs).toBeLessThan(20 * onceMs)
  })
})
