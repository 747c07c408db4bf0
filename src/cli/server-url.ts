/** Where a running server is reached, as an option of the commands that ask it or print its address. */
import { errorCode } from '../core/system-error.ts'
import { textLike, type ValueKind } from '../config/value-kinds.ts'

const anyUrl = textLike('url', 'an http or https URL', (text) => /^https?:\/\/\S+$/.test(text))

/** Ends with a slash, so that what is added stays below the path that a proxy gives the server. */
export const serverUrl: ValueKind<string> = {
  ...anyUrl,
  parse: (given) => anyUrl.parse(given).replace(/\/*$/, '/'),
}

/** Why a request found no server, as the end of a sentence. */
export function connectionFailure(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  // OpenSSL's own words name its source files.
  if (errorCode(cause) === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'it does not speak TLS there; try http in place of https'
  const message = cause instanceof Error ? cause.message : String(cause)
  return message === '' ? 'the connection failed' : message
}

/** Of a server with the default options on this machine. */
export const DEFAULT_URL = 'http://127.0.0.1:8080/'
