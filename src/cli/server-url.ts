/** Where a running server is reached, as an option of the commands that ask it or print its address. */
import { textLike } from '../config/value-kinds.ts'

export const serverUrl = textLike('url', 'an http or https URL', (text) => /^https?:\/\/\S+$/.test(text))

/** Of a server with the default options on this machine. */
export const DEFAULT_URL = 'http://127.0.0.1:8080/'
