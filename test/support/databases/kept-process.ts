/** Servers that tests start: each ends with the process of the tests, however that ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'

/** Ends the server when the pipe from this process ends. */
const KEEPER = `signal=$1; shift; "$@" & pid=$!; trap 'kill -$signal $pid' TERM; read -r line; kill -$signal $pid; wait $pid`

export interface KeptProcess {
  /** Ends it, and waits until it has ended. */
  end(): Promise<void>
}

export interface KeptProcessOptions {
  readonly uid?: number
  readonly gid?: number
  /** How it is ended. @default QUIT */
  readonly signal?: 'QUIT' | 'KILL'
}

export function startKept(words: readonly string[], options: KeptProcessOptions = {}): KeptProcess {
  const { signal = 'QUIT', ...user } = options
  const keeper: ChildProcess = spawn('sh', ['-c', KEEPER, 'sh', signal, ...words], {
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
