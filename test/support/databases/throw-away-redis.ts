/**
 * A Redis server for tests, on a free port and without files. One for each process of the tests, started when the first test asks
 * for it and stopped with the process, however that ends; a test that stops it has one of its own.
 */
import { createConnection } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { REDIS_SERVER } from '../../../tools/optional-programs.mjs'
import { freePorts } from '../net/free-ports.ts'
import { type KeptProcess, startKept } from './kept-process.ts'

export interface RedisServer {
  readonly url: string
  readonly start: () => Promise<void>
  /** At once, as a crash does: what it held is lost. */
  readonly kill: () => Promise<void>
  /** A stopped one takes connections and answers nothing. */
  readonly signal: (name: 'SIGSTOP' | 'SIGCONT') => void
  /** Sends a command in words without spaces; gives the beginning of its answer. */
  readonly command: (words: string) => Promise<string>
}

let ofProcess: Promise<RedisServer> | null = null

/** The server of this process. */
export async function sharedRedis(): Promise<RedisServer> {
  ofProcess ??= startRedis([])
  return await ofProcess
}

/** A server of the test's own, which it may kill; it ends with the test. @param settings words for `redis-server` */
export async function startOwnRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const server = await startRedis(settings)
  onTestFinished(() => server.kill())
  return server
}

async function startRedis(settings: readonly string[]): Promise<RedisServer> {
  if (REDIS_SERVER === null) throw new Error('Redis is not installed.')
  const [port = 0] = await freePorts(1)
  const words = [REDIS_SERVER, '--bind', '127.0.0.1', '--port', String(port), '--save', '', ...settings]
  let running: KeptProcess | null = null
  let pid = 0
  const start = async () => {
    running = startKept(words, { signal: 'KILL' })
    for (let tries = 0; !(await answers(port)); tries++) {
      if (tries > 200) throw new Error('Redis does not start.')
      await pause(20)
    }
    pid = Number(/process_id:(\d+)/.exec(await ask(port, 'INFO server'))?.[1])
  }
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    kill: async () => {
      await running?.end()
      running = null
    },
    signal: (name) => void process.kill(pid, name),
    command: (line) => ask(port, line),
  }
}

async function answers(port: number): Promise<boolean> {
  return await ask(port, 'PING').then(
    () => true,
    () => false,
  )
}

function ask(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, '127.0.0.1')
    socket.on('error', reject)
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString('utf8'))
    })
    socket.write(`${line}\r\n`)
  })
}
