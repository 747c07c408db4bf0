// @ts-check
/**
 * `npm run bench:light`: the light server's budget, in one run. What its import costs, and how many requests a second it
 * answers against a bare `node:http` server (`bare-server.mjs`), whose health is always the same bytes. The two take many
 * short turns, A B, B A, so that what the machine does meanwhile hits both; what is told of them is the median of the pairs'
 * ratios, with the quarter of them below and above.
 *
 *   npm run bench:light -- [--pairs 60] [--ms 200] [--connections 64]
 */
import { execFile, fork } from 'node:child_process'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { percentile } from './report/statistics.mjs'
import { Load } from './load/turns.mjs'

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '60' },
    ms: { type: 'string', default: '200' },
    connections: { type: 'string', default: '64' },
  },
})
const pairs = Number(values.pairs)
const ms = Number(values.ms)
const connections = Number(values.connections)

const IMPORTS = 9
/** Until both programs are compiled as they will stay. */
const WARM_UP_TURNS = 15

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
/** @typedef {{ rate: number, cpuMicroseconds: number, clientLoad: number }} Figures of one turn */

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

/** @param {string} script @returns {Promise<Record<string, number>>} */
async function runScript(script) {
  const { stdout } = await promisify(execFile)(process.execPath, [file(script)])
  return JSON.parse(stdout)
}

/** @param {Target} target @param {Load} load @returns {Promise<Figures>} */
async function takeTurn(target, load) {
  const cpuBefore = await target.cpuSeconds()
  const clientBefore = process.cpuUsage()
  const { answers, seconds } = await load.takeTurn(ms)
  const client = process.cpuUsage(clientBefore)
  return {
    rate: answers / seconds,
    cpuMicroseconds: (((await target.cpuSeconds()) - cpuBefore) * 1e6) / answers,
    clientLoad: (client.user + client.system) / 1e6 / seconds,
  }
}

/** @param {string} request */
async function comparePairs(request) {
  const loads = { bare: new Load(request), light: new Load(request) }
  await loads.bare.connect(bare.port, connections)
  await loads.light.connect(light.port, connections)
  const turn = {
    bare: () => takeTurn(bare, loads.bare),
    light: () => takeTurn(light, loads.light),
  }
  for (let count = 0; count < WARM_UP_TURNS; count++) {
    await turn.bare()
    await turn.light()
  }
  /** @type {{ bare: Figures, light: Figures }[]} */
  const done = []
  for (let pair = 0; pair < pairs; pair++) {
    // Who comes second finds the machine as the first one left it.
    if (pair % 2 === 0) done.push({ bare: await turn.bare(), light: await turn.light() })
    else done.push({ light: await turn.light(), bare: await turn.bare() })
  }
  loads.bare.close()
  loads.light.close()
  return done
}

/** The median and, in parentheses, the quartiles. @param {number[]} figures @param {number} digits */
function describe(figures, digits) {
  const [low, middle, high] = [25, 50, 75].map((percent) => percentile(figures, percent)?.toFixed(digits))
  return `${middle} (${low} to ${high})`
}

const imports = []
for (let count = 0; count < IMPORTS; count++) imports.push(await runScript('loops/import-cost.mjs'))

const [bare, light] = [await start('servers/bare-server.mjs'), await start('servers/light-server.mjs')]
const lines = [
  `${os.cpus()[0]?.model ?? 'unknown CPU'}, ${os.availableParallelism()} cores, Node ${process.versions.node}`,
  `${pairs} pairs of turns of ${ms} ms, ${connections} connections with a request under way on each; median (quartiles)`,
  `import of sluice/light  ${describe(
    imports.map((cost) => cost['ms'] ?? Number.NaN),
    1,
  )} ms, ${describe(
    imports.map((cost) => cost['megabytes'] ?? Number.NaN),
    1,
  )} MB`,
]
for (const [name, request] of Object.entries(REQUESTS)) {
  const done = await comparePairs(request)
  /** @param {(pair: { bare: Figures, light: Figures }) => number} figure @param {number} digits */
  const over = (figure, digits) => describe(done.map(figure), digits)
  lines.push(
    name,
    `  requests/s         ${over((pair) => pair.bare.rate, 0)} bare, ${over((pair) => pair.light.rate, 0)} light`,
    `  light / bare       ${over((pair) => pair.light.rate / pair.bare.rate, 2)}`,
    `  CPU us a request   ${over((pair) => pair.bare.cpuMicroseconds, 1)} bare, ${over((pair) => pair.light.cpuMicroseconds, 1)} light`,
    `  CPU, bare / light  ${over((pair) => pair.bare.cpuMicroseconds / pair.light.cpuMicroseconds, 2)}`,
    `  the client's cores ${over((pair) => pair.bare.clientLoad, 2)} bare, ${over((pair) => pair.light.clientLoad, 2)} light`,
  )
}
bare.stop()
light.stop()
process.stdout.write(`${lines.join('\n')}\n`)
