/** How a remote model is named in options: its endpoints, its key and its id there. Also read by the admin API. */
import { readSource } from './secret-kinds.ts'
import { textLike, type ValueKind, ValueProblem } from './value-kinds.ts'

const MAX_URL_LENGTH = 2048
const ENDPOINT_RULE =
  'an http:// or https:// URL without user, query and fragment, perhaps with dns+ in front'

export const endpointUrl = textLike('url', ENDPOINT_RULE, isEndpointUrl)

export const modelName = textLike('id', '1 to 200 characters', (text) => /^\P{C}{1,200}$/u.test(text))

/** Text, `env:NAME` or `@FILE`. No error shows it. */
export const upstreamSecret: ValueKind<string> = {
  placeholder: 'secret',
  expected: 'text, env:NAME or @FILE',
  parse: readSecret,
}

function readSecret(given: unknown): string {
  if (typeof given !== 'string') throw new ValueProblem('must be text, env:NAME or @FILE')
  const text = readSource(given).trim()
  // What an HTTP header can hold.
  if (/^[\x21-\x7e]{1,4096}$/.test(text)) return text
  throw new ValueProblem('must give a key of 1 to 4096 printable ASCII characters without spaces')
}

function isEndpointUrl(text: string): boolean {
  if (text.length > MAX_URL_LENGTH || !/^(?:dns\+)?https?:\/\//.test(text)) return false
  const bare = text.replace(/^dns\+/, '')
  if (!URL.canParse(bare)) return false
  const { username, password, search, hash } = new URL(bare)
  return username + password + search + hash === ''
}
