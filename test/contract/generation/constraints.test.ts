/** The fields that say what an answer must look like: what each asks an engine for, and what is wrong with them. */
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import type { EngineRequest } from '../../../src/protocol/engine.ts'
import { ScriptedEngine, sayOk } from '../../support/engines/scripted-engine.ts'
import { createTestApp, type TestAppOptions } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const CHAT = '/v1/chat/completions'
const MESSAGES = { messages: [{ role: 'user', content: 'ab' }] }
const SCHEMA = { type: 'object', properties: { a: { type: 'integer' } } }
const JSON_SCHEMA = { kind: 'json-schema', schema: JSON.stringify(SCHEMA) }
const GRAMMAR = { kind: 'grammar', grammar: 'root ::= "a"' }
const TAG = { type: 'structural_tag', format: { type: 'any_text' } }

const ROUTES = [
  [CHAT, MESSAGES],
  ['/v1/generate', { prompt: 'ab' }],
  ['/v1/generate/stream', { prompt: 'ab' }],
  ['/v1/generate/batch', { prompts: ['ab'] }],
  ['/v1/generate/continuous-batch', { prompts: ['ab'] }],
] as const

function createConstrained(options: TestAppOptions = {}) {
  const requests: EngineRequest[] = []
  const script = (request: EngineRequest) => {
    requests.push(request)
    return sayOk(request)
  }
  const { post } = createTestApp({ engine: new ScriptedEngine(script, { canConstrain: true }), ...options })
  return {
    post,
    /** With what the engine was asked for it. */
    ask: async (url: string, body: object) => {
      const { statusCode } = await post(url, body)
      return { statusCode, asked: requests.splice(0) }
    },
  }
}

const constrained = shared(() => createConstrained())
const passthrough = shared(() => createTestApp())

const named = (schema: object, strict?: boolean | null) => ({
  type: 'json_schema',
  json_schema: { name: 'x', description: 'y', schema, ...(strict !== undefined && { strict }) },
})

/** Generate's errors name the field in their sentence only. */
function codeOf({ statusCode, headers }: { statusCode: number; headers: Readonly<Record<string, unknown>> }) {
  return [statusCode, headers['x-error-code']]
}

describe.each(ROUTES)('%s', (url, base) => {
  it.each([
    [{ response_format: { type: 'json_object' } }, { kind: 'json-object' }],
    [{ response_format: { type: 'json_object', schema: SCHEMA } }, { ...JSON_SCHEMA, isStrict: false }],
    [{ response_format: named(SCHEMA) }, { ...JSON_SCHEMA, isStrict: false }],
    [{ response_format: named(SCHEMA, null) }, { ...JSON_SCHEMA, isStrict: false }],
    [{ response_format: named(SCHEMA, true) }, { ...JSON_SCHEMA, isStrict: true }],
    [{ response_format: { type: 'json_schema', schema: SCHEMA } }, { ...JSON_SCHEMA, isStrict: false }],
    [{ response_format: TAG }, { kind: 'structural-tag', tag: JSON.stringify(TAG) }],
    [{ structural_tag: JSON.stringify(TAG) }, { kind: 'structural-tag', tag: JSON.stringify(TAG) }],
    [{ structured_outputs: { json: SCHEMA } }, { ...JSON_SCHEMA, isStrict: false }],
    [{ structured_outputs: { regex: 'a+' } }, { kind: 'regex', pattern: 'a+' }],
    [{ structured_outputs: { choice: ['a', 'b'] } }, { kind: 'choice', choices: ['a', 'b'] }],
    [{ structured_outputs: { grammar: GRAMMAR.grammar } }, GRAMMAR],
    [{ structured_outputs: { json_object: true } }, { kind: 'json-object' }],
    [{ structured_outputs: { structural_tag: TAG } }, { kind: 'structural-tag', tag: JSON.stringify(TAG) }],
    [{ guided_json: SCHEMA }, { ...JSON_SCHEMA, isStrict: false }],
    [{ guided_json: JSON.stringify(SCHEMA) }, { ...JSON_SCHEMA, isStrict: false }],
    [{ guided_regex: 'a+' }, { kind: 'regex', pattern: 'a+' }],
    [{ guided_choice: ['a', 'b'] }, { kind: 'choice', choices: ['a', 'b'] }],
    [{ guided_grammar: GRAMMAR.grammar }, GRAMMAR],
    [{ grammar: GRAMMAR.grammar }, GRAMMAR],
    [{ ebnf: GRAMMAR.grammar }, GRAMMAR],
    [{ json_schema: SCHEMA }, { ...JSON_SCHEMA, isStrict: false }],
    [{ regex: 'a+' }, { kind: 'regex', pattern: 'a+' }],
    [{ choice: ['a', 'b'] }, { kind: 'choice', choices: ['a', 'b'] }],
  ])('asks for what %j says', async (fields, constraint) => {
    const { statusCode, asked } = await constrained().ask(url, { ...base, ...fields })
    expect([statusCode, asked.length]).toEqual([200, 1])
    expect(asked[0]?.options.constraint).toEqual(constraint)
  })

  it.each([
    { response_format: { type: 'text' } },
    { response_format: null, grammar: '', regex: '', choice: [], guided_json: null },
    { structured_outputs: {} },
    { structured_outputs: { json: null, json_object: false, disable_any_whitespace: false } },
  ])('asks for nothing with %j', async (fields) => {
    const { statusCode, asked } = await constrained().ask(url, { ...base, ...fields })
    expect([statusCode, asked.length]).toEqual([200, 1])
    expect(asked[0]?.options).not.toHaveProperty('constraint')
  })

  it('names both of two fields', async () => {
    const answer = await constrained().post(url, {
      ...base,
      guided_regex: 'a',
      response_format: { type: 'json_object' },
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toBe(
      'guided_regex must not be given beside response_format: an answer keeps to one constraint.',
    )
  })

  it('says that the passthrough model cannot', async () => {
    const answer = await passthrough().post(url, { ...base, guided_choice: ['a'] })
    expect(codeOf(answer)).toEqual([400, 'unsupported_value'])
    expect(answer.json().detail).toBe(
      "guided_choice must be null: model 'default' cannot constrain its answers.",
    )
  })

  it("names the field in the engine's refusal, before a stream begins", async () => {
    const engine = new ScriptedEngine(
      () => ({
        [Symbol.asyncIterator]: () => ({
          next: () =>
            Promise.reject(new ServiceError('constraint_invalid', { field: 'x', message: 'at /a: wrong' })),
        }),
      }),
      { canConstrain: true },
    )
    const answer = await createTestApp({ engine }).post(url, {
      ...base,
      stream: url === CHAT || undefined,
      guided_json: {},
    })
    expect(codeOf(answer)).toEqual([400, 'constraint_invalid'])
    expect(answer.json().detail).toBe('guided_json cannot be compiled: at /a: wrong.')
  })
})

describe('a field that is wrong', () => {
  it('is the param of an OpenAI error', async () => {
    const answer = await passthrough().post(CHAT, { ...MESSAGES, guided_choice: ['a'] })
    expect(answer.json().error.param).toBe('guided_choice')
  })

  it.each([
    [
      { response_format: 'json' },
      'response_format must be an object whose type is one of text, json_object, json_schema, structural_tag, but was "json".',
    ],
    [
      { response_format: { type: 'xml' } },
      'response_format.type must be one of text, json_object, json_schema, structural_tag, but was "xml".',
    ],
    [
      { response_format: { type: 'json_schema' } },
      'response_format.json_schema.schema must be given with the type json_schema.',
    ],
    [
      { response_format: { type: 'json_schema', json_schema: { schema: 1 } } },
      'response_format.json_schema.schema must be a JSON schema: an object, but was 1.',
    ],
    [
      { guided_json: '{' },
      'guided_json must be a JSON schema: an object, or the JSON text of one, but was "{".',
    ],
    [{ guided_choice: 'a' }, 'guided_choice must be an array of 0 to 1000 strings, but was "a".'],
    [{ grammar: 1 }, 'grammar must be a string, but was 1.'],
    [{ regex: 'a'.repeat(262_145) }, 'regex must have at most 262144 characters, but has 262145.'],
    [
      { json_schema: { enum: ['a'.repeat(262_145)] } },
      'json_schema must have at most 262144 characters of JSON, but has 262158.',
    ],
    [
      { structured_outputs: { json: {}, regex: 'a' } },
      'structured_outputs.regex must not be given beside json: an answer keeps to one constraint.',
    ],
    [
      { structured_outputs: { whitespace_pattern: ' ' } },
      'structured_outputs.whitespace_pattern must be null, but was " ": this route cannot change it.',
    ],
  ])('%j', async (fields, detail) => {
    const answer = await constrained().post(CHAT, { ...MESSAGES, ...fields })
    expect([answer.statusCode, answer.json().detail]).toEqual([400, detail])
  })

  it('is a constraint beside beams', async () => {
    const { post } = createConstrained({
      engine: new ScriptedEngine(sayOk, { canConstrain: true, maxBeams: 4 }),
    })
    const answer = await post('/v1/generate', { prompt: 'a', num_beams: 2, regex: 'a' })
    expect([answer.statusCode, answer.json().detail]).toEqual([
      400,
      'regex must be null with num_beams 2: a beam search cannot be constrained.',
    ])
  })
})
