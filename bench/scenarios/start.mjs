// @ts-check
/** From starting the program to the first answer of the bundled model, whose conversion is cached as at every start but the first. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startLlamaServer } from '../servers/llama-server.mjs'
import { askGenerate } from '../load/plain-requests.mjs'
import { KEY } from '../servers/serve.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ASK = { prompt: 'Once upon a time', max_new_tokens: 1 }

/** @type {import('./index.mjs').Scenario} */
export const start = {
  id: 'start',
  title: 'Start to first answer',
  about:
    'From starting the program to the whole answer of one token by the bundled model. Ours takes the request while the model ' +
    'loads; llama-server is asked for health until it is ready.',
  fixedModel: 'demo',
  shows: ['firstAnswerMs'],
  run: async (bench) => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'))
    try {
      const firstMs = await measureOurs(bench, dataDir)
      const ours = []
      const theirs = []
      for (let round = 0; round < bench.rounds; round++) {
        ours.push({ firstAnswerMs: await measureOurs(bench, dataDir) })
        if (bench.peer !== null) theirs.push({ firstAnswerMs: await measureTheirs(bench, bench.peer) })
      }
      const rows = [
        { contender: 'sluice', group: null, rounds: ours },
        { contender: 'sluice', group: 'model converted first', rounds: [{ firstAnswerMs: firstMs }] },
        { contender: 'llama-server', group: null, rounds: theirs },
      ]
      return { parameters: {}, rows: rows.filter(({ rounds }) => rounds.length > 0) }
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
}

/** @param {import('./index.mjs').Bench} bench @param {string} dataDir */
async function measureOurs({ threads, gpu }, dataDir) {
  const startedMs = performance.now()
  const words = [
    ...['serve', '--port', '0', '--api-keys', KEY, '--data-dir', dataDir, '--log-level', 'warn'],
    ...['--checkpoint', path.join(ROOT, 'models/demo'), '--threads', String(threads), '--gpu', gpu],
  ]
  const child = spawn(process.execPath, [path.join(ROOT, 'bin/sluice.js'), ...words], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'close')
  try {
    const address = await new Promise((resolve, reject) => {
      let output = ''
      child.stdout.on('data', (chunk) => {
        output += chunk
        const found = /listening on (\S+)/.exec(output)?.[1]
        if (found !== undefined) resolve(found)
      })
      void ended.then(() => reject(new Error(`the server ended: ${output}`)))
    })
    await askGenerate({ address, key: KEY }, JSON.stringify(ASK))
    return performance.now() - startedMs
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

/** @param {import('./index.mjs').Bench} bench @param {string} peer */
async function measureTheirs({ model, threads, gpu }, peer) {
  const startedMs = performance.now()
  const options = { model: model.path, slots: 8, slotTokens: 512, threads, gpu }
  const { address, stop } = await startLlamaServer(peer, options)
  try {
    const body = JSON.stringify({ prompt: ASK.prompt, n_predict: ASK.max_new_tokens })
    await (await fetch(`${address}/completion`, { method: 'POST', body })).json()
    return performance.now() - startedMs
  } finally {
    await stop()
  }
}
