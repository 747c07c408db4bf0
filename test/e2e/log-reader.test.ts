/** A log that nobody reads: the program goes on, drops what does not fit, says how much, and ends when it is told to. */
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { Agent, get } from 'node:http'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  call,
  KEY,
  listening,
  post,
  type RunningServerProcess,
  spawnServer,
  temporaryFolder,
} from '../support/servers/server-process.ts'
import { whenUnused } from '../support/shared.ts'

const ADMIN_KEY = 'admin-key-of-this-test'

/** A pipe that is open at both ends, and read only by hand. */
function createPipe(): number {
  const file = path.join(temporaryFolder(), 'log')
  execFileSync('mkfifo', [file])
  const pipe = openSync(file, constants.O_RDWR | constants.O_NONBLOCK)
  whenUnused(() => closeSync(pipe))
  return pipe
}

/** The writer's end as a child gets it from a shell: writing blocks when the pipe is full. */
function openWriter(pipe: number): number {
  const writer = openSync(`/proc/self/fd/${pipe}`, constants.O_WRONLY)
  whenUnused(() => closeSync(writer))
  return writer
}

function readAll(pipe: number): string {
  const bytes = Buffer.alloc(1024 * 1024)
  let text = ''
  for (;;) {
    try {
      text += bytes.toString('utf8', 0, readSync(pipe, bytes))
    } catch {
      return text
    }
  }
}

/** Asks so often what the server is; the long ids of these requests fill the pipe and the memory behind it sooner. */
async function countAnswers({ address }: RunningServerProcess, requests: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const headers = { 'x-request-id': 'r'.repeat(64) }
  const ask = (): Promise<boolean> =>
    new Promise((resolve, reject) => {
      get(`${address}/`, { agent, headers }, (answer) => {
        answer.on('end', () => resolve(answer.statusCode === 200)).resume()
      }).on('error', reject)
    })
  const answers = await Promise.all(Array.from({ length: requests }, ask))
  agent.destroy()
  return answers.filter((isRight) => isRight).length
}

describe.runIf(process.platform === 'linux')('a log that nobody reads', () => {
  it('stops no request, is dropped and counted, and is written on when somebody reads it', async () => {
    const pipe = createPipe()
    const words = [
      '--api-keys',
      KEY,
      '--admin-key',
      ADMIN_KEY,
      '--api-db',
      ':memory:',
      '--usage-db',
      ':memory:',
    ]
    const server = await listening(spawnServer(words, { stderr: openWriter(pipe) }))
    expect(await countAnswers(server, 7000)).toBe(7000)
    const dropped = async () => {
      const metrics = await (await call(server, 'GET /metrics', { secret: ADMIN_KEY })).text()
      return Number(/^sluice_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1])
    }
    expect(await dropped()).toBeGreaterThan(0)

    let log = ''
    await expect
      .poll(() => {
        log += readAll(pipe)
        return log
      })
      .toContain('"msg":"lines of the log were dropped because their reader did not take them"')
    expect((await post(server, '/v1/generate', { body: { prompt: 'a' } })).status).toBe(200)
    await expect.poll(() => (log += readAll(pipe))).toContain('"route":"/v1/generate"')
    for (const line of log.trimEnd().split('\n').slice(0, -1)) expect(() => JSON.parse(line)).not.toThrow()
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  it('does not keep a server from ending where the reader of its output has gone', async () => {
    const words = ['--api-keys', KEY, '--api-db', ':memory:', '--usage-db', ':memory:']
    const server = spawnServer(words)
    server.child.stdout?.destroy()
    // Of the first line that it writes on.
    await expect.poll(() => server.stderr.join('\n')).toContain('serving the passthrough model')

    server.child.kill('SIGTERM')

    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  it('keeps a server from ending for no more than a second', async () => {
    const pipe = createPipe()
    const words = ['--api-keys', KEY, '--api-db', ':memory:', '--usage-db', ':memory:']
    const server = await listening(spawnServer(words, { stderr: openWriter(pipe) }))
    expect(await countAnswers(server, 700)).toBe(700)

    server.child.kill('SIGTERM')

    expect(await server.ended).toEqual({ code: 0, signal: null })
  })
})
