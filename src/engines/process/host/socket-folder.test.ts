import { spawnSync } from 'node:child_process'
import { existsSync, statSync, utimesSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { until } from '../../../../test/support/until.ts'
import { createSocketFolder } from './socket-folder.ts'

type Folder = ReturnType<typeof createSocketFolder>

it('only this user may enter it', () => {
  const folder = createSocketFolder()
  expect(statSync(path.dirname(folder.socketPath)).mode & 0o777).toBe(0o700)
  folder.remove()
  expect(existsSync(path.dirname(folder.socketPath))).toBe(false)
})

it('one whose engine was killed is removed with the next start; those in use stay', async () => {
  const folders = Array.from({ length: 5 }, createSocketFolder)
  const [killed, binding, serving, loading, lost] = folders as [Folder, Folder, Folder, Folder, Folder]
  for (const folder of folders) onTestFinished(() => folder.remove())
  const listenAndDie = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`
  // A socket that was made just now may be one on which its engine does not listen yet.
  for (const folder of [killed, binding]) spawnSync(process.execPath, ['-e', listenAndDie, folder.socketPath])
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(serving.socketPath, resolve))
  for (const folder of [killed, serving]) utimesSync(folder.socketPath, 0, 0)
  onTestFinished(() => void server.close())
  // The server was killed while the engine loaded, days ago.
  utimesSync(path.dirname(lost.socketPath), 0, 0)

  createSocketFolder().remove()

  for (const { socketPath } of [killed, lost])
    await until('the abandoned one is gone', () => !existsSync(path.dirname(socketPath)))
  for (const folder of [binding, serving]) expect(existsSync(folder.socketPath)).toBe(true)
  expect(existsSync(path.dirname(loading.socketPath))).toBe(true)
})
