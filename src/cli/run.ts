/** Runs one command line and returns its exit code; every error becomes one line on standard error. */
import { FLAG_NAMES, type OptionName } from '../config/options.ts'
import { loadConfig, loadOptions } from '../config/resolve.ts'
import type { ServerConfig } from '../config/server-config.ts'
import { LIGHT_OPTIONS, parseCommandLine } from './command-line.ts'
import { CHAT_OPTIONS } from './commands/chat/chat-command-line.ts'
import type { Dialogue } from './terminal/dialogue.ts'
import { showsStacks, toFailure } from './failure.ts'
import { serve, type ServeDeps } from './commands/serve.ts'
import { describeOverridden } from './overridden-options.ts'
import { describeUnknownVariables } from './unknown-variables.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface RunOptions extends Omit<ServeDeps, 'readAdminKeys'> {
  /** They replace the table's defaults. */
  readonly defaults: Partial<ServerConfig>
  /** Of a chat. @default that of this process */
  readonly dialogue?: Dialogue
}

export async function run(words: readonly string[], options: RunOptions): Promise<number> {
  const { terminal, clock, defaults } = options
  let isDebugging = false
  try {
    const commandLine = parseCommandLine(words)
    if (commandLine.kind === 'print') {
      terminal.print(commandLine.text.trimEnd())
      return 0
    }
    const given = { flags: commandLine.flags, env: terminal.env, defaults }
    const warnings = (names: readonly OptionName[]) => [
      describeOverridden(names, given),
      describeUnknownVariables(given),
    ]
    if (commandLine.kind === 'serve') {
      const config = loadConfig(given)
      isDebugging = showsStacks(config)
      warnOf(warnings(FLAG_NAMES), terminal)
      const readAdminKeys = () => loadOptions(['adminKey'], given).adminKey
      return await serve(config, { ...options, readAdminKeys })
    }
    if (commandLine.kind === 'light') {
      const config = loadOptions(LIGHT_OPTIONS, given)
      isDebugging = showsStacks(config)
      warnOf(warnings(LIGHT_OPTIONS), terminal)
      const { runLightCommand } = await import('./commands/light-command.ts')
      return await runLightCommand(commandLine.command, { config, terminal, clock })
    }
    if (commandLine.kind === 'chat') {
      const config = loadOptions(CHAT_OPTIONS, given)
      const { runChatCommand } = await import('./commands/chat/chat-command.ts')
      const { createProcessDialogue } = await import('./terminal/dialogue.ts')
      const dialogue = options.dialogue ?? createProcessDialogue(terminal.env)
      const isCheckpointGiven = commandLine.flags['checkpoint'] !== undefined
      return await runChatCommand(commandLine.command, { ...options, config, dialogue, isCheckpointGiven })
    }
    if (commandLine.kind === 'quantize') {
      const config = loadOptions(['checkpoint', 'modelConfig', 'tokenizer', 'dataDir'], given)
      const { runQuantizeCommand } = await import('./commands/quantize-command.ts')
      return await runQuantizeCommand(commandLine.command, { config, terminal, clock })
    }
    if (commandLine.kind === 'backup') {
      const config = loadOptions(['apiDb', 'usageDb', 'dataDir'], given)
      const { runBackupCommand } = await import('./commands/backup-command.ts')
      return await runBackupCommand(commandLine.folder, { config, terminal, clock })
    }
    if (commandLine.kind === 'status') {
      const config = loadOptions(['adminKey'], given)
      const { runStatusCommand } = await import('./commands/status-command.ts')
      return await runStatusCommand(commandLine.command, { config, terminal, clock })
    }
    if (commandLine.kind === 'doctor') {
      const { runDoctorCommand } = await import('./commands/doctor-command.ts')
      return await runDoctorCommand(commandLine.command, {
        loadConfig: () => loadConfig(given),
        describeWarnings: () => warnings(FLAG_NAMES),
        terminal,
        clock,
      })
    }
    if (commandLine.kind === 'usage') {
      const config = loadOptions(['apiDb', 'usageDb', 'dataDir'], given)
      const { runUsageCommand } = await import('./commands/operator/usage-command.ts')
      return await runUsageCommand(commandLine.command, { config, terminal, clock })
    }
    const config = loadOptions(['apiDb', 'dataDir', 'logLevel'], given)
    isDebugging = showsStacks(config)
    const context = { config, terminal, clock }
    switch (commandLine.kind) {
      case 'pull': {
        const { runPullCommand } = await import('./commands/pull-command.ts')
        return await runPullCommand(commandLine.model, context)
      }
      case 'audit': {
        const { runAuditCommand } = await import('./commands/operator/audit-command.ts')
        return await runAuditCommand(commandLine.command, context)
      }
      case 'keys':
      case 'users':
      case 'teams': {
        const { runOperatorCommand } = await import('./commands/operator/operator-commands.ts')
        return await runOperatorCommand(commandLine, context)
      }
    }
  } catch (error) {
    const failure = toFailure(error, isDebugging)
    terminal.complain(failure.line)
    return failure.exitCode
  }
}

function warnOf(sentences: readonly (string | null)[], terminal: Pick<Terminal, 'complain'>): void {
  for (const sentence of sentences) if (sentence !== null) terminal.complain(`sluice: warning: ${sentence}`)
}
