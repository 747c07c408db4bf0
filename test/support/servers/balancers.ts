/** The proxies of deploy/ as their files are, but for ports, folders and the instances behind them. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import { HAPROXY, NGINX } from '../../../tools/optional-programs.mjs'
import { freePorts } from '../net/free-ports.ts'
import { secureFetch } from '../net/tls-client.ts'
import { pairOf } from '../net/tls-files.ts'
import { whenUnused } from '../shared.ts'
import { until } from '../until.ts'
import { temporaryFolder } from './server-process.ts'

const DEPLOY = path.resolve(import.meta.dirname, '../../../deploy')

type Replacement = readonly [from: string | RegExp, to: string]

/** Each replacement must fit, or the test would try something else than the file. */
function adapt(file: string, replacements: readonly Replacement[]): string {
  const text = readFileSync(path.join(DEPLOY, file), 'utf8')
  return replacements.reduce((adapted, [from, to]) => {
    const next = adapted.replaceAll(from, to)
    if (next === adapted) throw new Error(`deploy/${file} has no ${from}`)
    return next
  }, text)
}

/** @param addresses of the instances behind it */
export async function startNginx(addresses: readonly string[]) {
  const folder = temporaryFolder()
  const [port = 0, plainPort = 0] = await freePorts(2)
  const { certfile, keyfile } = pairOf('first')
  const config = path.join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n')
  const servers = addresses.map((address) => `server ${new URL(address).host};`)
  writeFileSync(
    config,
    adapt('nginx.conf', [
      // Its workers write below the folder of the test, which is this user's.
      [/^user .*$/gm, `user ${userInfo().username};\ndaemon off;`],
      ['/run/nginx.pid', path.join(folder, 'nginx.pid')],
      ['/var/log/nginx', folder],
      [/listen \[::\].*;/g, ''],
      ['listen 443 ', `listen 127.0.0.1:${port} `],
      ['listen 80 ', `listen 127.0.0.1:${plainPort} `],
      ['/etc/sluice/tls/fullchain.pem', certfile],
      ['/etc/sluice/tls/privkey.pem', keyfile],
      ['server 127.0.0.1:8080;', servers.join('\n')],
      ['server_tokens off;', `server_tokens off;\n${temporary}`],
      ['worker_processes auto', 'worker_processes 1'],
      [/^worker_rlimit_nofile .*$/gm, ''],
      ['worker_connections 16384', 'worker_connections 256'],
    ]),
  )
  const words = ['-p', folder, '-c', config, '-e', path.join(folder, 'error.log')]
  execFileSync(NGINX ?? '', [...words, '-t'], { stdio: 'ignore' })
  await startProxy(NGINX ?? '', words, port)
  return { port, plainPort }
}

/** @param addresses of three instances behind it */
export async function startHaproxy(addresses: readonly string[]) {
  const folder = temporaryFolder()
  const [port = 0] = await freePorts(1)
  const { certfile, keyfile } = pairOf('first')
  const both = path.join(folder, 'both.pem')
  writeFileSync(both, `${readFileSync(certfile, 'utf8')}\n${readFileSync(keyfile, 'utf8')}`)
  const config = path.join(folder, 'haproxy.cfg')
  const hosts = addresses.map((address) => new URL(address).host)
  writeFileSync(
    config,
    adapt('haproxy.cfg', [
      [/^ {4}(?:user|group|log \/dev\/log) .*$/gm, ''],
      ['maxconn 16384', 'maxconn 256'],
      ['bind :443 ', `bind 127.0.0.1:${port} `],
      ['/etc/sluice/tls/chain-and-key.pem', both],
      ...hosts.map((host, index) => [`10.0.0.1${index + 1}:8080`, host] as const),
    ]),
  )
  execFileSync(HAPROXY ?? '', ['-c', '-q', '-f', config])
  await startProxy(HAPROXY ?? '', ['-db', '-f', config], port)
  return { port }
}

async function startProxy(program: string, words: readonly string[], port: number): Promise<void> {
  const proxy = spawn(program, words, { stdio: 'ignore' })
  const ended = once(proxy, 'exit')
  whenUnused(async () => {
    proxy.kill('SIGTERM')
    await ended
  })
  await until('the proxy answers', async () => {
    const answer = await secureFetch({ port, path: '/v1/health' }).catch(() => null)
    return answer?.status === 200
  })
}
