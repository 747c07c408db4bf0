/** The request of a conversation as code that runs as pasted: curl, Python and TypeScript with OpenAI's libraries. */
import type { ChatRequest } from './request.ts'

export const LANGUAGES = ['curl', 'Python', 'TypeScript'] as const
export type Language = (typeof LANGUAGES)[number]

interface SnippetOptions {
  readonly request: ChatRequest
  /** Of the API, with `/v1`. */
  readonly baseUrl: string
  /** Null reads it from the environment. */
  readonly apiKey: string | null
}

/** What OpenAI's libraries have a parameter for; all else of the request is an extension. */
const OPENAI_FIELDS = new Set([
  ...['model', 'messages', 'temperature', 'top_p', 'max_tokens', 'presence_penalty', 'frequency_penalty'],
  ...['logit_bias', 'seed', 'stop', 'tools', 'tool_choice', 'response_format', 'reasoning_effort'],
])

export function createSnippet(language: Language, options: SnippetOptions): string {
  switch (language) {
    case 'curl':
      return createCurl(options)
    case 'Python':
      return createPython(options)
    case 'TypeScript':
      return createTypeScript(options)
  }
}

function createCurl({ request, baseUrl, apiKey }: SnippetOptions): string {
  const body = JSON.stringify({ ...request, stream: true }, null, 2)
  return [
    `curl --no-buffer '${baseUrl}/chat/completions' \\`,
    `  -H "Authorization: Bearer ${apiKey ?? '$SLUICE_API_KEY'}" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  --data-binary '${body.replaceAll("'", String.raw`'\''`)}'`,
    '',
  ].join('\n')
}

function split(request: ChatRequest) {
  const fields = Object.entries(request)
  return {
    known: fields.filter(([name]) => OPENAI_FIELDS.has(name)),
    others: Object.fromEntries(fields.filter(([name]) => !OPENAI_FIELDS.has(name))),
  }
}

const hasAny = (fields: Readonly<Record<string, unknown>>) => Object.keys(fields).length > 0

function createPython({ request, baseUrl, apiKey }: SnippetOptions): string {
  const { known, others } = split(request)
  const fields = [
    ...known.map(([name, value]) => `    ${name}=${toPython(value, 1)},`),
    ...(hasAny(others) ? [`    extra_body=${toPython(others, 1)},`] : []),
  ]
  return [
    '# pip install openai',
    ...(apiKey === null ? ['import os', ''] : []),
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=${apiKey === null ? 'os.environ["SLUICE_API_KEY"]' : JSON.stringify(apiKey)})`,
    '',
    'stream = client.chat.completions.create(',
    ...fields,
    '    stream=True,',
    ')',
    'for chunk in stream:',
    '    delta = chunk.choices[0].delta if chunk.choices else None',
    '    if delta and delta.content:',
    '        print(delta.content, end="", flush=True)',
    '    if delta and delta.tool_calls:',
    '        print(delta.tool_calls)',
    'print()',
    '',
  ].join('\n')
}

/** Of JSON; JSON's strings are Python's too. */
function toPython(value: unknown, depth: number): string {
  const indent = '    '.repeat(depth)
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return escapeLoneSurrogates(JSON.stringify(value))
  if (typeof value !== 'object') return JSON.stringify(value)
  const isList = Array.isArray(value)
  const items = isList
    ? value.map((item) => `${indent}    ${toPython(item, depth + 1)},`)
    : Object.entries(value).map(
        ([name, item]) => `${indent}    ${JSON.stringify(name)}: ${toPython(item, depth + 1)},`,
      )
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  return items.length === 0 ? open + close : `${open}\n${items.join('\n')}\n${indent}${close}`
}

/** JSON writes them as escapes already; other characters stay as they are. */
const escapeLoneSurrogates = (text: string) => text.replaceAll('\u2028', String.raw`\u2028`)

function createTypeScript({ request, baseUrl, apiKey }: SnippetOptions): string {
  const { known, others } = split(request)
  const fields = known.map(([name, value]) => `    ${name}: ${indentJson(value)},`)
  const key = apiKey === null ? 'process.env.SLUICE_API_KEY' : JSON.stringify(apiKey)
  return [
    '// npm install openai',
    "import OpenAI from 'openai'",
    '',
    `const client = new OpenAI({ baseURL: ${JSON.stringify(baseUrl)}, apiKey: ${key} })`,
    '',
    'async function main() {',
    '  const stream = await client.chat.completions.create({',
    ...fields,
    '    stream: true,',
    ...(hasAny(others)
      ? [`    // Fields that OpenAI's API does not have.`, `    ...(${indentJson(others)} as object),`]
      : []),
    '  })',
    '  for await (const chunk of stream) {',
    '    const delta = chunk.choices[0]?.delta',
    "    process.stdout.write(delta?.content ?? '')",
    '    if (delta?.tool_calls) console.log(JSON.stringify(delta.tool_calls))',
    '  }',
    '  console.log()',
    '}',
    '',
    'main()',
    '',
  ].join('\n')
}

const indentJson = (value: unknown) => JSON.stringify(value, null, 2).replaceAll('\n', '\n    ')
