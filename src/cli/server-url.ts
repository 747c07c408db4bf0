/** Where a running server is reached, as an option of the commands that ask it or print its address. */
import { textLike, type ValueKind } from '../config/value-kinds.ts'

const anyUrl = textLike('url', 'an http or https URL', (text) => /^https?:\/\/\S+$/.test(text))

/** Ends with a slash, so that what is added stays below the path that a proxy gives the server. */
export const serverUrl: ValueKind<string> = {
  ...anyUrl,
  parse: (given) => anyUrl.parse(given).replace(/\/*$/, '/'),
}

/** Of a server with the default options on this machine. */
export const DEFAULT_URL = 'http://127.0.0.1:8080/'
