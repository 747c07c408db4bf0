// @ts-check
/**
 * `npm run eval:demo`: how many of 300 prompts in 15 classes a model answers right, through the API of the built
 * program, always with the likeliest token. Prints a table.
 *
 * A line of `eval-prompts.jsonl` is { class, messages[, tools], check }; `checks.mjs` says what a check may be. Where a user's message
 * follows another, the model's own answer stands between them.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { KEY, startServer } from '../../../bench/servers/serve.mjs'
import { passes } from './checks.mjs'

/** @typedef {{ role: string, content: string | null, tool_calls?: readonly { function: { name: string, arguments: string } }[] }} Message */
/** @typedef {{ class: string, messages: Message[], tools?: object[], check: Record<string, unknown> }} Prompt */

const USAGE = `npm run eval:demo -- [--checkpoint PATH] [--classes NAME,...] [--wrong]

  --checkpoint PATH  the model, a file or a folder (models/demo)
  --classes NAME,... only these of the 15 classes, such as sums,tools
  --wrong            shows the answers that failed
`
const AT_ONCE = 8
const MAX_TOKENS = 300

const values = readOptions()
const asked = values.classes.split(',').filter((name) => name !== '')
/** @type {Prompt[]} */
const every = readFileSync(new URL('eval-prompts.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line))
const classes = [...new Set(every.map((prompt) => prompt.class))]
const unknown = asked.find((name) => !classes.includes(name))
if (unknown !== undefined) refuse(`--classes must be of ${classes.join(', ')}, but was '${unknown}'`)
const prompts = every.filter((prompt) => asked.length === 0 || asked.includes(prompt.class))

const server = await startServer(['--checkpoint', values.checkpoint, '--max-batch-size', String(AT_ONCE)])
/** @type {Map<string, { right: number, all: number }>} */
const byClass = new Map(prompts.map((prompt) => [prompt.class, { right: 0, all: 0 }]))
try {
  const waiting = [...prompts]
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let prompt = waiting.shift(); prompt !== undefined; prompt = waiting.shift()) await judge(prompt)
    }),
  )
} finally {
  await server.stop()
}
printTable()

function readOptions() {
  const word = /** @type {const} */ ({ type: 'string' })
  const flag = /** @type {const} */ ({ type: 'boolean', default: false })
  const demo = fileURLToPath(new URL('../../../models/demo', import.meta.url))
  try {
    const { values } = parseArgs({
      options: {
        checkpoint: { ...word, default: demo },
        classes: { ...word, default: '' },
        ...{ wrong: flag, help: flag },
      },
    })
    if (!values.help) return values
    process.stdout.write(USAGE)
    process.exit()
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

/** @param {string} message @returns {never} */
function refuse(message) {
  process.stderr.write(`${message}\n\n${USAGE}`)
  process.exit(2)
}

/** @param {Prompt} prompt */
async function judge(prompt) {
  const answer = await converse(prompt)
  const isRight = passes(prompt.check, answer)
  const counts = byClass.get(prompt.class) ?? { right: 0, all: 0 }
  counts.all++
  if (isRight) counts.right++
  else if (values.wrong)
    console.log(
      `[${prompt.class}] ${prompt.messages.at(-1)?.content}\n    -> ${answer.text.replaceAll('\n', ' ')}`,
    )
}

/** The last answer. @param {Prompt} prompt */
async function converse({ messages, tools }) {
  /** @type {Message[]} */
  const said = []
  for (const message of messages) {
    const isLast = ['user', 'tool'].includes(said.at(-1)?.role ?? '')
    if (message.role === 'user' && isLast) said.push(await answer(said, tools))
    said.push(message)
  }
  const { content, tool_calls: calls = [] } = await answer(said, tools)
  return {
    text: [
      content ?? '',
      ...calls.map(
        ({ function: { name, arguments: given } }) =>
          `<tool_call>{"name": "${name}", "arguments": ${given}}</tool_call>`,
      ),
    ].join(''),
    calls: calls.map(({ function: { name, arguments: given } }) => ({ name, arguments: parsed(given) })),
  }
}

/** Arguments that ended too early are no call of anything. @param {string} given @returns {unknown} */
function parsed(given) {
  try {
    return JSON.parse(given)
  } catch {
    return given
  }
}

/** @param {readonly Message[]} messages @param {object[]} [tools] @returns {Promise<Message>} */
async function answer(messages, tools) {
  const response = await fetch(`${server.address}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ messages, tools, temperature: 0, max_tokens: MAX_TOKENS }),
  })
  /** @type {any} */
  const body = await response.json()
  // A prompt that the model's template or context does not take is answered wrong.
  if (!response.ok) return { role: 'assistant', content: `error: ${body.detail}` }
  return body.choices[0].message
}

function printTable() {
  console.log('| class | right |\n|---|---|')
  const all = { right: 0, all: 0 }
  for (const [name, counts] of byClass) {
    all.right += counts.right
    all.all += counts.all
    console.log(`| ${name} | ${counts.right} of ${counts.all} |`)
  }
  console.log(`| all | ${all.right} of ${all.all} |`)
}
