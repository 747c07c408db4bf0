// @ts-check
/** What stands between a client and the upstream: nothing, nginx, Sluice, and the programs of others that a folder holds. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const ROOT = path.resolve(import.meta.dirname, '../..')
export const KEY = 'sk-bench-0123456789abcdef'
/** One key may ask 10,000 times a minute, which is less than is measured. */
const MANY_KEYS = Array.from({ length: 64 }, (_, index) => `${KEY}-${index}`)

/** @typedef {{ name: string, url: string, keys: readonly string[], pid: number, stop: () => Promise<void> }} Gateway */

/**
 * @typedef {object} Place
 * @property {string} upstream its base URL, without /v1
 * @property {string} folder for files, and with the virtual environment of the programs of others in `venv`
 * @property {number} port
 */

/** @type {Record<string, (place: Place) => { command: string, args: string[], env?: Record<string, string> } | null>} */
const COMMANDS = {
  nginx: ({ upstream, folder, port }) => {
    const file = path.join(folder, 'nginx.conf')
    const proxy = `proxy_pass ${upstream.replace(/\/\/[^/]*/, '//up')}; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;`
    writeFileSync(
      file,
      `worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log;
events { worker_connections 16384; }
http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream up { server ${new URL(upstream).host}; keepalive 256; }
  server { listen 127.0.0.1:${port}; location / { ${proxy} } } }`,
    )
    return { command: 'nginx', args: ['-c', file] }
  },
  'node-proxy': ({ upstream, port }) => ({
    command: process.execPath,
    args: [path.join(import.meta.dirname, 'node-proxy.mjs'), '--port', String(port), '--upstream', upstream],
  }),
  sluice: ({ upstream, folder, port }) => ({
    command: process.execPath,
    args: [
      ...[path.join(ROOT, 'bin/sluice.js'), 'serve', '--upstream', upstream, '--model-id', 'fast'],
      ...[
        '--port',
        String(port),
        '--data-dir',
        path.join(folder, `sluice-${port}`),
        '--api-keys',
        [KEY, ...MANY_KEYS].join(','),
      ],
      ...['--log-level', 'warn', '--max-queue', '100000'],
    ],
  }),
  litellm: ({ upstream, folder, port }) => {
    const file = path.join(folder, 'litellm.yaml')
    writeFileSync(
      file,
      `model_list:
  - model_name: fast
    litellm_params: {model: openai/fast, api_base: ${upstream}/v1, api_key: none}
general_settings: {master_key: ${KEY}}
litellm_settings: {request_timeout: 600}
`,
    )
    const args = ['--config', file, '--port', String(port), '--host', '127.0.0.1', '--num_workers', '1']
    return inVenv(folder, 'litellm', args, { LITELLM_LOG: 'ERROR', NO_DOCS: 'True' })
  },
  'vllm-router': ({ upstream, folder, port }) =>
    inVenv(folder, 'vllm-router', [
      ...['--worker-urls', upstream, '--port', String(port), '--host', '127.0.0.1'],
      ...['--policy', 'consistent_hash', '--log-level', 'error', '--prometheus-port', String(port + 50)],
    ]),
}

export const GATEWAYS = Object.keys(COMMANDS)

/** Null where its program is not installed. @param {string} name @param {Place} place @returns {Promise<Gateway | null>} */
export async function startGateway(name, place) {
  mkdirSync(place.folder, { recursive: true })
  const command = COMMANDS[name]?.(place) ?? null
  if (command === null) return null
  const child = spawn(command.command, command.args, {
    env: { ...process.env, ...command.env },
    stdio: ['ignore', 'ignore', process.env['BENCH_STDERR'] === undefined ? 'ignore' : 'inherit'],
  })
  const url = `http://127.0.0.1:${place.port}`
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const stop = async () => {
    child.kill('SIGTERM')
    await Promise.race([ended, sleep(5000)])
    child.kill('SIGKILL')
  }
  try {
    await untilAnswers(url, child)
  } catch (error) {
    await stop()
    throw new Error(`${name} does not answer`, { cause: error })
  }
  return { name, url, keys: name === 'sluice' ? MANY_KEYS : [KEY], pid: child.pid ?? 0, stop }
}

/** @param {string} url @param {import('node:child_process').ChildProcess} child */
async function untilAnswers(url, child) {
  const body = JSON.stringify({ model: 'fast', messages: [{ role: 'user', content: 'hi' }], stream: true })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }
  for (let tries = 0; tries < 480; tries++) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`)
    try {
      const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
      if ((await response.text()).includes('[DONE]')) return
    } catch {
      // Not yet.
    }
    await sleep(250)
  }
  throw new Error('it did not answer in two minutes')
}

/** @param {string} folder @param {string} program @param {string[]} args @param {Record<string, string>} [env] */
function inVenv(folder, program, args, env = {}) {
  const command = path.join(folder, 'venv/bin', program)
  return existsSync(command) ? { command, args, env } : null
}
