// @ts-check
/**
 * CPU and wall time from the start of the program until it listens, without a model: as it ships, joined into few files, and from
 * its modules, in turns. `node bench/loops/start-cost.mjs [rounds]` prints the medians.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A tick of `/proc/PID/stat` on every Linux of today. */
const TICK_MS = 10
const PROGRAMS = { 'few files': '../../dist/bundle/main.js', modules: '../../dist/cli/main.js' }
const WORDS = [
  'serve',
  '--port',
  '0',
  '--api-keys',
  'k'.repeat(16),
  '--api-db',
  ':memory:',
  '--usage-db',
  ':memory:',
]

/** @param {string} program @returns {Promise<{ cpuMs: number, wallMs: number }>} */
async function start(program) {
  const script = `import(${JSON.stringify(program)}).then((program) => program.main(process.argv.slice(1)))`
  const startedMs = performance.now()
  const child = spawn(process.execPath, ['-e', script, '--', ...WORDS], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  const wallMs = performance.now() - startedMs
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  const ended = once(child, 'exit')
  child.kill()
  await ended
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS, wallMs }
}

/** @param {readonly number[]} values */
const median = (values) => [...values].sort((one, other) => one - other)[values.length >> 1]?.toFixed(0)

/** @type {Map<string, { cpuMs: number, wallMs: number }[]>} */
const starts = new Map(Object.keys(PROGRAMS).map((name) => [name, []]))
for (let round = 0; round < Number(process.argv[2] ?? 9); round++)
  for (const [name, file] of Object.entries(PROGRAMS))
    starts.get(name)?.push(await start(fileURLToPath(new URL(file, import.meta.url))))
for (const [name, times] of starts)
  console.log(
    `${name}: ${median(times.map(({ cpuMs }) => cpuMs))} ms CPU, ${median(times.map(({ wallMs }) => wallMs))} ms until it listens`,
  )
