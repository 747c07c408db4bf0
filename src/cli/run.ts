/** Runs one command line to its exit code; everything thrown on the way ends as one line on standard error. */
import { loadConfig } from '../config/resolve.ts'
import type { ServerConfig } from '../config/server-config.ts'
import { parseCommandLine } from './command-line.ts'
import { showsStacks, toFailure } from './failure.ts'
import { serve, type ServeDeps } from './serve.ts'

export interface RunOptions extends ServeDeps {
  /** Stand in for the defaults of options that are given nowhere. */
  readonly defaults: Partial<ServerConfig>
}

export async function run(words: readonly string[], options: RunOptions): Promise<number> {
  const { terminal, defaults } = options
  let isDebugging = false
  try {
    const commandLine = parseCommandLine(words)
    if (commandLine.kind === 'print') {
      terminal.print(commandLine.text.trimEnd())
      return 0
    }
    const config = loadConfig({ flags: commandLine.flags, env: terminal.env, defaults })
    isDebugging = showsStacks(config)
    return await serve(config, options)
  } catch (error) {
    const failure = toFailure(error, isDebugging)
    terminal.complain(failure.line)
    return failure.exitCode
  }
}
