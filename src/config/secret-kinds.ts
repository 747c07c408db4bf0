/**
 * Secrets in options: given as they are, as `@FILE` or as `env:NAME`. An error never shows the secret, nor the name of its file,
 * because a secret that begins with `@` looks like one.
 */
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { errorCode } from '../core/system-error.ts'
import { isPostgresUrl } from '../core/text/database-location.ts'
import { type ValueKind, ValueProblem } from './value-kinds.ts'

const MIN_SECRET_LENGTH = 16

/** Secrets between commas or line breaks, or one a line in a file; an array in a file of options or in code is taken as it is. */
export const secretList: ValueKind<readonly string[]> = {
  placeholder: 'keys',
  expected: 'a list of secrets, env:NAME or @FILE',
  isList: true,
  parse: (given) => Object.freeze(readSecrets(given, (text) => text.split(/[,\n]/))),
}

/** One secret, commas included; several, each as good as the others, as the lines of a file or an array. One stays text. */
export const oneOrMoreSecrets: ValueKind<string | readonly string[]> = {
  placeholder: 'secret',
  expected: 'a secret, a list of secrets, env:NAME or @FILE',
  parse: (given) => {
    const secrets = readSecrets(given, (text) => [text])
    const [first, ...more] = secrets
    if (first === undefined) throw new ValueProblem('must hold at least one secret')
    return more.length === 0 ? first : Object.freeze(secrets)
  },
}

/** What `oneOrMoreSecrets` gives, as a list; empty for null. */
export function listSecrets(secrets: string | readonly string[] | null): readonly string[] {
  if (secrets === null) return []
  return typeof secrets === 'string' ? [secrets] : secrets
}

/** A password of a person, which may be shorter and whose blanks count; its bounds are the accounts' own. */
export const passwordText: ValueKind<string> = {
  placeholder: 'password',
  expected: 'a password, env:NAME or @FILE',
  parse: (given) => {
    if (typeof given !== 'string') throw new ValueProblem('must be text')
    return given.startsWith('@') ? readText(given.slice(1)).replace(/\r?\n$/, '') : readSource(given)
  },
}

const DATABASE = 'a file, :memory: or a postgres:// URL'

/** The URL may hold a password, also one of a database that is not known. */
export const databaseLocation: ValueKind<string> = {
  placeholder: 'file|url',
  expected: DATABASE,
  parse: (given) => {
    const isFile =
      typeof given === 'string' && given !== '' && !/^(?:[a-z][a-z\d+.-]*:\/\/|env:)/i.test(given)
    if (isFile || (typeof given === 'string' && isPostgresUrl(given))) return given
    throw new ValueProblem(`must be ${DATABASE}`)
  },
}

/** The URL may hold a password. */
export const redisUrl: ValueKind<string> = {
  placeholder: 'url',
  expected: 'a redis:// or rediss:// URL, env:NAME or @FILE',
  parse: (given) => {
    const url = typeof given === 'string' ? readSource(given).trim() : ''
    if (/^rediss?:\/\/[^/]/.test(url) && URL.canParse(url)) return url
    throw new ValueProblem('must be a redis:// or rediss:// URL, env:NAME or @FILE')
  },
}

function readSecrets(given: unknown, split: (text: string) => readonly string[]): readonly string[] {
  // A file may have a comma in its name; several lines are several options.
  if (typeof given === 'string' && given.startsWith('@') && !given.includes('\n'))
    return readSecretFile(given.slice(1))
  const secrets = typeof given === 'string' ? split(given) : given
  if (!Array.isArray(secrets) || !secrets.every((item) => typeof item === 'string')) {
    throw new ValueProblem('must be text')
  }
  // Taken as it is, the name of a variable would be a secret that others can guess.
  const read = secrets.flatMap((item: string) =>
    item.trim().startsWith('env:') ? split(readSource(item.trim())) : [item],
  )
  const trimmed = read.map((item) => item.trim())
  if (trimmed.includes('')) throw new ValueProblem('must not contain an empty secret')
  return trimmed.flatMap((text) =>
    text.startsWith('@') ? readSecretFile(text.slice(1)) : requireLength(text),
  )
}

/** A shorter one can be guessed: unlike a password it is all that a caller needs. */
function requireLength(text: string): string {
  const length = Array.from(text).length
  if (length >= MIN_SECRET_LENGTH) return text
  throw new ValueProblem(
    `must hold secrets of at least ${MIN_SECRET_LENGTH} characters, but one has ${length}`,
  )
}

/** Text, `env:NAME` or `@FILE`. */
export function readSource(given: string): string {
  if (given.startsWith('@')) return readText(given.slice(1))
  if (!given.startsWith('env:')) return given
  const value = process.env[given.slice('env:'.length)]
  if (value === undefined || value === '')
    throw new ValueProblem('names a variable after env:, but it is not set')
  return value
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\u{FEFF}/u, '')
  } catch (error) {
    const cause = errorCode(error) === 'ENOENT' ? 'it does not exist' : 'it cannot be read'
    throw new ValueProblem(`names a file after @, but ${cause}`, { cause: error })
  }
}

function readSecretFile(path: string): readonly string[] {
  const secrets = readText(path)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (secrets.length === 0) throw new ValueProblem('names a file after @, but it holds no secret')
  // Nobody means the name of a file by it, which others could guess.
  if (secrets.some((text) => text.startsWith('@')))
    throw new ValueProblem('names a file after @, but a line of it begins with @, as no secret does')
  return secrets.map(requireLength)
}
