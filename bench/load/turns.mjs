// @ts-check
/**
 * One request over and over on kept connections, one under way on each, in turns: for as long as one server's turn lasts the
 * others have nothing to do. On bare sockets, so that it takes little of the machine from the server.
 */
import net from 'node:net'

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\n')

/** @typedef {{ answers: number, seconds: number }} Turn */

export class Load {
  #request
  /** @type {net.Socket[]} */
  #sockets = []
  #answers = 0
  #underWay = 0
  #isSending = false
  #onQuiet = () => {}

  /** @param {string} request whose answer comes in one piece */
  constructor(request) {
    this.#request = Buffer.from(request)
  }

  /** @param {number} port @param {number} connections */
  async connect(port, connections) {
    // Read into one place, because it is only looked at.
    const buffer = Buffer.alloc(65_536)
    const opened = Array.from({ length: connections }, () => {
      const { promise, resolve, reject } = createDeferred()
      /** @type {net.Socket} */
      const socket = net.connect({
        port,
        host: '127.0.0.1',
        noDelay: true,
        onread: { buffer, callback: (bytes) => this.#count(socket, buffer.subarray(0, bytes)) },
      })
      socket.once('connect', resolve).once('error', reject)
      socket.once('close', () => reject(new Error('The server hung up.')))
      this.#sockets.push(socket)
      return promise
    })
    await Promise.all(opened)
  }

  /** Ends when the last of the answers is here. @param {number} ms @returns {Promise<Turn>} */
  async takeTurn(ms) {
    const startedMs = performance.now()
    this.#answers = 0
    this.#isSending = true
    /** @type {Promise<void>} */
    const quiet = new Promise((resolve) => (this.#onQuiet = resolve))
    setTimeout(() => (this.#isSending = false), ms)
    this.#underWay = this.#sockets.length
    for (const socket of this.#sockets) socket.write(this.#request)
    await quiet
    return { answers: this.#answers, seconds: (performance.now() - startedMs) / 1000 }
  }

  close() {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** @param {net.Socket} socket @param {Buffer} chunk */
  #count(socket, chunk) {
    if (chunk.indexOf(ANSWER) !== 0) throw new Error(`The answer was ${chunk.toString()}`)
    this.#answers++
    if (this.#isSending) socket.write(this.#request)
    else if (--this.#underWay === 0) this.#onQuiet()
    return true
  }
}

/** @returns {{ promise: Promise<void>, resolve: () => void, reject: (error: Error) => void }} */
function createDeferred() {
  let resolve = () => {}
  /** @type {(error: Error) => void} */
  let reject = () => {}
  /** @type {Promise<void>} */
  const promise = new Promise((...settle) => ([resolve, reject] = settle))
  return { promise, resolve, reject }
}
