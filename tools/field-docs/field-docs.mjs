// @ts-check
/**
 * The table of docs/clients.md: each field of OpenAI's, Anthropic's, vLLM's and llama-server's requests, and what the routes here
 * do with it. What they do comes from the built program's schemas and its table of other fields; which server has a field from
 * `peer-fields.json`, which is read off their packages by hand. Tests fail when the committed table is not what this gives, and
 * when a field of a peer is in neither list.
 * @import { FieldTable } from '../../dist/net/requests/other-fields/field-table.js'
 */
import { readFileSync } from 'node:fs'
import { countRequest, messagesRequest } from '../../dist/api/dialects/anthropic-messages/schema.js'
import { generateRequest } from '../../dist/api/dialects/generate/schema.js'
import { createChatRequest } from '../../dist/api/dialects/openai-chat/schema.js'
import { completionRequest } from '../../dist/api/dialects/openai-completions/schema.js'
import { embeddingsRequest } from '../../dist/api/dialects/openai-embeddings/schema.js'
import { createResponsesRequest } from '../../dist/api/dialects/openai-responses/request.js'
import { rerankRequest } from '../../dist/api/dialects/rerank/schema.js'
import { tokenizeRequest } from '../../dist/api/dialects/vllm-tokens/schema.js'
import {
  UNBUILT_ANTHROPIC_FIELDS,
  UNBUILT_MESSAGE_FIELDS,
  UNBUILT_OUTPUT_FIELDS,
  UNBUILT_REASONING_FIELDS,
  UNBUILT_RESPONSE_FIELDS,
  UNBUILT_STREAM_FIELDS,
  UNBUILT_TOKENIZE_FIELDS,
  UNBUILT_TOOL_FIELDS,
} from '../../dist/net/requests/other-fields/dialects.js'
import {
  UNBUILT_EMBEDDING_FIELDS,
  UNBUILT_RERANK_FIELDS,
} from '../../dist/net/requests/other-fields/embeddings.js'
import { UNBUILT_FIELDS } from '../../dist/net/requests/other-fields/generation.js'
import { HARMLESS_FIELDS } from '../../dist/net/requests/other-fields/harmless.js'
import { findUnbuiltField } from '../../dist/net/requests/other-fields/unbuilt-fields.js'

/** @typedef {{ title: string, known: ReadonlySet<string>, table: FieldTable }} Route */
/** @typedef {Readonly<Record<string, readonly string[]>>} Peers the fields of each */

const BEGIN = '<!-- fields, made by `npm run docs` -->\n'
const END = '<!-- end of fields -->\n'

/** @type {{ sources: Record<string, string>, generation: Peers, embeddings: Peers, rerank: Peers, tokens: Peers }} */
const PEERS = JSON.parse(readFileSync(new URL('peer-fields.json', import.meta.url), 'utf8'))

/** @param {string} title @param {unknown} schema @param {FieldTable[]} tables @returns {Route} */
function route(title, schema, ...tables) {
  const known = new Set(Object.keys(shapeOf(schema) ?? {}))
  return { title, known, table: new Map(tables.flatMap((table) => [...table])) }
}

/** The fields of the object inside a schema's refinements. @param {any} schema @returns {object | null} */
function shapeOf(schema) {
  const { def } = schema._zod
  if (def.type === 'object') return def.shape
  return (
    [def.in, def.out, def.innerType].flatMap((part) => (part ? [shapeOf(part)] : [])).find(Boolean) ?? null
  )
}

const GENERATION = [
  route('generate', generateRequest, UNBUILT_FIELDS),
  route('chat', createChatRequest(256), UNBUILT_FIELDS),
  route('completions', completionRequest, UNBUILT_FIELDS),
  route('responses', createResponsesRequest(256), UNBUILT_FIELDS, UNBUILT_RESPONSE_FIELDS),
  route('messages', messagesRequest, UNBUILT_FIELDS, UNBUILT_ANTHROPIC_FIELDS),
]
const COUNT = route('count_tokens', countRequest, UNBUILT_FIELDS, UNBUILT_ANTHROPIC_FIELDS)

/** @type {readonly (readonly [peers: Peers, route: Route])[]} */
const OTHERS = [
  [PEERS.embeddings, route('embeddings', embeddingsRequest, UNBUILT_EMBEDDING_FIELDS)],
  [PEERS.rerank, route('rerank', rerankRequest, UNBUILT_RERANK_FIELDS)],
  [PEERS.tokens, route('tokenize', tokenizeRequest, UNBUILT_FIELDS, UNBUILT_TOKENIZE_FIELDS)],
]

/** Asks for something in every field. */
const LOADED = { any: 'thing' }

/** Fields of fields. @type {readonly (readonly [owner: string, table: FieldTable])[]} */
const NESTED = [
  ['a message of a chat', UNBUILT_MESSAGE_FIELDS],
  ['a tool', UNBUILT_TOOL_FIELDS],
  ['`stream_options` of Responses', UNBUILT_STREAM_FIELDS],
  ['`reasoning` of Responses', UNBUILT_REASONING_FIELDS],
  ['`output_config` of Messages', UNBUILT_OUTPUT_FIELDS],
]

/** What a route does with a field; null where it is in neither list. @param {string} field @param {Route} route */
function fateOf(field, { known, table }) {
  if (known.has(field)) return 'read'
  const unbuilt = findUnbuiltField({ [field]: LOADED }, { known, table })
  if (unbuilt === null) return HARMLESS_FIELDS.includes(field) ? 'ignored' : null
  const [, name] = /: it is called ([\w.]+) here$/.exec(unbuilt.problem) ?? []
  return name === undefined ? '400' : `400: \`${name}\``
}

/** Fields of peers that a route would ignore without having said so. @returns {string[]} */
export function unplacedFields() {
  /** @param {Peers} peers @param {Route} one */
  const unplaced = (peers, one) =>
    Object.values(peers)
      .flat()
      .filter((field) => fateOf(field, one) === null && !isPartOf(field))
      .map((field) => `${one.title}: ${field}`)
  return [
    ...[...GENERATION, COUNT].flatMap((one) => unplaced(PEERS.generation, one)),
    ...OTHERS.flatMap(([peers, one]) => unplaced(peers, one)),
  ]
}

/** What says what to answer: a route that does not read it has another in its place, which is required. */
const INPUTS = ['prompt', 'messages', 'input', 'model', 'include', 'text']

/** @param {string} field */
function isPartOf(field) {
  return INPUTS.includes(field)
}

/** @param {string} field @param {Peers} peers */
const ownersOf = (field, peers) => Object.keys(peers).filter((peer) => peers[peer]?.includes(field))

/** @param {readonly Peers[]} peers */
const fieldsOf = (...peers) => [...new Set(peers.flatMap((one) => Object.values(one).flat()))].toSorted()

/** @param {readonly string[][]} rows the first is the head */
function toTable([head = [], ...rows]) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`
  return [head, head.map(() => '---'), ...rows].map(line).join('\n')
}

/** @param {string} field */
function neutralOf(field) {
  const rows = [UNBUILT_RESPONSE_FIELDS, UNBUILT_ANTHROPIC_FIELDS, UNBUILT_FIELDS].map((table) =>
    table.get(field),
  )
  const neutral = rows.find((row) => row !== undefined)?.neutral ?? []
  return neutral.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
}

function renderTables() {
  const { sources, generation } = PEERS
  const generationRows = fieldsOf(generation).map((field) => [
    `\`${field}\``,
    ownersOf(field, generation).join(', '),
    ...GENERATION.map((one) => fateOf(field, one) ?? ''),
    neutralOf(field),
  ])
  const otherRows = fieldsOf(...OTHERS.map(([peers]) => peers)).map((field) => [
    `\`${field}\``,
    [...new Set(OTHERS.flatMap(([peers]) => ownersOf(field, peers)))].join(', '),
    ...OTHERS.map(([peers, one]) => (ownersOf(field, peers).length === 0 ? '' : (fateOf(field, one) ?? ''))),
  ])
  return `Read off ${Object.entries(sources)
    .map(([peer, source]) => `${peer}: ${source}`)
    .join('; ')}.

${toTable([['field', 'whose', ...GENERATION.map(({ title }) => title), 'passes'], ...generationRows])}

The same of requests that generate nothing:

${toTable([['field', 'whose', ...OTHERS.map(([, { title }]) => title)], ...otherRows])}

Fields of fields that are 400, unless they ask for nothing:

${NESTED.map(([owner, table]) => `- of ${owner}: ${[...table.keys()].map((field) => `\`${field}\``).join(', ')}`).join('\n')}
`
}

/** docs/clients.md with the table as it should be. @param {string} text of it @returns {string} */
export function withFieldTables(text) {
  const begin = text.indexOf(BEGIN)
  const end = text.indexOf(END)
  if (begin === -1 || end < begin) throw new Error('docs/clients.md lacks the marks of the table of fields.')
  return `${text.slice(0, begin + BEGIN.length)}\n${renderTables()}\n${text.slice(end)}`
}
