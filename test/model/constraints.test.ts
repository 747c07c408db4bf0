/** Constrained texts of the small Llama: valid under an independent validator, and beside all that sampling and scheduling do. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Constraint } from '../../src/protocol/constraint.ts'
import type { Sampling, SequenceOptions } from '../../src/protocol/engine.ts'
import { type SmallLlama, openSmallLlama } from '../support/engines/small-llama.ts'
import { engineRequest, runRequest } from '../support/engines/engine-requests.ts'
import { randomSchema } from '../support/constraints/random-schemas.ts'
import { FIXED_SEED, lengthOf } from '../support/length-of.ts'

const PROMPT = '<|user|>Tell me about the garden.<|assistant|>'
const GREEDY: Sampling = { temperature: 0, topK: 0, topP: 1, repetitionPenalty: 1, seed: null }
const YES_NO: Constraint = { kind: 'regex', pattern: '(yes|no)( yes| no){3}' }
let llama: SmallLlama

beforeAll(async () => {
  llama = await openSmallLlama({ maxBatchSize: 4, isBuilt: true })
})

afterAll(() => llama.close())

async function say(constraint: Constraint | null, options: Partial<SequenceOptions> = {}) {
  const all = { maxNewTokens: 200, sampling: GREEDY, ...options, ...(constraint && { constraint }) }
  const [result] = await runRequest(llama.engine, engineRequest(PROMPT, all))
  if (result === undefined) throw new Error('there is a sequence')
  return result
}

const schemaOf = (schema: unknown, isStrict = true): Constraint => ({
  kind: 'json-schema',
  schema: JSON.stringify(schema),
  isStrict,
})

describe('answers of random schemas', () => {
  it('keep to a bound that numbers of several widths meet', async () => {
    for (let seed = 1892996025; seed < 1892996035; seed++) {
      const sampling = { ...GREEDY, temperature: 1.5, seed }
      const { text, ends } = await say(schemaOf({ type: 'integer', minimum: 1893 }), {
        sampling,
        maxNewTokens: 300,
      })
      if (ends[0] === 'stop') expect(Number(text)).toBeGreaterThanOrEqual(1893)
    }
  })

  it('are valid where they are finished, at a high temperature', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    let finished = 0
    let refused = 0
    const check = async (schema: unknown, seed: number): Promise<void> => {
      const sampling = { ...GREEDY, temperature: 1.5, seed }
      const { text, ends } = await say(schemaOf(schema), { sampling, maxNewTokens: 300 })
      if (ends[0] !== 'stop') return
      finished++
      const isValid = ajv.compile(schema as object)
      expect(isValid(JSON.parse(text)), `${text} of ${JSON.stringify(schema)}`).toBe(true)
    }
    await fc.assert(
      fc.asyncProperty(randomSchema, fc.nat(), async (schema, seed) => {
        try {
          await check(schema, seed)
        } catch (error) {
          if (!(error instanceof Error) || !/cannot be compiled/.test(error.message)) throw error
          refused++
        }
      }),
      { numRuns: lengthOf({ test: 6, soak: 500 }), endOnFailure: true, ...FIXED_SEED },
    )
    expect(finished).toBeGreaterThan(refused + lengthOf({ test: 6, soak: 500 }) / 3)
  })
})

describe('a constraint', () => {
  it.each<readonly [Constraint, RegExp]>([
    [{ kind: 'choice', choices: ['green', 'dark "red"\n'] }, /^(green|dark "red"\n)$/],
    [{ kind: 'regex', pattern: '[0-9]{3}-[a-f]{2}' }, /^[0-9]{3}-[a-f]{2}$/],
    [{ kind: 'grammar', grammar: 'root ::= "<" word ">"\nword ::= [a-z]{1,9}' }, /^<[a-z]{1,9}>$/],
  ])('%j is the whole text', async (constraint, whole) => {
    const { text, ends } = await say(constraint)
    expect(ends).toEqual(['stop'])
    expect(text).toMatch(whole)
  })

  it.each<readonly [string, Constraint]>([
    ['a schema', schemaOf({ type: 'string', minLength: 300, maxLength: 800 })],
    ['a regex', { kind: 'regex', pattern: '"[a-zA-Z .,]{300,800}"' }],
  ])('with a long bound is kept to, whether the text is long or not: %s', async (_, constraint) => {
    const { text, ends } = await say(constraint, { maxNewTokens: 900 })
    expect(ends).toEqual(['stop'])
    expect(text.length - 2).toBeGreaterThanOrEqual(300)
    expect(text.length - 2).toBeLessThanOrEqual(800)
  })

  it('of any object is an object', async () => {
    const { text, ends } = await say({ kind: 'json-object' }, { maxNewTokens: 40 })
    expect(text.startsWith('{')).toBe(true)
    if (ends[0] === 'stop') expect(typeof JSON.parse(text)).toBe('object')
  })

  it('of a structural tag leaves the text free up to the tag', async () => {
    const content = {
      type: 'json_schema',
      json_schema: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
    }
    const format = { type: 'tag', begin: '<call>', content, end: '</call>' }
    const { text, ends } = await say({
      kind: 'structural-tag',
      tag: JSON.stringify({ type: 'structural_tag', format }),
    })
    expect(ends).toEqual(['stop'])
    expect(text).toMatch(/^<call>\{\s*"a"\s*:\s*-?\d+\s*\}<\/call>$/)
  })

  it('ends with length in the middle of its text', async () => {
    const { text, ends } = await say(schemaOf({ type: 'array', items: { type: 'integer' }, minItems: 50 }), {
      maxNewTokens: 6,
    })
    expect(ends).toEqual(['length'])
    expect(text.startsWith('[')).toBe(true)
  })

  it('is kept to with every setting of sampling', async () => {
    const settings: readonly Partial<Sampling>[] = [
      { temperature: 5 },
      { temperature: 1, topK: 3, topP: 0.5 },
      { temperature: 1, minP: 0.2 },
      { repetitionPenalty: 10, presencePenalty: 2, frequencyPenalty: 2 },
      { repetitionPenalty: 1e-30 },
      {
        temperature: 1,
        logitBias: Array.from(
          { length: 300 },
          (_, tokenId) => [tokenId, tokenId % 2 === 0 ? 100 : -100] as const,
        ),
      },
    ]
    for (const own of settings) {
      const { text, ends } = await say(YES_NO, { sampling: { ...GREEDY, ...own } })
      expect([own, ends, /^(yes|no)( yes| no){3}$/.test(text)]).toEqual([own, ['stop'], true])
    }
  })

  it('ends the text also where end tokens are ignored or come too early', async () => {
    for (const endRules of [
      { minTokens: 100, ignoresEndTokens: false, stopTokenIds: [] },
      { minTokens: 0, ignoresEndTokens: true, stopTokenIds: [] },
    ]) {
      const { text, ends } = await say(YES_NO, { endRules })
      expect(ends).toEqual(['stop'])
      expect(text).toMatch(/^(yes|no)( yes| no){3}$/)
    }
  })

  it('gives the same text for the same seed, and each choice its own', async () => {
    const sampling = { ...GREEDY, temperature: 2, seed: 7 }
    const constraint: Constraint = { kind: 'regex', pattern: '[a-z]{40}' }
    const texts = await Promise.all([say(constraint, { sampling }), say(constraint, { sampling })])
    expect(texts[0]?.text).toBe(texts[1]?.text)
    const request = { ...engineRequest(PROMPT, { maxNewTokens: 60, sampling, constraint }), choices: 3 }
    const choices = await runRequest(llama.engine, request)
    expect(new Set(choices.map(({ text }) => text)).size).toBe(3)
    expect(choices[0]?.text).toBe(texts[0]?.text)
  })

  it('changes nothing of the texts beside it', async () => {
    const alone = await say(null, { maxNewTokens: 30 })
    const [beside] = await Promise.all([
      say(null, { maxNewTokens: 30 }),
      say(YES_NO),
      say(schemaOf({ type: 'integer' })),
    ])
    expect(beside?.text).toBe(alone.text)
  })

  it('is refused where it cannot be compiled, and what runs goes on', async () => {
    const running = say(YES_NO)
    await expect(say({ kind: 'grammar', grammar: 'root ::= nothing' })).rejects.toThrow(
      'Rule "nothing" is not defined',
    )
    await expect(say(schemaOf({ anyOf: [{ $ref: '#' }] }))).rejects.toThrow('it refers to itself')
    await expect(say(schemaOf({ type: 'integer', multipleOf: 997 }))).rejects.toThrow('at /multipleOf')
    expect((await running).ends).toEqual(['stop'])
    expect((await say(YES_NO)).ends).toEqual(['stop'])
  })

  it('frees its matcher when it is aborted', async () => {
    const abort = new AbortController()
    const request = engineRequest(PROMPT, {
      maxNewTokens: 300,
      sampling: GREEDY,
      constraint: { kind: 'regex', pattern: '[a-z ]{290,}' },
    })
    const events = llama.engine.generate(request, abort.signal)
    await expect(
      (async () => {
        for await (const batch of events)
          if (batch.some(({ type }) => type === 'text-delta')) abort.abort(new Error('gone'))
      })(),
    ).rejects.toThrow('gone')
    expect((await say(YES_NO)).ends).toEqual(['stop'])
  })
})
