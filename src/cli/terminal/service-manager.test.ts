import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { notifyReady } from './service-manager.ts'

/** A folder with a program called systemd-notify that writes down how it was called. */
function createScene({ exitCode = 0 } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-notify-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [program, calls] = [path.join(folder, 'systemd-notify'), path.join(folder, 'calls')]
  writeFileSync(calls, '')
  writeFileSync(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${calls}\nexit ${exitCode}\n`)
  chmodSync(program, 0o755)
  const problems: string[] = []
  return {
    folder,
    problems,
    calls: () => readFileSync(calls, 'utf8'),
    notify: (env: Record<string, string>) => notifyReady(env, (problem) => void problems.push(problem)),
  }
}

describe('notifyReady', () => {
  it('has systemd-notify send READY=1 to the socket of the service', async () => {
    const { folder, notify, calls, problems } = createScene()
    notify({ PATH: `${folder}:/bin`, NOTIFY_SOCKET: '/run/notify' })
    await vi.waitFor(() => expect(calls()).toBe('/run/notify --ready\n'))
    expect(problems).toEqual([])
  })

  it('starts nothing where no service manager waits', async () => {
    const { folder, notify, calls } = createScene()
    notify({ PATH: `${folder}:/bin` })
    notify({ PATH: `${folder}:/bin`, NOTIFY_SOCKET: '' })
    notify({ PATH: `${folder}:/bin`, NOTIFY_SOCKET: '/run/last' })
    await vi.waitFor(() => expect(calls()).toBe('/run/last --ready\n'))
  })

  it('says when it could not', async () => {
    const { folder, notify, problems } = createScene({ exitCode: 1 })
    notify({ PATH: `${folder}:/bin`, NOTIFY_SOCKET: '/run/notify' })
    await vi.waitFor(() =>
      expect(problems).toEqual(['systemd waits (NOTIFY_SOCKET), but systemd-notify --ready failed.']),
    )
    notify({ PATH: '/no/such/folder', NOTIFY_SOCKET: '/run/notify' })
    await vi.waitFor(() => expect(problems).toHaveLength(2))
  })
})
