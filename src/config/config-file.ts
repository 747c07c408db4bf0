/**
 * The configuration file: JSON when its name ends so, else YAML. Checks that it holds options by name; names and values
 * are checked where they are used.
 */
import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import { StartError } from '../core/errors.ts'
import { errorCode } from '../core/system-error.ts'

const require = createRequire(import.meta.url)

export interface ConfigFile {
  /** As the user gave it, for errors. */
  readonly path: string
  readonly values: Readonly<Record<string, unknown>>
}

/** No file of options comes near it; a checkpoint, named here by mistake, would be parsed for minutes. */
const MAX_BYTES = 1024 * 1024

/** @throws StartError */
export function readConfigFile(path: string): ConfigFile {
  const text = readText(path).replace(/^\u{FEFF}/u, '')
  const values = path.toLowerCase().endsWith('.json') ? parseJson(text, path) : parseYaml(text, path)
  if (values === null) return { path, values: {} }
  if (typeof values !== 'object' || Array.isArray(values)) {
    throw new StartError(`The configuration file ${path} must hold options by name, such as port: 8080.`, 2)
  }
  return { path, values: { ...values } }
}

function readText(path: string): string {
  const bytes = readBytes(path)
  // UTF-16 without a mark at its beginning is UTF-8 with null characters.
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8')
  throw new StartError(`The configuration file ${path} must be text in UTF-8.`, 2)
}

function readBytes(path: string): Buffer {
  try {
    if (statSync(path).size <= MAX_BYTES) return readFileSync(path)
  } catch (error) {
    throw new StartError(`The configuration file ${path} ${whyUnreadable(error)}.`, 2)
  }
  throw new StartError(`The configuration file ${path} is larger than 1 MB: it holds options alone.`, 2)
}

function whyUnreadable(error: unknown): string {
  const code = errorCode(error)
  if (code === 'ENOENT') return 'does not exist'
  return code === 'EISDIR' ? 'is a folder' : `cannot be read (${String(code)})`
}

function parseJson(text: string, path: string): unknown {
  try {
    const values: unknown = JSON.parse(text)
    // JSON takes the last of two that have one name.
    if (countWrittenNames(text) > countNames(values)) throw refusal(text, path)
    return values
  } catch (error) {
    if (error instanceof StartError) throw error
    // V8's message quotes the text around the mistake, which may be a secret.
    const place = placeOf(firstMistake(text)) || placeAt(text, /at position (\d+)/.exec(String(error))?.[1])
    throw new StartError(`The configuration file ${path} is not valid JSON${place}.`, 2)
  }
}

/** @param text valid JSON */
function countWrittenNames(text: string): number {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined).length
}

function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce((sum: number, one) => sum + countNames(one), own)
}

function parseYaml(text: string, path: string): unknown {
  const document = parseDocument(text)
  if (document.errors.length > 0) throw refusal(text, path)
  try {
    return document.toJS()
  } catch {
    throw new StartError(
      `The configuration file ${path} has an alias without an anchor, or too many aliases.`,
      2,
    )
  }
}

/** Mistakes that are made often, by the parser's code for them; its messages quote the text, which may be a secret. */
const MISTAKES: Readonly<Record<string, string>> = {
  BAD_SCALAR_START:
    'has a value without quotes that needs them, as its first character means something in YAML',
  DUPLICATE_KEY: 'has the same name twice',
  MULTIPLE_DOCS: 'holds more than one document',
  TAB_AS_INDENT: 'is indented with a tab, where YAML takes spaces alone',
}

function refusal(text: string, path: string): StartError {
  const mistake = firstMistake(text)
  const problem = MISTAKES[mistake?.code ?? ''] ?? 'is not valid YAML'
  return new StartError(`The configuration file ${path} ${problem}${placeOf(mistake)}.`, 2)
}

function firstMistake(text: string): Yaml.YAMLError | undefined {
  return parseDocument(text).errors[0]
}

function placeOf(mistake: Yaml.YAMLError | undefined): string {
  const [start] = mistake?.linePos ?? []
  return start === undefined ? '' : ` (line ${start.line}, column ${start.col})`
}

/** @param position the number of characters before it, where there is one */
function placeAt(text: string, position: string | undefined): string {
  if (position === undefined) return ''
  const lines = text.slice(0, Number(position)).split('\n')
  return ` (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`
}

/** Loaded on demand: 73 files, for which every start would wait. */
function parseDocument(text: string) {
  const yaml = require('yaml') as typeof Yaml
  // Its warnings would be written past the log.
  return yaml.parseDocument(text, { logLevel: 'error' })
}
