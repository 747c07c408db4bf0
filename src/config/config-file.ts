/**
 * The configuration file: JSON when its name ends so, else YAML. Checks that it holds options by name; names and values
 * are checked where they are used.
 */
import { readFileSync } from 'node:fs'
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
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new StartError(`The configuration file ${path} ${whyUnreadable(error)}.`, 2)
  }
}

function whyUnreadable(error: unknown): string {
  const code = errorCode(error)
  if (code === 'ENOENT') return 'does not exist'
  return code === 'EISDIR' ? 'is a folder' : `cannot be read (${String(code)})`
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // V8's message quotes the text around the mistake, which may be a secret; the YAML parser gives a place.
    const place = placeOfMistake(text)
    throw new StartError(`The configuration file ${path} is not valid JSON${place}.`, 2)
  }
}

function parseYaml(text: string, path: string): unknown {
  const document = parseDocument(text)
  if (document.errors.length > 0) {
    throw new StartError(`The configuration file ${path} is not valid YAML${placeOfMistake(text)}.`, 2)
  }
  try {
    return document.toJS()
  } catch {
    throw new StartError(
      `The configuration file ${path} has an alias without an anchor, or too many aliases.`,
      2,
    )
  }
}

/** Loaded on demand: 73 files, for which every start would wait. */
function parseDocument(text: string) {
  const yaml = require('yaml') as typeof Yaml
  return yaml.parseDocument(text)
}

function placeOfMistake(text: string): string {
  const [first] = parseDocument(text).errors
  const [start] = first?.linePos ?? []
  return start === undefined ? '' : ` (line ${start.line}, column ${start.col})`
}
