import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/support/length-of.ts'
import type { AnswerPart, PartReader } from './answer-part.ts'
import { HarmonyReader } from './harmony-reader.ts'

/** Gives what it is given, as it stands. */
function createText(): PartReader {
  let received = 0
  return {
    push: (text) => {
      received += text.length
      return [{ type: 'text', text, at: received - text.length }]
    },
    end: () => [],
  }
}

const joined = (parts: readonly AnswerPart[], type: 'text' | 'reasoning' | 'arguments') =>
  parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('')

function read(answer: string, { size = answer.length, startsInHeader = true } = {}) {
  const reader = new HarmonyReader({ startsInHeader, tools: new Set(['get_weather']), next: createText() })
  const parts: AnswerPart[] = []
  for (let at = 0; at < answer.length; at += size) parts.push(...reader.push(answer.slice(at, at + size)))
  parts.push(...reader.end(false))
  for (const part of parts) {
    if (part.type === 'text') expect(answer.slice(part.at).startsWith(part.text)).toBe(true)
  }
  return {
    text: joined(parts, 'text'),
    reasoning: joined(parts, 'reasoning'),
    calls: parts.flatMap((part) => (part.type === 'call' ? [part.name] : [])),
    arguments: joined(parts, 'arguments'),
  }
}

const NOTHING = { text: '', reasoning: '', calls: [], arguments: '' }
const FINAL = '<|channel|>final<|message|>'
const ANALYSIS = '<|channel|>analysis<|message|>'
const NEXT = '<|end|><|start|>assistant'

describe.each([1, 2, 3, 7, 1000])('an answer of gpt-oss in pieces of %d characters', (size) => {
  it.each([
    [
      'reasons, then answers',
      `${ANALYSIS}Hm, 4 < 5.${NEXT}${FINAL}Four.`,
      { reasoning: 'Hm, 4 < 5.', text: 'Four.' },
    ],
    ['answers alone', `${FINAL}a <| b`, { text: 'a <| b' }],
    ['reasons twice', `${ANALYSIS}a${NEXT}${ANALYSIS}b${NEXT}${FINAL}c`, { reasoning: 'a\n\nb', text: 'c' }],
    ['is cut off in its reasoning', `${ANALYSIS}Hm`, { reasoning: 'Hm' }],
    ['is cut off in a header', `${ANALYSIS}Hm${NEXT}<|channel|>fin`, { reasoning: 'Hm' }],
    [
      'says what it does, then calls',
      `<|channel|>commentary<|message|>I look.${NEXT} to=functions.get_weather<|channel|>commentary json<|message|>{"city":"Rome"}<|call|>`,
      { text: 'I look.', calls: ['get_weather'], arguments: '{"city":"Rome"}' },
    ],
    [
      'calls without arguments',
      '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|><|call|>',
      { calls: ['get_weather'], arguments: '{}' },
    ],
    [
      'calls without arguments, then answers',
      `<|channel|>commentary to=functions.get_weather<|message|>${NEXT}${FINAL}Four.`,
      { calls: ['get_weather'], arguments: '{}', text: 'Four.' },
    ],
    [
      'calls what the request does not have',
      `<|channel|>analysis to=python code<|message|>1+1${NEXT}${FINAL}2`,
      { reasoning: '1+1', text: '2' },
    ],
    ['has no channels', 'Hello <b>', { text: 'Hello <b>' }],
    ['has no header', '<|message|>Four.', { text: 'Four.' }],
    ['names a marker in its text', 'A <|message|> tag', { text: 'A <|message|> tag' }],
  ])('%s', (_, answer, expected) => {
    expect(read(answer, { size })).toEqual({ ...NOTHING, ...expected })
  })

  it('goes on where the prompt ends in a message', () => {
    expect(read('rest of it', { size, startsInHeader: false })).toEqual({ ...NOTHING, text: 'rest of it' })
  })
})

/** Pieces of headers, messages and text in any order. */
const wildAnswer = fc
  .array(
    fc.constantFrom(
      ...['<|channel|>', '<|message|>', '<|end|>', '<|start|>assistant', '<|call|>', '<|constrain|>json'],
      ...['analysis', 'final', 'commentary', ' to=functions.get_weather', 'to=python', '{"city": "Köln"}'],
      ...['<|', '<', ' ', '\n', 'text', '😀'],
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''))

it('is read the same wherever it is cut', () => {
  fc.assert(
    fc.property(wildAnswer, fc.integer({ min: 1, max: 12 }), fc.boolean(), (answer, size, startsInHeader) => {
      expect(read(answer, { size, startsInHeader })).toEqual(read(answer, { startsInHeader }))
    }),
    { numRuns: lengthOf({ test: 300, soak: 20_000 }) },
  )
})
