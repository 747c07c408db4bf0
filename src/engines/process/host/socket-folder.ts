/**
 * The folder in which an engine's socket lies while the engine lives. Only this user may enter it, so only processes of this
 * user can be clients. A folder outlives its engine only when both engine and server are killed at once; a later start
 * removes it.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

const PREFIX = 'sluice-engine-'
const SOCKET = 's'

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, the end mark included. */
const MAX_SOCKET_PATH_BYTES = 103

export function createSocketFolder() {
  const parent = socketParent()
  removeAbandoned(parent).catch(() => {})
  const folder = mkdtempSync(path.join(parent, PREFIX))
  if (open.size === 0) process.on('exit', removeOpen)
  open.add(folder)
  return {
    socketPath: path.join(folder, SOCKET),
    remove: () => {
      open.delete(folder)
      if (open.size === 0) process.off('exit', removeOpen)
      remove(folder)
    },
  }
}

/** Those of this process. An application may end without closing its server: its engines are killed then, and leave theirs. */
const open = new Set<string>()

function removeOpen(): void {
  for (const folder of open) remove(folder)
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

/** The temporary folder, unless its name is too long for a socket's. */
function socketParent(): string {
  const longest = path.join(tmpdir(), `${PREFIX}XXXXXX`, SOCKET)
  return Buffer.byteLength(longest) <= MAX_SOCKET_PATH_BYTES ? tmpdir() : '/tmp'
}

/** A socket is there a moment before its engine listens on it, and on a busy machine the moment may be long. */
const MIN_AGE_MS = 60_000

/** An engine has no socket while it loads; by now it would, however slow its disk. */
const MAX_LOAD_MS = 24 * 60 * 60_000

/** Those with a socket on which no process listens, and those whose engine was killed while it loaded. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue
    const folder = path.join(parent, name)
    const socketPath = path.join(folder, SOCKET)
    const socketMs = ageMs(socketPath)
    if (
      socketMs === null
        ? (ageMs(folder) ?? 0) > MAX_LOAD_MS
        : socketMs > MIN_AGE_MS && (await isRefused(socketPath))
    )
      remove(folder)
  }
}

/** Since its last change; null where it is not there, or another user's. */
function ageMs(file: string): number | null {
  try {
    return Date.now() - statSync(file).mtimeMs
  } catch {
    return null
  }
}

function isRefused(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath, () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
}
