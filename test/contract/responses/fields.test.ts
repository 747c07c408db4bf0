/** `/v1/responses`: what each field of OpenAI's asks of the engine, what is ignored, and what is refused with which sentence. */
import { readFile } from 'node:fs/promises'
import type { ResponseCreateParams } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { createResponsesRequest } from '../../../src/api/dialects/openai-responses/request.ts'
import { createTestApp, createTierAuthenticator } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const URL = '/v1/responses'
const testApp = shared(() => createTestApp())

async function post(fields: object) {
  const answer = await testApp().post(URL, { input: 'ab', ...fields })
  return { status: answer.statusCode, code: answer.headers['x-error-code'], body: answer.json() }
}

const read = (fields: object) => createResponsesRequest(256).parse({ input: 'ab', ...fields }).generation

const FUNCTION = {
  type: 'function',
  name: 'f',
  description: 'd',
  parameters: { type: 'object', properties: {} },
  strict: true,
}
const DEFINITION = { name: 'f', description: 'd', parameters: FUNCTION.parameters, strict: true }

/** Every field that OpenAI's client knows. */
const FIELDS: Record<keyof ResponseCreateParams | 'max_tool_calls', 'built' | 'ignored' | 'refused'> = {
  background: 'refused',
  context_management: 'refused',
  conversation: 'refused',
  include: 'built',
  input: 'built',
  instructions: 'built',
  max_output_tokens: 'built',
  max_tool_calls: 'ignored',
  metadata: 'ignored',
  model: 'built',
  moderation: 'refused',
  parallel_tool_calls: 'built',
  previous_response_id: 'refused',
  prompt: 'refused',
  prompt_cache_key: 'ignored',
  prompt_cache_options: 'ignored',
  prompt_cache_retention: 'ignored',
  reasoning: 'built',
  safety_identifier: 'ignored',
  service_tier: 'ignored',
  store: 'ignored',
  stream: 'built',
  stream_options: 'built',
  temperature: 'built',
  text: 'built',
  tool_choice: 'built',
  tools: 'built',
  top_logprobs: 'built',
  top_p: 'built',
  truncation: 'refused',
  user: 'ignored',
}

const fieldsThatAre = (kind: string) =>
  Object.entries(FIELDS).flatMap(([field, is]) => (is === kind ? [field] : []))

describe("OpenAI's fields", () => {
  it.each(fieldsThatAre('built'))('%s is read', async (field) => {
    const { status, body } = await post({ [field]: -1 })

    expect(status).toBe(400)
    expect(body.error.param).toBe(field)
  })

  it.each(fieldsThatAre('ignored'))('%s may be anything', async (field) => {
    for (const value of [null, 'x', 1, true, { any: 'thing' }]) {
      expect([value, (await post({ [field]: value })).status]).toEqual([value, 200])
    }
  })

  it.each(fieldsThatAre('refused'))('%s is refused, unless it asks for nothing', async (field) => {
    expect((await post({ [field]: null })).status).toBe(200)

    const { status, code, body } = await post({ [field]: { any: 'thing' } })

    expect([status, code, body.error.param]).toEqual([400, 'unsupported_value', field])
  })
})

describe('docs/clients.md', () => {
  it.each(Object.keys(FIELDS))('says what becomes of %s', async (field) => {
    const docs = await readFile('docs/clients.md', 'utf8')
    const section = docs.split('\n## ').find((one) => one.startsWith('The Responses API'))

    const [, ...all] = (section ?? '').split('\n| ')
    const rows = all.filter((row) => row.split(' | ')[0]?.includes(`\`${field}\``))

    expect(rows).toHaveLength(1)
    expect(rows[0]).toContain(
      { built: '', ignored: 'ignored', refused: '400' }[FIELDS[field as keyof typeof FIELDS]],
    )
  })
})

describe('what needs a store', () => {
  it.each([
    [
      { previous_response_id: 'resp_1' },
      'previous_response_id must be null, but was "resp_1": this route cannot look up what was said before: nothing is stored here, so input must hold the whole conversation.',
    ],
    [
      { conversation: { id: 'conv_1' } },
      'conversation must be null, but was an object: this route cannot look up what was said before: nothing is stored here, so input must hold the whole conversation.',
    ],
    [
      { prompt: { id: 'pmpt_1' } },
      'prompt must be null, but was an object: this route cannot look up a prompt: nothing is stored here, so instructions and input must hold its text.',
    ],
    [
      { background: true },
      'background must be false, but was true: this route cannot answer in the background: nothing is stored here that could be asked for later.',
    ],
    [
      { input: [{ type: 'item_reference', id: 'msg_1' }] },
      "input[0].type must be 'message', 'function_call', 'function_call_output' or 'reasoning', but was \"item_reference\": nothing is stored here that it could refer to, so the item itself must be sent, as clients do with `store: false`.",
    ],
    [
      { truncation: 'auto' },
      'truncation must be "disabled", but was "auto": this route cannot change how the prompt is made.',
    ],
  ])('%j is refused', async (fields, detail) => {
    const { status, code, body } = await post(fields)

    expect([status, code, body.detail]).toEqual([400, 'unsupported_value', detail])
    expect(body.error.message).toBe(detail)
  })

  it.each(['GET', 'DELETE'] as const)('%s finds no response', async (method) => {
    const answer = await testApp().call({ method, url: `${URL}/resp_1` })

    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toEqual({
      detail: "Response 'resp_1' does not exist: this server stores no responses.",
      error: {
        message: "Response 'resp_1' does not exist: this server stores no responses.",
        type: 'invalid_request_error',
        param: null,
        code: 'response_not_found',
      },
    })
  })

  it('takes a conversation of many turns', async () => {
    const turn = [
      { role: 'user', content: 'ab' },
      { role: 'assistant', content: 'ok' },
    ]

    const { status, body } = await post({
      input: [...Array.from({ length: 60 }, () => turn).flat(), turn[0]],
    })

    expect(body.error ?? null).toBeNull()
    expect(status).toBe(200)
  })

  it('says that it stored nothing, whatever store says', async () => {
    for (const store of [true, false, null]) expect((await post({ store })).body.store).toBe(false)
  })
})

describe('what is wrong', () => {
  it.each([
    [{ input: undefined }, 'input is required.'],
    [{ input: [] }, 'input must be an array of at least 1 item (or a string), but was an array of 0 items.'],
    [{ input: 5 }, 'input must be an array of at least 1 item (or a string), but was 5.'],
    [{ input: 'a\ud800' }, 'input must be valid Unicode, but has a lone surrogate in it.'],
    [
      { input: ['a'] },
      "input[0] must be an object of type 'message', 'function_call', 'function_call_output' or 'reasoning', but was \"a\".",
    ],
    [
      { input: [{ role: 'tool', content: 'a' }] },
      "input[0].role must be 'user', 'assistant', 'system' or 'developer', but was \"tool\".",
    ],
    [{ input: [{ role: 'user' }] }, 'input[0].content is required.'],
    [
      { input: [{ role: 'user', content: [{ type: 'x' }] }] },
      "input[0].content[0].type must be 'input_text', 'output_text' or 'refusal', but was \"x\".",
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] },
      "input[0].content[0] must be text, but was an image ('input_image'): model 'default' reads text only.",
    ],
    [
      { input: [{ type: 'web_search_call', id: 'ws_1' }] },
      "input[0].type must be 'message', 'function_call', 'function_call_output' or 'reasoning', but was \"web_search_call\": this server runs no tools of its own.",
    ],
    [
      { input: [{ type: 'shell_call', call_id: 'c' }] },
      "input[0].type must be 'message', 'function_call', 'function_call_output' or 'reasoning', but was \"shell_call\": only tools of type 'function' are built.",
    ],
    [
      { input: [{ type: 'compaction', encrypted_content: 'x' }] },
      "input[0].type must be 'message', 'function_call', 'function_call_output' or 'reasoning', but was \"compaction\": this server does not shorten conversations.",
    ],
    [
      { input: [{ type: 'x' }] },
      "input[0].type must be 'message', 'function_call', 'function_call_output' or 'reasoning', but was \"x\".",
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }] },
      'input[0].content[0].file_id must be null, but was "file-1": nothing is stored here, so the file itself must be sent.',
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
      'input[0].content[0].file_id must be null, but was "file-1": nothing is stored here, so the file itself must be sent.',
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://x/a.pdf' }] }] },
      'input[0].content[0].file_url must be null, but was "https://x/a.pdf": this server fetches no files, so it must be sent as file_data.',
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
      "input[0].content[0] must be text, but was an image ('image_url'): an image is a part of type 'input_image' here.",
    ],
    [{ input: [{ type: 'function_call', call_id: 'c', arguments: '{}' }] }, 'input[0].name is required.'],
    [
      { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] },
      'input[0].call_id must be the call_id of a function_call item that comes before it.',
    ],
    [{ max_output_tokens: 0 }, 'max_output_tokens must be an integer of at least 1, but was 0.'],
    [{ max_tokens: 5 }, 'max_tokens must be null, but was 5: it is called max_output_tokens here.'],
    [{ temperature: 9 }, 'temperature must be a number between 0 and 5, but was 9.'],
    [
      { tools: [{ type: 'web_search' }] },
      'tools[0].type must be \'function\', but was "web_search": this server runs no tools of its own.',
    ],
    [
      { tools: [{ type: 'mcp', server_label: 'x' }] },
      'tools[0].type must be \'function\', but was "mcp": this server runs no tools of its own.',
    ],
    [{ tools: [{ type: 'function' }] }, 'tools[0].name is required.'],
    [
      { tools: [{ type: 'function', function: { name: 'f' } }] },
      "tools[0].name is required: a function's fields stand beside type here.",
    ],
    [
      { tools: [{ type: 'custom', name: 'f' }] },
      "tools[0].type must be 'function', but was \"custom\": only tools of type 'function' are built.",
    ],
    [
      { tools: [FUNCTION], tool_choice: { type: 'function', function: { name: 'f' } } },
      "tool_choice.name is required: a function's fields stand beside type here.",
    ],
    [
      { tools: [FUNCTION], tool_choice: { type: 'tool', name: 'f' } },
      "tool_choice.type must be 'function' or 'allowed_tools', but was \"tool\".",
    ],
    [{ tool_choice: 'required' }, "tool_choice must be 'none' or 'auto' where there are no tools."],
    [
      { tools: [FUNCTION], tool_choice: { type: 'function', name: 'g' } },
      'tool_choice must name one of the tools, but has "g".',
    ],
    [
      { tool_choice: { type: 'file_search' } },
      "tool_choice.type must be 'function' or 'allowed_tools', but was \"file_search\": this server runs no tools of its own.",
    ],
    [
      { text: { format: { type: 'xml' } } },
      "text.format.type must be 'text', 'json_object' or 'json_schema', but was \"xml\".",
    ],
    [{ text: { format: { type: 'json_schema', name: 'x' } } }, 'text.format.schema is required.'],
    [
      { text: { format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } } } },
      'text.format.name is required: name, schema and strict stand beside type here.',
    ],
    [
      { text: { format: { type: 'json_object' } }, regex: 'a+' },
      'regex must not be given beside text.format: an answer keeps to one constraint.',
    ],
    [
      { reasoning: { effort: 'huge' } },
      "reasoning.effort must be 'none', 'minimal', 'low', 'medium', 'high', 'xhigh' or 'max', but was \"huge\".",
    ],
    [{ top_logprobs: 21 }, 'top_logprobs must be an integer between 0 and 20, but was 21.'],
    [{ include: 'x' }, 'include must be an array of names, but was "x".'],
  ])('%j', async (fields, detail) => {
    const { status, body } = await post(fields)

    expect([status, body.detail]).toEqual([400, detail])
  })
})

describe('what is asked of the engine', () => {
  it('is any text, at the defaults', () => {
    expect(read({ text: { format: { type: 'text' }, verbosity: 'low' }, include: [], tools: [] })).toEqual({
      modelId: 'default',
      input: {
        kind: 'chat',
        messages: [{ role: 'user', content: 'ab' }],
        fieldNames: { chat: 'input', textOf: expect.any(Function) },
        choices: 1,
        templateArguments: { verbosity: 'low' },
      },
      maxNewTokens: 256,
      sampling: { temperature: 1, topK: 0, topP: 1, repetitionPenalty: 1, seed: null },
      stopStrings: [],
      numBeams: 1,
      priority: 0,
    })
  })

  it('has the sampling options of a chat', () => {
    const fields = {
      top_k: 5,
      min_p: 0.1,
      seed: 7,
      priority: 3,
      stop: ['x'],
      min_tokens: 2,
      max_output_tokens: 9,
    }

    expect(read(fields)).toMatchObject({
      maxNewTokens: 9,
      sampling: { topK: 5, minP: 0.1, seed: 7 },
      stopStrings: ['x'],
      endRules: { minTokens: 2 },
      priority: 3,
    })
  })

  it('has a constraint for a format', () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' } } }
    const format = { type: 'json_schema', name: 'n', schema, strict: true }

    expect(read({ text: { format: { type: 'json_object' } } }).constraint).toEqual({ kind: 'json-object' })
    expect(read({ text: { format } }).constraint).toEqual({
      kind: 'json-schema',
      schema: JSON.stringify(schema),
      isStrict: true,
    })
    expect(read({ text: { format } }).constraintField).toBe('text.format')
    expect(read({ regex: 'a+' })).toMatchObject({
      constraint: { kind: 'regex', pattern: 'a+' },
      constraintField: 'regex',
    })
  })

  it('has log probabilities where they are to be included', () => {
    const include = ['message.output_text.logprobs']

    expect(read({ include }).topLogprobs).toBe(0)
    expect(read({ include, top_logprobs: 3 }).topLogprobs).toBe(3)
    expect(read({ top_logprobs: 3 }).topLogprobs).toBe(3)
    expect(read({ top_logprobs: 0, include: ['reasoning.encrypted_content'] }).topLogprobs).toBeUndefined()
  })

  it.each([
    [undefined, 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [{ type: 'function', name: 'f' }, { name: 'f' }],
  ])('has tools, with the choice %j', (tool_choice, toolChoice) => {
    const { input } = read({ tools: [FUNCTION], tool_choice, parallel_tool_calls: false })

    expect(input).toMatchObject({ tools: [DEFINITION], toolChoice, allowsParallelToolCalls: false })
  })

  it.each([[[{ type: 'web_search' }]], ['junk']])('has no tools where none is asked for: %j', (tools) => {
    expect(read({ tools, tool_choice: 'none' }).input).not.toHaveProperty('tools')
  })

  it('has only the tools that are allowed', () => {
    const tool_choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] }

    const { input } = read({ tools: [{ type: 'function', name: 'g' }, FUNCTION], tool_choice })

    expect(input).toMatchObject({ tools: [DEFINITION], toolChoice: 'required' })
  })

  it('has the effort of reasoning for the template', () => {
    expect(read({ reasoning: { effort: 'high', summary: 'auto' } }).input).toMatchObject({
      templateArguments: { reasoning_effort: 'high' },
    })
  })
})

describe('max_output_tokens', () => {
  it('above what the tier allows is lowered, and the answer says so', async () => {
    const { post: postFree } = createTestApp({ authenticator: createTierAuthenticator('free') })

    const answer = await postFree(URL, { input: 'ab', max_output_tokens: 32_000 })

    expect(answer.statusCode).toBe(200)
    expect(Number(answer.headers['x-max-tokens-applied'])).toBeLessThan(32_000)
    expect(answer.json().max_output_tokens).toBe(32_000)
  })
})
