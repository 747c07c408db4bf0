/** deploy/nginx.conf as it is, but for its ports and files, in front of the built program. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { NGINX } from '../../../tools/optional-programs.mjs'
import { freePorts } from '../../support/net/free-ports.ts'
import { secureFetch } from '../../support/net/tls-client.ts'
import { pairOf } from '../../support/net/tls-files.ts'
import { enginePids, KEY, startDemoServer, temporaryFolder } from '../../support/servers/server-process.ts'
import { whenUnused } from '../../support/shared.ts'
import { until } from '../../support/until.ts'

const CONFIG = path.resolve(import.meta.dirname, '../../../deploy/nginx.conf')
const ADMIN_KEY = 'an-admin-key-of-the-test'

/** Each replacement must fit, or the test would try something else than the file. */
function adapt(text: string, replacements: readonly (readonly [string | RegExp, string])[]): string {
  return replacements.reduce((adapted, [from, to]) => {
    const next = adapted.replaceAll(from, to)
    if (next === adapted) throw new Error(`deploy/nginx.conf has no ${from}`)
    return next
  }, text)
}

async function startBehindNginx() {
  const server = await startDemoServer(['--admin-key', ADMIN_KEY, '--trusted-proxies', '127.0.0.1'])
  const folder = temporaryFolder()
  const [port = 0, plainPort = 0] = await freePorts(2)
  const { certfile, keyfile } = pairOf('first')
  const config = path.join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n')
  writeFileSync(
    config,
    adapt(readFileSync(CONFIG, 'utf8'), [
      // Its workers write below the folder of the test, which is this user's.
      [/^user .*$/gm, `user ${userInfo().username};\ndaemon off;`],
      ['/run/nginx.pid', path.join(folder, 'nginx.pid')],
      ['/var/log/nginx', folder],
      [/listen \[::\].*;/g, ''],
      ['listen 443 ', `listen 127.0.0.1:${port} `],
      ['listen 80 ', `listen 127.0.0.1:${plainPort} `],
      ['/etc/sluice/tls/fullchain.pem', certfile],
      ['/etc/sluice/tls/privkey.pem', keyfile],
      ['server 127.0.0.1:8080;', `server ${new URL(server.address).host};`],
      ['server_tokens off;', `server_tokens off;\n${temporary}`],
      ['worker_processes auto', 'worker_processes 1'],
      [/^worker_rlimit_nofile .*$/gm, ''],
      ['worker_connections 16384', 'worker_connections 256'],
    ]),
  )
  const words = ['-p', folder, '-c', config, '-e', path.join(folder, 'error.log')]
  execFileSync(NGINX ?? '', [...words, '-t'], { stdio: 'ignore' })
  const nginx = spawn(NGINX ?? '', words, { stdio: 'ignore' })
  const ended = once(nginx, 'exit')
  whenUnused(async () => {
    nginx.kill('SIGTERM')
    await ended
  })
  await until('nginx answers', async () => {
    const answer = await secureFetch({ port, path: '/v1/health' }).catch(() => null)
    return answer?.status === 200
  })
  return { server, port, plainPort }
}

const admin = { secret: ADMIN_KEY }
const STORY = { prompt: 'Once upon a time', max_new_tokens: 1500, temperature: 0.01 }

describe.skipIf(NGINX === null)('behind deploy/nginx.conf', () => {
  it('streams each token as it comes', async () => {
    const { server, port } = await startBehindNginx()
    const [engine = 0] = enginePids(server)
    let first: string | null = null
    const { status, text } = await secureFetch(
      { port, path: '/v1/generate/stream', secret: KEY, body: STORY },
      (arrived) => {
        if (first !== null) return
        first = arrived
        process.kill(engine, 'SIGSTOP')
        setTimeout(() => process.kill(engine, 'SIGCONT'), 100)
      },
    )
    expect(status).toBe(200)
    // A proxy that buffers hands over several kilobytes at once.
    expect(String(first).length).toBeLessThan(2048)
    expect(text.length).toBeGreaterThan(4096)
    expect(text).toMatch(/"finish_reason":"(?:stop|length)"[^]*data: \[DONE\]\n\n$/)
  })

  it('closes the admin API and the metrics to other addresses, however the path is written', async () => {
    const { port } = await startBehindNginx()
    const get = async (url: string, localAddress: string) =>
      (await secureFetch({ port, path: url, localAddress, ...admin })).status

    for (const url of ['/metrics', '/v1/admin/keys']) {
      expect([url, await get(url, '127.0.0.1')]).toEqual([url, 200])
    }
    for (const url of [
      '/metrics',
      '/v1/admin/keys',
      '//v1/admin/keys',
      '/v1/%61dmin/keys',
      '/v1/x/../admin/keys',
    ]) {
      expect([url, await get(url, '127.0.0.2')]).toEqual([url, 403])
    }
    expect(await get('/v1/health', '127.0.0.2')).toBe(200)
  })

  it('lets a body of 8 MiB through to the answer that names the field, and none above 9 MB', async () => {
    const { port } = await startBehindNginx()
    const post = async (characters: number) =>
      await secureFetch({ port, path: '/v1/generate', secret: KEY, body: { prompt: 'a'.repeat(characters) } })

    const within = await post(8 * 1024 * 1024 - 1000)
    expect([within.status, JSON.parse(within.text)]).toEqual([
      400,
      { detail: expect.stringContaining('prompt') },
    ])
    const large = await post(8 * 1024 * 1024 + 1000)
    expect(large.text).toContain('must be at most 8388608 bytes')
    const above = await post(9 * 1024 * 1024 + 1000).catch(() => ({ status: 413 }))
    expect(above.status).toBe(413)
  })

  it('refuses plain HTTP', async () => {
    const { plainPort } = await startBehindNginx()
    const answer = await fetch(`http://127.0.0.1:${plainPort}/v1/health`)
    expect([answer.status, await answer.text()]).toEqual([403, 'Use https.\n'])
  })
})
