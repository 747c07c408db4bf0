/**
 * JSON files of a checkpoint (config.json, tokenizer.json, ...) and typed access to their fields. A problem is one
 * sentence that names the file, the field, what was expected and what was found.
 */
import { readFile, stat } from 'node:fs/promises'
import { badFile, fileError, isMissing, quoted, shown } from './file-errors.ts'
import { checkFile } from './open-file.ts'

/** Twice as large as the index of the largest checkpoint that is published. Empty objects take thirty times as much memory as in the file. */
const MAX_FILE_BYTES = 32 * 2 ** 20
/** Of a vocabulary: four times as large as the largest that is published. */
export const MAX_TOKENIZER_BYTES = 128 * 2 ** 20

const MAX_DEPTH = 100
const [QUOTE, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [
  0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d,
]

/** An object inside a JSON file, with the path to name in errors. */
export interface JsonObject {
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
}

export async function readJsonObject(path: string, maxBytes = MAX_FILE_BYTES): Promise<JsonObject> {
  return toJsonObject(path, parseJson(path, await readText(path, maxBytes)))
}

/** Null when the file does not exist. */
export async function readOptionalJsonObject(path: string): Promise<JsonObject | null> {
  const text = await readOptionalText(path)
  return text === null ? null : toJsonObject(path, parseJson(path, text))
}

/** Null when the file does not exist. */
export async function readOptionalText(path: string): Promise<string | null> {
  return (await isFile(path)) ? await readText(path) : null
}

/** False when the path does not exist; other errors are thrown. */
export async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch (error) {
    if (isMissing(error)) return false
    throw fileError('read', path, error)
  }
}

export function parseJson(path: string, text: string): unknown {
  if (isTooDeep(text)) throw badFile(path, `is unusable: its JSON is nested more than ${MAX_DEPTH} deep`)
  try {
    return JSON.parse(text)
  } catch {
    throw badFile(path, 'is not valid JSON')
  }
}

/** Values are read and shown by recursion, which deep nesting would overflow. */
function isTooDeep(text: string): boolean {
  let depth = 0
  let isInString = false
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index)
    if (isInString) {
      if (character === BACKSLASH) index++
      else if (character === QUOTE) isInString = false
    } else if (character === QUOTE) isInString = true
    else if (character === OPEN_BRACKET || character === OPEN_BRACE) {
      depth++
      if (depth > MAX_DEPTH) return true
    } else if (character === CLOSE_BRACKET || character === CLOSE_BRACE) depth--
  }
  return false
}

export function toJsonObject(path: string, value: unknown): JsonObject {
  if (!isRecord(value)) throw badFile(path, 'is not a JSON object')
  return { path, fields: value }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

interface NumberBounds {
  readonly min: number
  readonly max: number
  readonly default?: number | undefined
}

/** @throws StartError when the field is missing without a default, no whole number, or out of bounds. */
export function wholeNumberField(object: JsonObject, name: string, bounds: NumberBounds): number {
  const value = object.fields[name] ?? bounds.default
  if (typeof value === 'number' && Number.isInteger(value) && value >= bounds.min && value <= bounds.max)
    return value
  throw wrongField(object, name, `a whole number from ${bounds.min} to ${bounds.max}`)
}

export function positiveNumberField(object: JsonObject, name: string, defaultValue?: number): number {
  const value = object.fields[name] ?? defaultValue
  if (typeof value === 'number' && value > 0 && Number.isFinite(value)) return value
  throw wrongField(object, name, 'a number above 0')
}

export function flagField(object: JsonObject, name: string, defaultValue: boolean): boolean {
  const value = object.fields[name] ?? defaultValue
  if (typeof value === 'boolean') return value
  throw wrongField(object, name, 'true or false')
}

/** A nested object; null when the field is missing or null. */
export function objectField(object: JsonObject, name: string): JsonObject | null {
  const value = object.fields[name] ?? null
  if (value === null) return null
  if (isRecord(value)) return { path: object.path, fields: value }
  throw wrongField(object, name, 'an object')
}

/** A list; empty when the field is missing or null. */
export function listField(object: JsonObject, name: string): readonly unknown[] {
  const value = object.fields[name] ?? []
  if (Array.isArray(value)) return value
  throw wrongField(object, name, 'a list')
}

function wrongField(object: JsonObject, name: string, expected: string): Error {
  return badFile(
    object.path,
    `is not usable: ${quoted(name)} must be ${expected}, but is ${shown(object.fields[name])}`,
  )
}

/** A small binary file, with the path to name in errors. */
export interface BinaryFile {
  readonly path: string
  readonly bytes: Buffer
}

/** Null when the file does not exist. */
export async function readOptionalBytes(path: string, maxBytes: number): Promise<BinaryFile | null> {
  return (await isFile(path)) ? { path, bytes: await readSmallFile(path, maxBytes) } : null
}

export async function readText(path: string, maxBytes = MAX_FILE_BYTES): Promise<string> {
  return (await readSmallFile(path, maxBytes)).toString('utf8')
}

async function readSmallFile(path: string, maxBytes: number): Promise<Buffer> {
  try {
    const size = await checkFile(path)
    if (size > maxBytes) {
      throw badFile(path, `is ${size} bytes long, but such a file of a checkpoint has at most ${maxBytes}`)
    }
    return await readFile(path)
  } catch (error) {
    throw fileError('read', path, error)
  }
}
