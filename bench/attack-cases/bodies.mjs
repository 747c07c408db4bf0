// @ts-check
/**
 * The worst bodies that a route's bounds admit, made from the schema of its body: 8 MiB of one shape, in the field that takes
 * the most text or beside all fields. Texts of JSON, because a parser is part of what is measured.
 */

/** @typedef {Record<string, any>} Json */
/** @typedef {'text' | 'texts' | 'messages'} CarrierShape */
/** @typedef {{ name: string, shape: CarrierShape, rest: Json }} Carrier the field that takes the most text, and the other ones */

/** The server's bound on a body, less what stands around the filling. */
const FILLING_BYTES = 8 * 1024 * 1024 - 8192
/** The server's bounds on values and on names in one object, less what stands around the filling. */
const MAX_VALUES = 49_900
const MAX_NAMES = 1000
/** The server's bound is 100 levels; two are around the filling. */
const DEPTH = 97
/** The longest prompts that a context of 2048 tokens does not refuse by their bytes, of a token of three bytes. */
const LONG_PROMPT = '<s>'.repeat(10_200)
const PROMPTS = 64
/** In the order of what takes the most text. */
const CARRIERS = ['messages', 'prompts', 'prompt', 'password', 'current_password', 'name', 'email']
/** @type {Json} */
const VALUES = {
  email: 'stall@example.com',
  password: 'a long password',
  current_password: 'a long password',
  new_password: 'another long password',
  id: 'stall',
  checkpoint: 'stall-nothing-here',
  max_new_tokens: 1,
  max_tokens: 1,
}

/** @param {Json} schema @param {Json} schemas @returns {Carrier} */
export function findCarrier(schema, schemas) {
  const name = /\w+$/.exec(schema['$ref'] ?? '')?.[0]
  if (name !== undefined) return findCarrier(schemas[name], schemas)
  const properties = /** @type {Json} */ (schema['properties'] ?? {})
  const carrier = CARRIERS.find((one) => one in properties) ?? Object.keys(properties)[0] ?? 'x'
  const needed = new Set([...(schema['required'] ?? []), 'max_new_tokens', 'max_tokens'])
  const rest = Object.keys(properties).filter((one) => one !== carrier && needed.has(one))
  return {
    name: carrier,
    shape: carrier === 'messages' ? 'messages' : carrier === 'prompts' ? 'texts' : 'text',
    rest: Object.fromEntries(rest.map((one) => [one, VALUES[one] ?? 'x'])),
  }
}

/** Each shape of body by its name; made when it is called, as all of them together are large. @param {Carrier} carrier @returns {Map<string, () => string>} */
export function worstBodies(carrier) {
  const inField = (/** @type {string} */ unit) => () => bodyOf(carrier, { text: `"${fill(unit)}"` })
  const beside = (/** @type {string} */ unit) => () => bodyOf(carrier, { beside: `"x":[${fill(unit)}0]` })
  return new Map([
    ['long string', inField('a')],
    ['words', inField('word ')],
    ['unicode escapes', inField('\\u00e9')],
    ['special tokens', inField('<s>')],
    ['many short strings', () => bodyOf(carrier, { items: true })],
    ['deep nesting', beside(`${'['.repeat(DEPTH)}${']'.repeat(DEPTH)},`)],
    ['many keys', () => bodyOf(carrier, { beside: manyKeys() })],
    ['many numbers', beside('0,')],
    ['many empty objects', beside('{},')],
    ['most values', () => bodyOf(carrier, { beside: `"x":[${'{},'.repeat(MAX_VALUES)}0]` })],
    ['most names', () => bodyOf(carrier, { beside: mostNames() })],
    ...(carrier.shape === 'messages' ? chatBodies() : []),
    ...(carrier.shape === 'texts' ? batchBodies() : []),
  ])
}

/** @param {string} [options] further fields, as JSON @returns {string} 64 prompts of `<s>`, each as long as its bytes may be */
export function longBatch(options = '"max_new_tokens":1') {
  const prompts = Array.from({ length: PROMPTS }, () => `"${LONG_PROMPT}"`)
  return `{"prompts":[${prompts.join(',')}],${options}}`
}

/**
 * 64 prompts that no bound refuses before they are tokenized, and of those the slowest: as many special texts as the context
 * holds tokens, in as many bytes as that of the longest token. @param {number} contextTokens @returns {string}
 */
export function slowestBatch(contextTokens) {
  return batchOf('<s>abcdefghijkl'.repeat(contextTokens - 4), { max_new_tokens: 1 })
}

/** @param {string} text of each prompt @param {object} options @param {number} [count] of prompts */
export function batchOf(text, options, count = PROMPTS) {
  return JSON.stringify({ prompts: Array.from({ length: count }, () => text), ...options })
}

/** @param {string} role @param {string} unit what its content repeats */
export function hugeMessage(role, unit) {
  const others = role === 'system' ? ',{"role":"user","content":"hi"}' : ''
  return `{"messages":[{"role":"${role}","content":"${fill(unit)}"}${others}],"max_tokens":1}`
}

/** @param {string} unit */
export function fill(unit) {
  return unit.repeat(Math.floor(FILLING_BYTES / unit.length))
}

/** @returns {[string, () => string][]} */
function chatBodies() {
  return [
    ['most messages', mostMessages],
    ['one system message', () => hugeMessage('system', 'word ')],
    ['one system message of <', () => hugeMessage('system', '<')],
    ['one user message of special beginnings', () => hugeMessage('user', '<|reserved_')],
  ]
}

/** @returns {[string, () => string][]} */
function batchBodies() {
  const largest = 'a '.repeat(Math.floor(FILLING_BYTES / PROMPTS / 2) - 2)
  return [
    ['64 prompts of <s>', () => longBatch()],
    ['64 prompts of 131 kB', () => batchOf(largest, { max_new_tokens: 1 })],
  ]
}

/** @param {Carrier} carrier @param {{ text?: string, beside?: string, items?: boolean }} filling as JSON */
function bodyOf({ name, shape, rest }, { text = '"a"', beside, items = false }) {
  const message = (/** @type {string} */ content) => `{"role":"user","content":${content}}`
  const item = shape === 'messages' ? message('"a"') : '"a"'
  const values = { text, texts: `[${text}]`, messages: `[${message(text)}]` }
  const value = items ? `[${fill(`${item},`)}${item}]` : values[shape]
  const others = Object.entries(rest).map(([field, one]) => `"${field}":${JSON.stringify(one)}`)
  return `{${[`"${name}":${value}`, ...others, ...(beside === undefined ? [] : [beside])].join(',')}}`
}

/** Objects of as many names as they may have. */
function mostNames() {
  const names = Array.from({ length: MAX_NAMES }, (_, i) => `"n${i}":0`).join(',')
  return `"x":[${`{${names}},`.repeat(MAX_VALUES / (MAX_NAMES + 1) - 1)}0]`
}

/** Turns of a chat, each of as much text as fills the body. */
function mostMessages() {
  const count = Math.floor(MAX_VALUES / 3)
  const content = 'word '.repeat(Math.floor(FILLING_BYTES / count / 5) - 9)
  const messages = Array.from({ length: count }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content,
  }))
  return JSON.stringify({ messages, max_tokens: 1 })
}

function manyKeys() {
  /** @type {string[]} */
  const keys = []
  for (let bytes = 0, i = 0; bytes < FILLING_BYTES - 16; i++) {
    const key = `"k${i.toString(36)}":0`
    keys.push(key)
    bytes += key.length + 1
  }
  return keys.join(',')
}
