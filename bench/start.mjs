// @ts-check
/**
 * `node bench/start.mjs`: time from starting the program to the first answer of the bundled model, with the conversion
 * cached (every start but the first), median of five.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const dataDir = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'))

async function measure() {
  const startedMs = performance.now()
  const words = [
    'serve',
    '--checkpoint',
    path.join(ROOT, 'models/demo'),
    '--port',
    '0',
    '--api-keys',
    'bench',
  ]
  const child = spawn(process.execPath, [path.join(ROOT, 'bin/sluice.js'), ...words, '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  let output = ''
  const address = await new Promise((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += chunk
      const found = /listening on (\S+)/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  // Sent at once: a request that arrives during the load waits for it.
  const response = await fetch(`${address}/v1/generate`, {
    method: 'POST',
    headers: { authorization: 'Bearer bench', 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Once upon a time', max_new_tokens: 1 }),
  })
  await response.json()
  const ms = performance.now() - startedMs
  child.kill('SIGTERM')
  await ended
  return ms
}

try {
  const first = await measure()
  const later = []
  for (let run = 0; run < 5; run++) later.push(await measure())
  later.sort((a, b) => a - b)
  process.stdout.write(
    `start to first answer: ${later[2]?.toFixed(0)} ms (${later[0]?.toFixed(0)} to ${later[4]?.toFixed(0)}), ` +
      `${first.toFixed(0)} ms when the model is converted first\n`,
  )
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
