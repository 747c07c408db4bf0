/** How the built program ends, and what does not end it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../support/servers/server-process.ts'
import { until } from '../../support/until.ts'

const SLUICE = path.resolve(import.meta.dirname, '../../../bin/sluice.js')

/** @param script of a shell, which replaces itself with the program: `exec "$@"` and where its output goes */
function start(script: string, ...words: readonly string[]) {
  const given = [process.execPath, SLUICE, ...words, '--data-dir', temporaryFolder()]
  const child = spawn('sh', ['-c', script, 'sh', ...given], { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => lines.push(String(data)))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, lines, ended }
}

it('a server goes on where its output cannot be written', async () => {
  // A file that may not grow stands for a disk that is full.
  const script = `ulimit -f 0; exec "$@" > '${path.join(temporaryFolder(), 'output')}'`
  const databases = ['--api-db', ':memory:', '--usage-db', ':memory:']
  const { child, lines, ended } = start(script, 'serve', '--port', '0', ...databases)
  const said = () => lines.join('')
  await until('it complains', () => child.exitCode !== null || said().includes('cannot be written (EFBIG)'))
  child.kill('SIGTERM')
  expect([await ended, said()]).toEqual([0, expect.stringContaining('stopped')])
})

it('a light server ends with 0 at a signal while it opens its model', async () => {
  const hub = createServer(() => {})
  onTestFinished(() => {
    hub.close()
    hub.closeAllConnections()
  })
  const asked = once(hub, 'request')
  await once(hub.listen(0, '127.0.0.1'), 'listening')
  const script = `HF_ENDPOINT=http://127.0.0.1:${(hub.address() as AddressInfo).port} exec "$@"`
  const { child, lines, ended } = start(script, 'light', '--port', '0', '--checkpoint', 'hf:org/repo')
  await Promise.race([asked, ended])
  child.kill('SIGTERM')
  expect([await ended, lines.join('')]).toEqual([0, expect.not.stringMatching(/unexpected|listening/)])
})

it('a light server outlives its terminal', async () => {
  const { child, lines, ended } = start('exec "$@"', 'light', '--port', '0')
  await until('it listens', () => child.exitCode !== null || lines.join('').includes('listening'))
  child.kill('SIGHUP')
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})

it.runIf(process.platform === 'linux')(
  'a command whose new secret cannot be written says how to end it',
  async () => {
    const { lines, ended } = start('exec "$@" > /dev/full', 'keys', 'create')
    expect([await ended, lines.join('')]).toEqual([
      1,
      expect.stringMatching(
        /^sluice: key (\S+) was made, .*: 'sluice keys revoke \1' ends it\.\n.*\(ENOSPC\)\.\n$/,
      ),
    ])
  },
)
