// @ts-check
/**
 * Sends one request over and over on kept connections, a fixed number of them under way on each, and counts the answers.
 * A process of its own, on bare sockets, so that it takes little of the machine from the server. Its one argument is
 * JSON: `{ port, request, connections, pipelined, ms }`; what it prints is too: `{ answers, seconds, cpuSeconds }`.
 */
import net from 'node:net'

const { port, request, connections, pipelined, ms } = JSON.parse(process.argv[2] ?? '')
const bytes = Buffer.from(request)
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

function connect() {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
  /** @type {Buffer} */
  let rest = Buffer.alloc(0)
  socket.on('connect', () => socket.write(Buffer.concat(Array.from({ length: pipelined }, () => bytes))))
  socket.on('data', (chunk) => {
    const found = countAnswers(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]))
    rest = found.rest
    answers += found.count
    if (found.count === 1) socket.write(bytes)
    else if (found.count > 1) socket.write(Buffer.concat(Array.from({ length: found.count }, () => bytes)))
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
