/**
 * The entry of the program, called by `bin/sluice.js` and by `npm start` in the process that becomes the server.
 * The server's own code is loaded only when it is needed, so that `--help` and a wrong option answer at once.
 */
import { systemClock } from '../core/clock.ts'
import type { ServerConfig } from '../config/server-config.ts'
import { keepHeapSmall, optimizeEarly } from '../app/v8-flags.ts'
import { showsStacks, toFailure } from './failure.ts'
import { run } from './run.ts'
import type { CreateServer } from './commands/serve.ts'
import { createProcessTerminal } from './terminal/terminal.ts'

export interface MainOptions {
  /** They replace the table's defaults. */
  readonly defaults?: Partial<ServerConfig>
}

/** Exits when the command has finished. */
export async function main(words: readonly string[], { defaults = {} }: MainOptions = {}): Promise<void> {
  const terminal = createProcessTerminal()
  let isDebugging = false
  process.on('uncaughtException', (error) => {
    const failure = toFailure(error, isDebugging)
    terminal.complain(failure.line)
    terminal.exit(failure.exitCode)
  })
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') {
      // What stays until a signal, as a server does, goes on without its reader.
      if (process.listenerCount('SIGTERM') > 0) return
      terminal.complain('sluice: the reader of the output has gone before its end.')
    } else {
      terminal.complain(`sluice: the output cannot be written (${error.code ?? error.message}).`)
      // A server, which alone minds that signal, serves on a full disk too.
      if (process.listenerCount('SIGHUP') > 0) return
      // May come when the command has ended already, with an exit code that says otherwise.
      process.exitCode = 1
    }
    terminal.exit(1)
  })
  const createServer: CreateServer = async (config, hooks) => {
    isDebugging = showsStacks(config)
    keepHeapSmall()
    const { createServer: create } = await import('../app/create-server.ts')
    const server = await create(config, hooks)
    optimizeEarly()
    return server
  }
  const exitCode = await run(words, { createServer, terminal, clock: systemClock, defaults })
  terminal.exit(exitCode)
}
