// @ts-check
/**
 * What an application would write on `node:http` with nothing else, for `light.mjs`: the light server's health and
 * passthrough model, with as many bytes, but no checks of the request, no key, no limits and no threads. Its health is the
 * strictest there is: one head and one body, made before the first request, without an id or an uptime of their own.
 */
import { randomUUID } from 'node:crypto'
import http from 'node:http'

/** @param {http.ServerResponse} response @param {object} value */
function sendJson(response, value) {
  const body = JSON.stringify(value)
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    // As long as the light server's.
    'x-request-id': randomUUID().slice(0, 24),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(body)
}

const HEALTH = JSON.stringify({ status: 'ok', version: '1.1.1', models_loaded: 1, uptime_seconds: 12.345 })
const HEALTH_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(HEALTH),
  'x-request-id': '0123456789abcdef01234567',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/** @param {http.ServerResponse} response @param {string} prompt */
function answerPrompt(response, prompt) {
  const tokenIds = [...Buffer.from(prompt)]
  sendJson(response, {
    generated_text: prompt,
    token_ids: tokenIds,
    prompt_tokens: tokenIds.length,
    completion_tokens: tokenIds.length,
    total_tokens: tokenIds.length * 2,
    model: 'default',
    created: Math.floor(Date.now() / 1000),
    finish_reason: 'stop',
  })
}

const server = http.createServer((request, response) => {
  if (request.method === 'GET' && request.url === '/v1/health') {
    response.writeHead(200, HEALTH_HEADERS)
    response.end(HEALTH)
  } else if (request.method === 'POST' && request.url === '/v1/generate') {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => answerPrompt(response, JSON.parse(body).prompt))
  } else {
    response.writeHead(404).end()
  }
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : null })
})
// Asked before and after a measurement: what the process, its threads included, has computed so far.
process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => process.exit())
