/** Servers that tests start: each ends with the process of the tests, however that ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'

/** Ends the server when the pipe from this process ends, and removes its folder then. */
const KEEPER = `signal=$1; folder=$2; shift 2; "$@" & pid=$!; trap 'kill -$signal $pid' TERM; read -r line; kill -$signal $pid
  wait $pid; [ -z "$folder" ] || rm -rf "$folder"`

export interface KeptProcess {
  /** Ends it, and waits until it has ended. */
  end(): Promise<void>
}

export interface KeptProcessOptions {
  readonly uid?: number
  readonly gid?: number
  /** How it is ended. @default QUIT */
  readonly signal?: 'QUIT' | 'KILL'
  /** Removed once it has ended. @default none */
  readonly folder?: string
}

export function startKept(words: readonly string[], options: KeptProcessOptions = {}): KeptProcess {
  const { signal = 'QUIT', folder = '', ...user } = options
  const keeper: ChildProcess = spawn('sh', ['-c', KEEPER, 'sh', signal, folder, ...words], {
    ...user,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  })
  // Does not keep this process alive.
  keeper.unref()
  ;(keeper.stdin as Socket | null)?.unref()
  return {
    end: async () => {
      if (keeper.exitCode !== null || keeper.signalCode !== null) return
      const ended = once(keeper, 'exit')
      keeper.stdin?.end()
      await ended
    },
  }
}
