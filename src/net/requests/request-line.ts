/** The first line of a request whose bytes Node's parser has refused. */

const METHOD = /^[A-Z][A-Z-]*$/
const VERSIONS = [' HTTP/1.1', ' HTTP/1.0']
/** Of the path, and of a method, as they are said. */
const MAX_CHARACTERS = 200

/** Null where the bytes begin with no request line. Takes time in proportion to their length, whatever they are. */
export function readRequestLine(text: string): { readonly method: string; readonly path: string } | null {
  const lineEnd = text.indexOf('\n')
  const line = text.slice(0, text[lineEnd - 1] === '\r' ? lineEnd - 1 : Math.max(0, lineEnd))
  const version = VERSIONS.find((one) => line.endsWith(one))
  const methodEnd = line.indexOf(' ')
  if (version === undefined || methodEnd > MAX_CHARACTERS) return null
  const method = line.slice(0, methodEnd)
  const path = line.slice(methodEnd + 1, -version.length)
  return METHOD.test(method) && /^\S+$/.test(path) ? { method, path: path.slice(0, MAX_CHARACTERS) } : null
}
