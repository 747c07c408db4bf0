// @ts-check
/** `node:http` and nothing else: answers each request with bytes like the light server's, after reading its body. For `light.mjs`. */
import http from 'node:http'

const HEALTH = JSON.stringify({ status: 'ok', version: '1.1.1', models_loaded: 1, uptime_seconds: 12.345678 })
const GENERATED = JSON.stringify({
  generated_text: 'sixteen bytes ab',
  token_ids: [115, 105, 120, 116, 101, 101, 110, 32, 98, 121, 116, 101, 115, 32, 97, 98],
  prompt_tokens: 16,
  completion_tokens: 16,
  total_tokens: 32,
  model: 'default',
  created: 1_700_000_000,
  finish_reason: 'stop',
})

/** @param {http.ServerResponse} response @param {string} body */
function answer(response, body) {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(body.length),
    'x-request-id': '0123456789abcdef01234567',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  response.writeHead(200, headers).end(body)
}

const server = http.createServer((request, response) => {
  if (request.method === 'GET') return answer(response, HEALTH)
  request.resume()
  request.on('end', () => answer(response, GENERATED))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : null })
})
// Asked before and after a measurement: what the process, its threads included, has computed so far.
process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => process.exit())
