// @ts-check
/**
 * An upstream that answers at once: a stream of tokens in OpenAI's shape, written in one piece, or with a pause between tokens
 * (`--pause-ms`), so that streams stay open. One process for each core but one, so that it is not what is measured.
 */
import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9100' },
    tokens: { type: 'string', default: '64' },
    'pause-ms': { type: 'string', default: '0' },
    processes: { type: 'string', default: '1' },
  },
})
const port = Number(values.port)
const tokens = Number(values.tokens)
const pauseMs = Number(values['pause-ms'])

if (cluster.isPrimary && Number(values.processes) > 1)
  for (let at = 0; at < Number(values.processes); at++) cluster.fork()
else serve()

function serve() {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fast' }
  /** @param {object} delta @param {string | null} reason */
  const chunk = (delta, reason) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
  const pieces = Array.from({ length: tokens }, () => chunk({ content: ' token' }, null))
  const usage = { prompt_tokens: 10, completion_tokens: tokens, total_tokens: 10 + tokens }
  const end = `${chunk({}, 'stop')}data: ${JSON.stringify({ ...head, choices: [], usage })}\n\ndata: [DONE]\n\n`
  const whole = Buffer.from(chunk({ role: 'assistant', content: '' }, null) + pieces.join('') + end)
  const models = JSON.stringify({
    object: 'list',
    data: [{ id: 'fast', object: 'model', max_model_len: 8192 }],
  })
  createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(request.url === '/v1/models' ? models : '{}')
      return
    }
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (pauseMs === 0) response.end(whole)
      else void writeSlowly(response, pieces, end)
    })
  }).listen(port, '127.0.0.1')
}

/** @param {import('node:http').ServerResponse} response @param {string[]} pieces @param {string} end */
async function writeSlowly(response, pieces, end) {
  for (const piece of pieces) {
    if (response.destroyed) return
    response.write(piece)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  response.end(end)
}
