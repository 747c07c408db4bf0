import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChatFormat } from '../formats/chat-format.ts'
import { DEEPSEEK, DEEPSEEK_BLOCK } from '../formats/deepseek.ts'
import { GEMMA } from '../formats/gemma.ts'
import { GEMMA_4 } from '../formats/gemma-4.ts'
import { HERMES } from '../formats/hermes.ts'
import { JSON_FORMAT } from '../formats/json.ts'
import { LLAMA } from '../formats/llama.ts'
import { MISTRAL_LIST, MISTRAL_NAMED } from '../formats/mistral.ts'
import { PHI } from '../formats/phi.ts'
import { QWEN_XML } from '../formats/qwen-xml.ts'
import { writeCalls } from '../template-messages.ts'
import type { AnswerPart, PartReader } from './answer-part.ts'
import { CallReader } from './call-reader.ts'
import { GemmaArguments } from './gemma-arguments.ts'
import { ReasoningReader } from './reasoning-reader.ts'
import { XmlArguments } from './xml-arguments.ts'
import { lengthOf } from '../../../../test/support/length-of.ts'

const FORMATS = {
  ...{ HERMES, LLAMA, MISTRAL_LIST, MISTRAL_NAMED, GEMMA, GEMMA_4, DEEPSEEK, DEEPSEEK_BLOCK, PHI, QWEN_XML },
  JSON_FORMAT,
}
const TOOLS = ['get_weather', 'add', 'f']
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } }

interface ReaderOptions {
  readonly maxCalls?: number
  readonly startsInCalls?: boolean
  readonly isAllCalls?: boolean
}

function createReader(
  { syntax, trigger }: ChatFormat,
  { maxCalls = Infinity, startsInCalls = false, isAllCalls = false }: ReaderOptions = {},
) {
  const tools = new Map(TOOLS.map((name) => [name, PARAMETERS]))
  return new CallReader({ syntax, trigger, tools, maxCalls, startsInCalls, isAllCalls })
}

/** Pieces of the same kind joined, each call one entry. */
function fold(parts: readonly AnswerPart[]): readonly string[] {
  const folded: string[] = []
  let last = ''
  for (const part of parts) {
    const text = part.type === 'call' ? `${part.name}: ` : part.text
    const kind = part.type === 'arguments' ? 'call' : part.type
    if (part.type === 'call' || kind !== last) folded.push(kind === 'text' ? text : `${kind} ${text}`)
    else folded[folded.length - 1] += text
    last = kind
  }
  return folded
}

/** Text stands where it says that it does, one part behind the other. */
function expectPlaces(parts: readonly AnswerPart[], answer: string): void {
  let reached = 0
  for (const part of parts) {
    if (part.type !== 'text') continue
    expect(part.at).toBeGreaterThanOrEqual(reached)
    expect(answer.slice(part.at, part.at + part.text.length)).toBe(part.text)
    reached = part.at + part.text.length
  }
}

function read(reader: PartReader, pieces: readonly string[], isCut = false): readonly string[] {
  const parts = [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end(isCut)]
  expectPlaces(parts, pieces.join(''))
  return fold(parts)
}

const WEATHER = 'call get_weather: {"city": "Rome"}'

describe('calls are read as', () => {
  it.each<[keyof typeof FORMATS, string, readonly string[]]>([
    [
      'HERMES',
      '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>',
      [WEATHER],
    ],
    [
      'HERMES',
      'Let me see.\n\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>\n<tool_call>\n{"arguments": {"a": "}\\"</tool_call>"}, "name": "add"}\n</tool_call>\n',
      ['Let me see.', WEATHER, 'call add: {"a": "}\\"</tool_call>"}'],
    ],
    ['HERMES', '<tool_call>{"name":"f"}</tool_call> Done.', ['call f: {}', 'Done.']],
    ['HERMES', '<tool_call>{"name":"f","arguments":"{\\"a\\":1}"}</tool_call>', ['call f: {"a":1}']],
    ['HERMES', '<tool_call>{"name":"f","arguments":null}', ['call f: {}']],
    ['HERMES', '<tool_call>{"name":"f","arguments":{"a":[1,', ['call f: {"a":[1,']],
    ['LLAMA', '{"name": "get_weather", "parameters": {"city": "Rome"}}', [WEATHER]],
    ['LLAMA', '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Rome"}}', [WEATHER]],
    [
      'LLAMA',
      'Let me check.\n\n{"name": "get_weather", "parameters": {"city": "Rome"}}',
      ['Let me check.', WEATHER],
    ],
    [
      'LLAMA',
      '{"name": "get_weather", "parameters": {"city": "Rome"}}\n{"temperature": 20} [Note: x]',
      [WEATHER, '{"temperature": 20} [Note: x]'],
    ],
    ['LLAMA', '{"name": "f", "parameters": {}} [Note: x]', ['call f: {}', '[Note: x]']],
    [
      'LLAMA',
      '{"type": "function", "name": "get_weather", "parameters": {"city": "Rome"}}; {"name": "f", "parameters": {}}',
      [WEATHER, 'call f: {}'],
    ],
    [
      'MISTRAL_LIST',
      '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Rome"}, "id": "a1B2c3D4e"}, {"name":"f","arguments":{}}]',
      [WEATHER, 'call f: {}'],
    ],
    ['MISTRAL_NAMED', '[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}', [WEATHER]],
    [
      'MISTRAL_NAMED',
      'Ok.[TOOL_CALLS]get_weather[CALL_ID]a1B2c3D4e[ARGS]{"city": "Rome"}[TOOL_CALLS]f[ARGS]{}',
      ['Ok.', WEATHER, 'call f: {}'],
    ],
    ['GEMMA', '```json\n{"name": "get_weather", "parameters": {"city": "Rome"}}\n```', [WEATHER]],
    ['GEMMA', '```tool_code\n{"name": "get_weather", "parameters": {"city": "Rome"}}\n```\n', [WEATHER]],
    ['GEMMA', '{"name": "get_weather", "parameters": {"city": "Rome"}}', [WEATHER]],
    [
      'JSON_FORMAT',
      'So:\n<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>',
      ['So:', WEATHER],
    ],
    ['JSON_FORMAT', '[{"name": "get_weather", "arguments": {"city": "Rome"}}]', [WEATHER]],
    [
      'DEEPSEEK',
      'Ok.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Rome"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      ['Ok.', WEATHER, 'call f: {}'],
    ],
    [
      'DEEPSEEK_BLOCK',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Rome"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      [WEATHER, 'call f: {}'],
    ],
    [
      'PHI',
      '<|tool_call|>{"name": "get_weather", "arguments": {"city": "Rome"}}<|/tool_call|><|tool_call|>[{"name": "f", "arguments": {}}]<|/tool_call|>',
      [WEATHER, 'call f: {}'],
    ],
    ['PHI', 'functools[{"name": "get_weather", "arguments": {"city": "Rome"}}]', [WEATHER]],
    [
      'QWEN_XML',
      'So:\n<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=f>\n</function>\n</tool_call>',
      ['So:', WEATHER, 'call f: {}'],
    ],
    [
      'QWEN_XML',
      '<tool_call>\n<function=f>\n<parameter=city>\n"a"\n\n</p>\n</parameter>\n<parameter=days>\n12\n</parameter>\n<parameter=x>\n[1, "</parameter>"]\n</parameter>\n</function>\n</tool_call>',
      ['call f: {"city": "\\"a\\"\\n\\n</p>", "days": 12, "x": [1, "</parameter>"]}'],
    ],
    [
      'QWEN_XML',
      '<tool_call>\n<function=f>\n<parameter=city>\n<parameter=a>\n1</parameter>\n</p>\n</parameter> \n</parameter>\n</function>\n</tool_call>',
      ['call f: {"city": "<parameter=a>\\n1</parameter>\\n</p>\\n</parameter> "}'],
    ],
    [
      'QWEN_XML',
      'So:\n\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>\nDone.',
      ['So:', WEATHER, 'Done.'],
    ],
    ['QWEN_XML', '<function=f>\n</function>', ['call f: {}']],
    [
      'GEMMA_4',
      '<|tool_call>call:get_weather{city:<|"|>Rome<|"|>}<tool_call|><|tool_call>call:f{}<tool_call|>',
      [WEATHER, 'call f: {}'],
    ],
    [
      'GEMMA_4',
      '<|tool_call>call:f{a:[1,-2.5,{<|"|>b c<|"|>:<|"|>{"x"}\n<|"|>}],d:true,e:null}<tool_call|>',
      ['call f: {"a": [1, -2.5, {"b c": "{\\"x\\"}\\n"}], "d": true, "e": null}'],
    ],
  ])('%s: %s', (name, text, expected) => {
    expect(read(createReader(FORMATS[name]), [text])).toEqual(expected)
    expect(read(createReader(FORMATS[name]), text.split(''))).toEqual(expected)
  })
})

describe('what is no call stays text', () => {
  it.each<[keyof typeof FORMATS, string]>([
    ['HERMES', '<tool_call>'],
    ['HERMES', ' \n<tool_call> is the tag\n'],
    ['HERMES', '<tool_call>{"name": "unknown", "arguments": {}}</tool_call>'],
    ['HERMES', 'a <b> c <tool_cal'],
    ['LLAMA', '{"name": "Bob", "age": 3}'],
    ['LLAMA', '{"title": "x"} [1]'],
    ['LLAMA', 'Sure:\n[\n  {"name": "Bob", "age": 3},\n  {"name": "Eve"}\n]\n[1] A note.'],
    ['LLAMA', 'Use {"name": "f", "parameters": {}} so.'],
    ['MISTRAL_LIST', '[TOOL_CALLS] none'],
    ['MISTRAL_NAMED', '[TOOL_CALLS]unknown[ARGS]{}'],
    ['GEMMA', '```json\n{"a": 1}\n```\n'],
    ['JSON_FORMAT', '[1, 2, 3]'],
    ['DEEPSEEK', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>unknown<｜tool▁sep｜>{}'],
    ['PHI', 'functools.partial(f)'],
    ['QWEN_XML', '<tool_call>\n<function=unknown>\n</function>\n</tool_call>'],
    ['QWEN_XML', 'Use <function=f> so.'],
    ['QWEN_XML', 'Or\n<function=unknown>\n<fun'],
    ['GEMMA_4', '<|tool_call>call:unknown{}<tool_call|>'],
    ['JSON_FORMAT', '{"name": ["f"]}'],
    ['JSON_FORMAT', ''],
  ])('%s: %s', (name, text) => {
    const expected = text === '' ? [] : [text]
    expect(read(createReader(FORMATS[name]), [text])).toEqual(expected)
    expect(read(createReader(FORMATS[name]), text.split(''))).toEqual(expected)
  })
})

describe('a call', () => {
  it('begins with its name, and has its arguments as they come', () => {
    const reader = createReader(HERMES)

    expect(reader.push('<tool_call>{"name": "f", "argu')).toEqual([{ type: 'call', name: 'f' }])
    expect(reader.push('ments": {"a": "x')).toEqual([{ type: 'arguments', text: '{"a": "x' }])
    expect(reader.push('y"')).toEqual([{ type: 'arguments', text: 'y"' }])
    expect(reader.push('}}</tool_call>')).toEqual([{ type: 'arguments', text: '}' }])
    expect(reader.end(false)).toEqual([])
  })

  it.each(['[1]', '5', '"Rome"', '{', ': }'])('has arguments that parse where it breaks at %j', (broken) => {
    const text = `<tool_call>{"name": "f", "arguments": ${broken === '{' ? '{}, {' : broken}}</tool_call>`
    const [call] = read(createReader(HERMES), [text])
    expect(call).toBe('call f: {}')
    expect(read(createReader(HERMES), text.split(''))[0]).toBe(call)
  })

  it.each(['\n<to', '\n<tool_call>', '\n<tool_call>\n{"name": "ad'])(
    'hides the beginning of one behind it that is cut off: %j',
    (rest) => {
      const text = `<tool_call>{"name": "f", "arguments": {}}</tool_call>${rest}`
      expect(read(createReader(HERMES), [text])).toEqual(['call f: {}'])
      expect(read(createReader(HERMES), text.split(''))).toEqual(['call f: {}'])
    },
  )

  it.each<[keyof typeof FORMATS, string, string]>([
    ['HERMES', '', '<tool_call>'],
    ['HERMES', 'So:', '\n<tool_call>\n{"na'],
    ['HERMES', '', '<tool_call>{"name": "get_we'],
    ['QWEN_XML', '', '<tool_call>\n<function=get_we'],
    ['MISTRAL_LIST', '', '[TOOL_CALLS] [{"arguments": {"a": 1}, '],
    ['MISTRAL_NAMED', '', '[TOOL_CALLS]get_we'],
    ['DEEPSEEK', 'So:', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_we'],
    ['GEMMA_4', '', '<|tool_call>call:get_we'],
  ])('is no text where an answer is cut in front of its name: %s: %s%s', (name, said, beginning) => {
    const expected = said === '' ? [] : [said]
    expect(read(createReader(FORMATS[name]), [said + beginning], true)).toEqual(expected)
    expect(read(createReader(FORMATS[name]), (said + beginning).split(''), true)).toEqual(expected)
  })

  it.each<[keyof typeof FORMATS, string]>([
    ['LLAMA', '{"name": "Bo'],
    ['GEMMA', '```json\n{"name": "Bo'],
    ['HERMES', '<tool_call> is the t'],
    ['HERMES', 'a <tool_cal'],
  ])('may be none where an answer is cut, and is text then: %s: %s', (name, text) => {
    expect(read(createReader(FORMATS[name]), [text], true)).toEqual([text])
    expect(read(createReader(FORMATS[name]), text.split(''), true)).toEqual([text])
  })

  it('has text behind it that only looks like the beginning of one', () => {
    const call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    expect(read(createReader(HERMES), [`${call}\n<b`])).toEqual(['call f: {}', '<b'])
  })

  it('is the last one where no more may come', () => {
    const text = '<tool_call>{"name":"f"}</tool_call><tool_call>{"name":"add"}</tool_call> and'
    expect(read(createReader(HERMES, { maxCalls: 1 }), [text])).toEqual(['call f: {}'])
  })

  it.each([
    [MISTRAL_NAMED, 'f{"a":1}'],
    [MISTRAL_NAMED, 'f[ARGS]{"a":1}'],
    [MISTRAL_LIST, ' [{"name": "f", "arguments": {"a":1}}]'],
  ])('goes on where the prompt has begun it', (format, text) => {
    expect(read(createReader(format, { startsInCalls: true }), [text])).toEqual(['call f: {"a":1}'])
  })
})

describe.each(Object.entries(FORMATS))('an answer of nothing but calls, in the format %s', (_, format) => {
  const whole = writeCalls([{ id: 'x', name: 'get_weather', arguments: '{"city":"Rome"}' }], format)

  it('has no text, wherever it is cut', () => {
    for (let length = 1; length < whole.length; length++) {
      const cut = read(createReader(format, { isAllCalls: true }), [whole.slice(0, length)])
      expect(cut.filter((part) => !part.startsWith('call get_weather: '))).toEqual([])
    }
  })
})

const jsonObject = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }))
const call = fc.record({
  id: fc.constant('x'),
  name: fc.constantFrom(...TOOLS),
  arguments: jsonObject.map((value) => JSON.stringify(value)),
})

/** With arguments that every notation can write. */
const plainCall = fc.record({
  id: fc.constant('x'),
  name: fc.constantFrom(...TOOLS),
  arguments: fc
    .record(
      {
        city: fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '<', '{', '}', ',', 'é', '😀') }),
        days: fc.integer(),
        list: fc.array(fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.constant('x, y'))),
        nested: fc.record({ flag: fc.boolean(), text: fc.constantFrom('[a]', '', ' b ') }),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
})

/** Cut at any places. */
const cut = (text: string): fc.Arbitrary<readonly string[]> =>
  fc.array(fc.nat({ max: text.length }), { maxLength: 12 }).map((places) => {
    const sorted = [0, ...places.toSorted((a, b) => a - b), text.length]
    return sorted.slice(1).map((end, i) => text.slice(sorted[i], end))
  })

/** Pieces of markers, JSON and text in any order. */
const wildText = fc
  .array(
    fc.constantFrom(
      ...[
        '<tool_call>',
        '</tool_call>',
        '[TOOL_CALLS]',
        '<function=f>',
        '<parameter=city>',
        '<parameter=x>',
        '\n</parameter>',
        '</function>',
        '<|tool_call>',
        'call:f{',
        'a:',
        '<|"|>',
        '<tool_call|>',
        '<｜tool▁calls▁begin｜>',
        '<｜tool▁call▁begin｜>',
        'function<｜tool▁sep｜>f',
        'f<｜tool▁sep｜>',
        '<｜tool▁call▁end｜>',
        '<｜tool▁calls▁end｜>',
        '<|tool_call|>',
        'functools',
        '[ARGS]',
        '[CALL_ID]',
        '<|python_tag|>',
        '```json',
        '```',
        '`',
      ],
      ...[
        '{"name": "f", "arguments": {"a": 1}}',
        '{"name": ',
        '"f"',
        '"arguments": ',
        '{',
        '}',
        '[',
        ']',
        ',',
        ';',
        '"',
        '\\',
      ],
      ...[
        '<think>',
        '</think>',
        '<',
        'f',
        'add',
        ' ',
        '\n',
        'text',
        '{"parameters": {}, "name": "add"}',
        ': ',
        'id',
      ],
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''))

/** White space that a line ends with comes with the next one. */
const CUT_BEFORE_LINES: [[string, string[]], boolean, boolean][] = [
  '<function=f>',
  '{"name": "f", "arguments": {"a": 1}}',
].map((line) => [[`text \n${line}`, ['text', ` \n${line}`]], false, false])

/** A format that writes arguments in its own way keeps their values, not their text. */
const JSON_FORMATS = Object.entries(FORMATS).filter(([, { writeArguments }]) => writeArguments === undefined)

describe.each(JSON_FORMATS)('%s', (_, format) => {
  it('reads the calls that it writes', () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 3 }), (calls) => {
        const expected = calls.map(({ name, arguments: text }) => `call ${name}: ${text}`)
        expect(read(createReader(format), [writeCalls(calls, format)])).toEqual(expected)
      }),
    )
  })
})

describe.each(Object.entries(FORMATS))('%s', (_, format) => {
  it('reads the values that it writes', () => {
    fc.assert(
      fc.property(fc.array(plainCall, { minLength: 1, maxLength: 3 }), (calls) => {
        const folded = read(createReader(format), [writeCalls(calls, format)])
        expect(folded.map((one) => JSON.parse(one.replace(/^call \w+: /, '')) as unknown)).toEqual(
          calls.map(({ arguments: text }) => JSON.parse(text) as unknown),
        )
      }),
    )
  })

  it('reads the same wherever the text is cut', () => {
    fc.assert(
      fc.property(
        wildText.chain((text) => fc.tuple(fc.constant(text), cut(text))),
        fc.boolean(),
        fc.boolean(),
        ([text, pieces], startsInCalls, isCut) => {
          const whole = read(createReader(format, { startsInCalls }), [text], isCut)
          expect(read(createReader(format, { startsInCalls }), pieces, isCut)).toEqual(whole)
        },
      ),
      { numRuns: lengthOf({ test: 200, soak: 10_000 }), examples: CUT_BEFORE_LINES },
    )
  })
})

describe.each([
  {
    name: 'Gemma 4',
    create: () => new GemmaArguments(),
    begin: '{',
    end: '<|"|>}]}]}]}]}]}]}]}]}]}]}]}]}]}]}',
  },
  {
    name: 'Qwen3-Coder',
    create: () => new XmlArguments(PARAMETERS),
    begin: '',
    end: '</parameter></function>',
  },
])('arguments in the notation of $name', ({ create, begin, end }) => {
  it('are JSON, whatever stands in them', () => {
    fc.assert(
      fc.property(wildText, (text) => {
        const { json, isEnd } = create().read(begin + text + end)
        if (isEnd) expect(JSON.parse(json)).toBeTypeOf('object')
      }),
      { numRuns: lengthOf({ test: 300, soak: 20_000 }) },
    )
  })
})

describe('reasoning', () => {
  const markers = { open: '<think>', close: '</think>' }
  const createThinker = (isOpen: boolean) =>
    new ReasoningReader({ markers, isOpen, next: createReader(HERMES) })

  it.each<[boolean, string, readonly string[]]>([
    [false, '<think>\nHm. \n</think>\n\nYes. ', ['reasoning Hm.', 'Yes. ']],
    [true, 'Hm. Ok.\n</think>\n\nYes.', ['reasoning Hm. Ok.', 'Yes.']],
    [true, 'Hm.</think><tool_call>{"name":"f"}</tool_call>', ['reasoning Hm.', 'call f: {}']],
    [false, '<think>\n\n</think>\n\nYes.', ['Yes.']],
    [false, 'No <think> here', ['No <think> here']],
    [false, ' <thi', [' <thi']],
    [true, 'endless </thi', ['reasoning endless </thi']],
    [true, '', []],
  ])('where the prompt has begun it (%s): %s', (isOpen, text, expected) => {
    expect(read(createThinker(isOpen), [text])).toEqual(expected)
    expect(read(createThinker(isOpen), text.split(''))).toEqual(expected)
  })

  it('is the same wherever the text is cut', () => {
    fc.assert(
      fc.property(
        wildText.chain((text) => fc.tuple(fc.constant(text), cut(text))),
        fc.boolean(),
        ([text, pieces], isOpen) => {
          expect(read(createThinker(isOpen), pieces)).toEqual(read(createThinker(isOpen), [text]))
        },
      ),
      { numRuns: lengthOf({ test: 200, soak: 10_000 }) },
    )
  })
})
