/** HEALTHCHECK of the images, as it is written there but for the place of the program, beside the built server. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { freePorts } from '../../support/net/free-ports.ts'
import { pairOf } from '../../support/net/tls-files.ts'
import { startServer } from '../../support/servers/server-process.ts'

const ROOT = path.resolve(import.meta.dirname, '../../..')
const IMAGES = ['Dockerfile', 'Dockerfile.cuda']

function commandOf(image: string): readonly string[] {
  const text = readFileSync(path.join(ROOT, 'deploy/docker', image), 'utf8')
  const [, words = '[]'] = /^HEALTHCHECK [^[]*(\[.*\])$/m.exec(text) ?? []
  return (JSON.parse(words) as string[]).map((word) => word.replace(/^\/app\//, `${ROOT}/`))
}

/** Resolves with the exit code. @param pid in place of a container's first process */
function check(image: string, pid: number | undefined, env: Record<string, string> = {}): Promise<number> {
  const [, ...words] = commandOf(image)
  return new Promise((resolve) => {
    const given = [...words, String(pid)]
    const child = execFile(process.execPath, given, { env }, () => resolve(child.exitCode ?? -1))
  })
}

describe.skipIf(!existsSync('/proc/self/cmdline'))('HEALTHCHECK of each image', () => {
  const checkAll = (pid: number | undefined, env: Record<string, string>) =>
    Promise.all(IMAGES.map((image) => check(image, pid, env)))

  it('asks a server with options of its command line, with TLS, until it is gone', async () => {
    const { certfile, keyfile } = pairOf('first')
    const [port = 0] = await freePorts(1)
    const server = await startServer([
      ...['--host', '127.0.0.2', '--port', String(port)],
      ...['--tls-certfile', certfile, '--tls-keyfile', keyfile],
    ])
    // An image has it, which the command line replaces.
    const env = { SLUICE_PORT: '8080' }

    expect(await checkAll(server.child.pid, env)).toEqual([0, 0])
    server.child.kill('SIGKILL')
    await server.ended
    const gone = { SLUICE_PORT: String(port), SLUICE_HOST: '127.0.0.2' }
    expect(await checkAll(process.pid, gone)).toEqual([1, 1])
  })

  it('asks at the port of the environment behind another first process, on any address', async () => {
    const [port = 0] = await freePorts(1)
    await startServer(['--host', '0.0.0.0', '--registration', 'closed', '--port', String(port)])

    const env = { SLUICE_PORT: String(port), SLUICE_HOST: '0.0.0.0' }
    expect(await checkAll(process.pid, env)).toEqual([0, 0])
  })
})
