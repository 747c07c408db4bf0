// @ts-check
/**
 * Sends requests over and over on kept connections, a fixed number of them under way on each, and counts the answers; the
 * connections take the next of the requests in turn. A process of its own, on bare sockets, so that it takes little of the
 * machine from the server. Its one argument is JSON: `{ port, requests, connections, pipelined, ms }`; what it prints is
 * too: `{ answers, seconds, cpuSeconds }`.
 */
import net from 'node:net'

const { port, requests, connections, pipelined, ms } = JSON.parse(process.argv[2] ?? '')
/** @type {Buffer[]} */
const each = requests.map((/** @type {string} */ request) => Buffer.from(request))
let sent = 0
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\n')
let answers = 0

/** How many answers begin in a chunk; what might be the beginning of one is carried over. @param {Buffer} chunk */
function countAnswers(chunk) {
  let count = 0
  let from = 0
  for (let at = chunk.indexOf(ANSWER); at >= 0; at = chunk.indexOf(ANSWER, from)) {
    count++
    from = at + ANSWER.length
  }
  return { count, rest: chunk.subarray(Math.max(from, chunk.length - ANSWER.length + 1)) }
}

/** The next so many. @param {number} count @returns {Buffer} */
function take(count) {
  if (count === 1) return each[sent++ % each.length] ?? Buffer.alloc(0)
  return Buffer.concat(Array.from({ length: count }, () => take(1)))
}

function connect() {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
  /** @type {Buffer} */
  let rest = Buffer.alloc(0)
  socket.on('connect', () => socket.write(take(pipelined)))
  socket.on('data', (chunk) => {
    const found = countAnswers(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]))
    rest = found.rest
    answers += found.count
    if (found.count > 0) socket.write(take(found.count))
  })
  socket.on('close', () => {
    process.stderr.write('The server hung up.\n')
    process.exit(1)
  })
}

for (let count = 0; count < connections; count++) connect()
const startedMs = performance.now()
const startedCpu = process.cpuUsage()
setTimeout(() => {
  const seconds = (performance.now() - startedMs) / 1000
  const { user, system } = process.cpuUsage(startedCpu)
  process.stdout.write(JSON.stringify({ answers, seconds, cpuSeconds: (user + system) / 1e6 }), () =>
    process.exit(),
  )
}, ms)
