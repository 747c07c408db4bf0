// @ts-check
/**
 * `npm run bench:light`: the light server's budget, in one run. What its import costs, and how many requests a second it
 * answers against a bare `node:http` server that sends the same bytes. The two take turns, A B A B; the load comes from
 * a third process, in the same way for both.
 *
 *   npm run bench:light -- [--rounds 9] [--ms 2000] [--connections 64] [--pipelined 1]
 */
import { execFile, fork } from 'node:child_process'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    ms: { type: 'string', default: '2000' },
    connections: { type: 'string', default: '64' },
    pipelined: { type: 'string', default: '1' },
  },
})
const rounds = Number(values.rounds)
const load = {
  ms: Number(values.ms),
  connections: Number(values.connections),
  pipelined: Number(values.pipelined),
}

/** @param {string} name */
const file = (name) => fileURLToPath(new URL(name, import.meta.url))

const BODY = JSON.stringify({ prompt: 'sixteen bytes ab' })
const REQUESTS = {
  'GET /v1/health': 'GET /v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n',
  'POST /v1/generate':
    'POST /v1/generate HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer sk-svc-0123\r\n' +
    `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
}

/** @typedef {{ port: number, cpuSeconds: () => Promise<number>, stop: () => void }} Target */

/** @param {string} name @returns {Promise<Target>} */
async function start(name) {
  const child = fork(file(name))
  const next = () => new Promise((resolve) => child.once('message', resolve))
  const { port } = await next()
  return {
    port,
    cpuSeconds: async () => {
      child.send('cpu')
      const { user, system } = await next()
      return (user + system) / 1e6
    },
    stop: () => child.disconnect(),
  }
}

/** @param {string} script @param {string[]} words @returns {Promise<Record<string, number>>} */
async function runScript(script, ...words) {
  const { stdout } = await promisify(execFile)(process.execPath, [file(script), ...words])
  return JSON.parse(stdout)
}

/** @param {Target} target @param {string} request */
async function measure({ port, cpuSeconds }, request) {
  const cpuBefore = await cpuSeconds()
  const client = await runScript('load.mjs', JSON.stringify({ port, request, ...load }))
  const { answers = 0, seconds = 1 } = client
  return {
    rate: answers / seconds,
    cpuMicroseconds: (((await cpuSeconds()) - cpuBefore) * 1e6) / answers,
    clientLoad: (client.cpuSeconds ?? 0) / seconds,
  }
}

/** @param {number[]} figures */
function median(figures) {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

/** @param {number[]} figures @param {number} digits */
function summary(figures, digits) {
  const [least, most] = [Math.min(...figures), Math.max(...figures)]
  return `${median(figures).toFixed(digits)} (${least.toFixed(digits)} to ${most.toFixed(digits)})`
}

const imports = []
for (let round = 0; round < rounds; round++) imports.push(await runScript('import-cost.mjs'))

const [bare, light] = [await start('bare-server.mjs'), await start('light-server.mjs')]
/** @type {string[]} */
const lines = []
for (const [name, request] of Object.entries(REQUESTS)) {
  // Both are warm before anything counts.
  for (const target of [bare, light]) await measure(target, request)
  const turns = []
  for (let round = 0; round < rounds; round++) {
    turns.push({ bare: await measure(bare, request), light: await measure(light, request) })
  }
  lines.push(
    `${name.padEnd(18)} bare   ${summary(
      turns.map((turn) => turn.bare.rate),
      0,
    )} requests/s`,
    `${name.padEnd(18)} light  ${summary(
      turns.map((turn) => turn.light.rate),
      0,
    )} requests/s`,
    `${name.padEnd(18)} ratio  ${summary(
      turns.map((turn) => turn.light.rate / turn.bare.rate),
      2,
    )}`,
    `${name.padEnd(18)} CPU    ${summary(
      turns.map((turn) => turn.bare.cpuMicroseconds),
      0,
    )} us a request bare, ${summary(
      turns.map((turn) => turn.light.cpuMicroseconds),
      0,
    )} light`,
    `${''.padEnd(18)} the client took ${summary(
      turns.map((turn) => turn.bare.clientLoad),
      2,
    )} of a core beside the bare server`,
  )
}
bare.stop()
light.stop()

process.stdout.write(
  [
    `${os.cpus()[0]?.model ?? 'unknown CPU'}, ${os.availableParallelism()} cores, Node ${process.versions.node}`,
    `${rounds} rounds, ${load.ms} ms each, ${load.connections} connections with ${load.pipelined} requests under way; median (range)`,
    `import of sluice/light  ${summary(
      imports.map(({ ms = 0 }) => ms),
      1,
    )} ms, ${summary(
      imports.map(({ megabytes = 0 }) => megabytes),
      1,
    )} MB`,
    ...lines,
    '',
  ].join('\n'),
)
