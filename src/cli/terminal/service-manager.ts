/**
 * Says to systemd that a service of `Type=notify` is up (sd_notify(3): a datagram to the socket in `NOTIFY_SOCKET`). Node
 * has no sockets for Unix datagrams, so systemd's own `systemd-notify` sends it; as that is another process, the unit
 * needs `NotifyAccess=all`. Does nothing where no service manager waits.
 */
import { execFile } from 'node:child_process'

const TIMEOUT_MS = 10_000

export function notifyReady(
  env: Readonly<Record<string, string | undefined>>,
  onProblem: (problem: string) => void,
): void {
  if (!env['NOTIFY_SOCKET']) return
  const child = execFile('systemd-notify', ['--ready'], { env: { ...env }, timeout: TIMEOUT_MS }, (error) => {
    if (error !== null) onProblem('systemd waits (NOTIFY_SOCKET), but systemd-notify --ready failed.')
  })
  child.unref()
}
