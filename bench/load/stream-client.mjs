// @ts-check
/**
 * One streamed request, timed. Chunks are kept as they came and read when the round is over: whoever parses while
 * measuring measures the client.
 */
import http from 'node:http'

/** @typedef {import('./protocols.mjs').Ask} Ask */
/** @typedef {import('./protocols.mjs').Protocol} Protocol */

/**
 * @typedef {object} Exchange what went over the wire; moments on this process's monotonic clock
 * @property {Ask} ask
 * @property {number} dueMs when it should have been sent: an open loop counts from here, however late the client is
 * @property {number} endMs
 * @property {number | null} status
 * @property {string} requestId
 * @property {{ atMs: number, text: string }[]} chunks
 * @property {string | null} failure
 */

/**
 * @typedef {object} Sample what a user saw of it
 * @property {string | null} group
 * @property {string} requestId
 * @property {number} dueMs
 * @property {number} endMs
 * @property {number[]} tokenMs when each piece of text arrived
 * @property {number} promptTokens
 * @property {number} completionTokens
 * @property {string} text
 * @property {string | null} error
 */

// llama-server hangs up after every stream, although it promises to keep the connection: everybody gets a new one.
const agent = new http.Agent({ keepAlive: false })

/**
 * @param {{ address: string, key: string, protocol: Protocol }} target @param {Ask} ask
 * @param {number} [dueMs] @returns {Promise<Exchange>} never rejects
 */
export function sendStream({ address, key, protocol }, ask, dueMs = performance.now()) {
  return new Promise((resolve) => {
    /** @type {Exchange} */
    const exchange = { ask, dueMs, endMs: 0, status: null, requestId: '', chunks: [], failure: null }
    const end = (/** @type {Error | null} */ error) => {
      exchange.endMs = performance.now()
      exchange.failure = error === null ? null : error.message
      resolve(exchange)
    }
    const body = JSON.stringify(protocol.body(ask))
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(key !== '' && { authorization: `Bearer ${ask.key ?? key}` }),
    }
    const url = `${address}${protocol.path}`
    const request = http.request(url, { method: 'POST', agent, headers }, (response) => {
      exchange.status = response.statusCode ?? null
      exchange.requestId = String(response.headers['x-request-id'] ?? '')
      response.setEncoding('utf8')
      response.on('data', (text) => exchange.chunks.push({ atMs: performance.now(), text }))
      response.on('end', () => end(null))
      response.on('error', end)
    })
    request.on('error', end)
    request.end(body)
  })
}

/** @param {Exchange} exchange @param {Protocol} protocol @returns {Sample} */
export function readExchange({ ask, dueMs, endMs, status, requestId, chunks, failure }, protocol) {
  /** @type {Sample} */
  const sample = {
    ...{ group: ask.group ?? null, requestId, dueMs, endMs, tokenMs: [], text: '' },
    ...{ promptTokens: 0, completionTokens: 0, error: failure },
  }
  if (status !== 200) {
    const answer = chunks.map(({ text }) => text).join('')
    return { ...sample, error: failure ?? `status ${status}: ${answer.slice(0, 200)}` }
  }
  let rest = ''
  for (const { atMs, text } of chunks) {
    const frames = (rest + text).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const data = frame.replace(/^data: /, '')
      if (data === '[DONE]' || data.startsWith(':')) continue
      const event = JSON.parse(data)
      if (event.error !== undefined) return { ...sample, error: JSON.stringify(event.error) }
      const { text: piece, promptTokens, completionTokens } = protocol.readEvent(event)
      if (piece !== '') sample.tokenMs.push(atMs)
      sample.text += piece
      sample.promptTokens = promptTokens ?? sample.promptTokens
      sample.completionTokens = completionTokens ?? sample.completionTokens
    }
  }
  if (sample.completionTokens === 0) sample.error ??= 'the stream ended without a token'
  return sample
}
