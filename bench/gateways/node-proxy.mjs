// @ts-check
/** A proxy that does nothing but pass on: the least that a layer written for Node can add. `node node-proxy.mjs --port N --upstream URL` */
import http from 'node:http'
import { parseArgs } from 'node:util'
import { Agent, request } from 'undici'

const { values } = parseArgs({ options: { port: { type: 'string' }, upstream: { type: 'string' } } })
const agent = new Agent({ connections: 1024, pipelining: 1 })

/** @param {http.IncomingMessage} incoming @param {http.ServerResponse} answer */
async function passOn(incoming, answer) {
  const pieces = []
  for await (const piece of incoming) pieces.push(piece)
  const passed = await request(`${values.upstream}${incoming.url}`, {
    method: incoming.method === 'POST' ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json' },
    body: pieces.length === 0 ? null : Buffer.concat(pieces),
    dispatcher: agent,
  })
  answer.writeHead(passed.statusCode, { 'content-type': String(passed.headers['content-type']) })
  for await (const piece of passed.body) answer.write(piece)
  answer.end()
}

const server = http.createServer((incoming, answer) => {
  passOn(incoming, answer).catch(() => answer.destroy())
})
server.listen(Number(values.port), '127.0.0.1')
