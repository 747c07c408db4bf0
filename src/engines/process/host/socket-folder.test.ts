import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { until } from '../../../../test/support/until.ts'
import { createSocketFolder } from './socket-folder.ts'

it('only this user may enter it', () => {
  const folder = createSocketFolder()
  expect(statSync(path.dirname(folder.socketPath)).mode & 0o777).toBe(0o700)
  folder.remove()
  expect(existsSync(path.dirname(folder.socketPath))).toBe(false)
})

it('one whose engine was killed is removed with the next start; those in use stay', async () => {
  const [killed, serving, loading] = [createSocketFolder(), createSocketFolder(), createSocketFolder()]
  for (const folder of [killed, serving, loading]) onTestFinished(() => folder.remove())
  const listenAndDie = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', listenAndDie, killed.socketPath])
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(serving.socketPath, resolve))
  onTestFinished(() => void server.close())

  createSocketFolder().remove()

  await until('the abandoned one is gone', () => !existsSync(path.dirname(killed.socketPath)))
  expect(existsSync(serving.socketPath)).toBe(true)
  expect(existsSync(path.dirname(loading.socketPath))).toBe(true)
})
