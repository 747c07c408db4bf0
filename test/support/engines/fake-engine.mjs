// @ts-check
/**
 * A program in the engine's place: speaks its protocol and does as the prompt says. `hang` says nothing more, `die`
 * ends the process, `break` says that its step loop failed, and ends, `full` is refused, `not-in 7` waits for ever in process 7, anything else is answered with the id of this process. How it starts is said by
 * the model's id: `hangs` tells some progress and no more, `half` ends in the middle of a message, `once` hangs where the
 * file of the model exists, which it makes, and logs its id.
 */
import { existsSync, writeFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'

const { socketPath, runner } = JSON.parse(process.argv[2] ?? '')
process.stdin.on('close', () => process.exit(0)).resume()

/** @param {object} message */
function toFrame(message) {
  const body = Buffer.from(JSON.stringify(message))
  const header = Buffer.alloc(4)
  header.writeUInt32LE(body.length)
  return Buffer.concat([header, body])
}

const info = {
  architecture: 'fake',
  parameters: 1,
  sizeBytes: 1,
  quantization: 'none',
  maxSeqLen: null,
  vocabSize: 1,
  engine: 'fake',
  maxBatchSize: 1,
  chatTemplate: null,
  bosText: '',
  eosText: '',
  specialTexts: [],
  threads: 1,
  memoryBytes: 1,
}

const server = createServer((socket) => {
  let bytes = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk])
    while (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32LE(0)) {
      const end = 4 + bytes.readUInt32LE(0)
      const message = JSON.parse(bytes.subarray(4, end).toString())
      bytes = bytes.subarray(end)
      if (message.type === 'abort') socket.write(toFrame({ events: [], refusals: [], ended: [message.id] }))
      if (message.type !== 'generate') continue
      const word = message.request.prompts[0].pieces.join('')
      const start = { type: 'sequence-start', index: 0, promptTokens: 1, cachedTokens: 0, queueMs: 0 }
      if (word === 'die') process.exit(3)
      if (word === 'break') {
        process.stderr.write('the step loop failed: no reason\n')
        process.exit(70)
      }
      if (word === 'full') {
        const refusal = { code: 'tokenizing_queue_full', params: {}, retryAfterSeconds: 1 }
        socket.write(toFrame({ events: [], refusals: [[message.id, refusal]], ended: [] }))
        continue
      }
      if (word === `not-in ${process.pid}`) continue
      const events =
        word === 'hang'
          ? [start]
          : [
              start,
              { type: 'text-delta', index: 0, text: String(process.pid), tokenIds: [1] },
              { type: 'sequence-end', index: 0, finishReason: 'stop', error: null },
            ]
      const ended = word === 'hang' ? [] : [message.id]
      socket.write(toFrame({ events: [[message.id, events]], refusals: [], ended }))
    }
  })
})
/** @param {object} message */
const tell = (message) => void writeSync(3, `${JSON.stringify(message)}\n`)

const hasRunBefore = runner.modelId === 'once' && existsSync(runner.modelPath)
if (runner.modelId === 'once') writeFileSync(runner.modelPath, '')
switch (hasRunBefore ? 'hangs' : runner.modelId) {
  case 'hangs':
    process.stderr.write(`${process.pid}\n`)
    tell({ type: 'progress', fraction: 0.5 })
    break
  case 'half':
    writeSync(3, '{"type":"re')
    process.exit(3)
    break
  default:
    server.listen(socketPath, () => tell({ type: 'ready', info }))
}
