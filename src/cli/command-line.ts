/**
 * Parses the arguments after `sluice` with commander into a command and its options. Values of the configuration's
 * options stay text; the configuration parses them. Help and version are returned as text. A wrong argument is a
 * `StartError` with exit code 2, on one line and without the value, which may be a secret.
 */
import { Command, CommanderError } from 'commander'
import { packageVersion } from '../app/package-version.ts'
import { flagName } from '../config/option-names.ts'
import { FLAG_NAMES, OPTIONS } from '../config/options.ts'
import { choice, list, path, textLike, wholeNumber } from '../config/value-kinds.ts'
import { StartError } from '../core/errors.ts'
import { QUANT_MODES, type QuantMode } from '../core/choices/quant-mode.ts'
import { isHubReference, referenceMeant } from '../checkpoints/hub/hub-reference.ts'
import { addExamples } from './command-examples.ts'
import { addCommandArgument, addCommandOption, addConfigOption } from './command-options.ts'
import { completionScript, type Shell, SHELLS } from './commands/completion-command.ts'
import { addChatCommand, type ChatCommand } from './commands/chat/chat-command-line.ts'
import type { DoctorCommand } from './commands/doctor-command.ts'
import type { StatusCommand } from './commands/status-command.ts'
import { addKeysCommands, JSON_OPTION, type KeysCommand } from './commands/operator/operator-command-line.ts'
import {
  addAuditCommand,
  addUsageCommand,
  type AuditCommand,
  type UsageCommand,
} from './commands/operator/report-command-line.ts'
import { DEFAULT_URL, serverUrl } from './server-url.ts'
import { addTeamsCommands, type TeamsCommand } from './commands/operator/teams-command-line.ts'
import { addUsersCommands, type UsersCommand } from './commands/operator/users-command-line.ts'

type Flags = Readonly<Record<string, unknown>>

export interface LightCommand {
  /** Threads that run the passthrough model. */
  readonly workers: number
  readonly keyDb: string | null
  readonly staticDir: string | null
  /** Null leaves the default public paths. */
  readonly publicPaths: readonly `/${string}`[] | null
}

/** Read as by `serve`: from the command line, the environment and the configuration file. */
export const LIGHT_OPTIONS = [
  'host',
  'port',
  'shutdownTimeout',
  'logLevel',
  'checkpoint',
  'modelConfig',
  'tokenizer',
  'modelId',
  'quantization',
  'maxBatchSize',
  'maxSeqLen',
  'kvCacheTokens',
  'kvCacheType',
  'prefixCacheMb',
  'maxQueue',
  'gpu',
  'gpuLayers',
  'threads',
  'dataDir',
] as const

export interface QuantizeCommand {
  readonly mode: QuantMode
  /** Null keeps the file in the cache of converted models only. */
  readonly output: string | null
}

export type CommandLine =
  | { readonly kind: 'serve'; readonly flags: Flags }
  | { readonly kind: 'light'; readonly command: LightCommand; readonly flags: Flags }
  | { readonly kind: 'keys'; readonly command: KeysCommand; readonly flags: Flags }
  | { readonly kind: 'users'; readonly command: UsersCommand; readonly flags: Flags }
  | { readonly kind: 'teams'; readonly command: TeamsCommand; readonly flags: Flags }
  | { readonly kind: 'usage'; readonly command: UsageCommand; readonly flags: Flags }
  | { readonly kind: 'audit'; readonly command: AuditCommand; readonly flags: Flags }
  /** `model` is a reference to the Hub. */
  | { readonly kind: 'pull'; readonly model: string; readonly flags: Flags }
  | { readonly kind: 'quantize'; readonly command: QuantizeCommand; readonly flags: Flags }
  | { readonly kind: 'chat'; readonly command: ChatCommand; readonly flags: Flags }
  | { readonly kind: 'doctor'; readonly command: DoctorCommand; readonly flags: Flags }
  | { readonly kind: 'status'; readonly command: StatusCommand; readonly flags: Flags }
  /** `folder` gets the copies. */
  | { readonly kind: 'backup'; readonly folder: string; readonly flags: Flags }
  | { readonly kind: 'print'; readonly text: string }

interface Listener {
  readonly onCommand: (commandLine: CommandLine) => void
  /** Help and version. */
  readonly onText: (text: string) => void
}

const HELP_WIDTH = 100

/** @throws StartError */
export function parseCommandLine(words: readonly string[]): CommandLine {
  let asked: CommandLine | null = null
  let text = ''
  const program = createProgram({
    onCommand: (commandLine) => (asked = commandLine),
    onText: (part) => (text += part),
  })
  refuseUnknownCommand(words, program)
  try {
    program.parse([...words], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw new StartError(toSentence(error.message), 2)
  }
  return asked ?? { kind: 'print', text }
}

/** All commands with their options, as help and docs/cli.md show them. @public */
export function createProgram({ onCommand, onText }: Listener): Command {
  const program = new Command('sluice')
    .description('Gives a team its own LLM API.')
    .usage('[command] [options]')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .configureHelp({ helpWidth: HELP_WIDTH })
    .configureOutput({ writeOut: onText, writeErr: () => {} })
    .exitOverride()
  const serve = program
    .command('serve', { isDefault: true })
    .usage('[options]')
    .description('start the server (also without a command)')
    .action((flags: Flags) => onCommand({ kind: 'serve', flags }))
  for (const name of FLAG_NAMES) addConfigOption(serve, name)
  addChatCommand(program, (command, flags) => onCommand({ kind: 'chat', command, flags }))
  addLightCommand(program, (command, flags) => onCommand({ kind: 'light', command, flags }))
  addPullCommand(program, (model, flags) => onCommand({ kind: 'pull', model, flags }))
  addQuantizeCommand(program, (command, flags) => onCommand({ kind: 'quantize', command, flags }))
  addKeysCommands(program, (command, flags) => onCommand({ kind: 'keys', command, flags }))
  addUsersCommands(program, (command, flags) => onCommand({ kind: 'users', command, flags }))
  addTeamsCommands(program, (command, flags) => onCommand({ kind: 'teams', command, flags }))
  addUsageCommand(program, (command, flags) => onCommand({ kind: 'usage', command, flags }))
  addAuditCommand(program, (command, flags) => onCommand({ kind: 'audit', command, flags }))
  addStatusCommand(program, (command, flags) => onCommand({ kind: 'status', command, flags }))
  addDoctorCommand(program, (command, flags) => onCommand({ kind: 'doctor', command, flags }))
  addBackupCommand(program, (folder, flags) => onCommand({ kind: 'backup', folder, flags }))
  addCompletionCommand(program, onText)
  addExamples(program)
  program.addHelpText('after', () => `\n${optionsHelp(serve)}`)
  return program
}

const publicPath = textLike('path', 'a path such as /hook, /u/{id} or /x/*', (text) => text.startsWith('/'))

function addLightCommand(program: Command, onCommand: (command: LightCommand, flags: Flags) => void): void {
  const light = program
    .command('light')
    .usage('[options]')
    .description('start the light server: four endpoints, no accounts and no limits')
  addCommandOption(light, 'workers', {
    kind: wholeNumber({ min: 1, max: 256 }),
    defaultText: '1',
    help: 'threads that run the passthrough model; none with a checkpoint',
  })
  addCommandOption(light, 'keyDb', {
    kind: path(),
    defaultText: 'none: any sk-svc- key is accepted',
    help: 'key database of a full server, which is only read: its --api-db',
  })
  addCommandOption(light, 'publicPaths', {
    kind: list(publicPath),
    defaultText: '/v1/health, /v1/models, /v1/models/{id}',
    help: 'paths that need no key: exact, with {captures}, or prefixes such as /x/*',
  })
  addCommandOption(light, 'staticDir', {
    kind: path('folder'),
    defaultText: 'none',
    help: 'folder whose files are served to everyone',
  })
  for (const name of [...LIGHT_OPTIONS, 'config'] as const) addConfigOption(light, name)
  light.action(({ workers = 1, keyDb = null, staticDir = null, publicPaths = null }: Partial<LightCommand>) =>
    onCommand({ workers, keyDb, staticDir, publicPaths }, light.opts()),
  )
}

/** What means a model of the Hub as well: it is refused with the way to write it. */
const hubModel = textLike(
  'hf:org/repo[:file]',
  'a model of the Hub, such as hf:org/repo',
  (text) => isHubReference(text) || referenceMeant(text) !== null,
)

function addPullCommand(program: Command, onPull: (model: string, flags: Flags) => void): void {
  const pull = program
    .command('pull')
    .description('download a model from the Hugging Face Hub and print its path')
  addCommandArgument(pull, hubModel, 'model')
  addConfigOption(pull, 'logLevel', { heading: 'Options' })
  pull.usage('[options] <hf:org/repo[:file]>').action((model: string) => onPull(model, pull.opts()))
}

function addQuantizeCommand(
  program: Command,
  onCommand: (command: QuantizeCommand, flags: Flags) => void,
): void {
  const quantize = program
    .command('quantize')
    .usage('[options]')
    .description('quantize a checkpoint to a .gguf file, as serve --quantization would')
  addCommandOption(quantize, 'mode', {
    kind: choice(QUANT_MODES),
    defaultText: 'int4',
    help: 'what the weight matrices become',
  })
  addCommandOption(quantize, 'output', {
    kind: path('file'),
    defaultText: 'in the data folder, where serve --quantization finds it',
    help: 'file to write, which must not exist yet',
  })
  addConfigOption(quantize, 'checkpoint', { without: 'required' })
  for (const name of ['modelConfig', 'tokenizer', 'dataDir', 'config'] as const)
    addConfigOption(quantize, name)
  quantize.action(({ mode = 'int4', output = null }: Partial<QuantizeCommand>) =>
    onCommand({ mode, output }, quantize.opts()),
  )
}

function addStatusCommand(program: Command, onCommand: (command: StatusCommand, flags: Flags) => void): void {
  const status = program
    .command('status')
    .usage('[options]')
    .description('show how a running server is; without an admin key only whether it is ready')
  addCommandOption(status, 'url', {
    kind: serverUrl,
    defaultText: DEFAULT_URL,
    help: 'where the server listens',
  })
  addCommandOption(status, 'json', JSON_OPTION)
  for (const name of ['adminKey', 'config'] as const) addConfigOption(status, name, { heading: 'Server' })
  status.action(({ url = DEFAULT_URL, json = false }: { url?: string; json?: boolean }) =>
    onCommand({ url, printsJson: json }, status.opts()),
  )
}

function addDoctorCommand(program: Command, onCommand: (command: DoctorCommand, flags: Flags) => void): void {
  const doctor = program
    .command('doctor')
    .usage('[options]')
    .description('look at what a server with these options needs; changes nothing, ends with 1 at a fault')
  addCommandOption(doctor, 'json', JSON_OPTION)
  for (const name of FLAG_NAMES) addConfigOption(doctor, name)
  doctor.action(({ json = false }: { json?: boolean }) => onCommand({ printsJson: json }, doctor.opts()))
}

function addBackupCommand(program: Command, onBackup: (folder: string, flags: Flags) => void): void {
  const backup = program
    .command('backup')
    .description('copy the databases into a folder, while the server runs or not')
  addCommandArgument(backup, path('folder'), 'folder')
  for (const name of ['apiDb', 'usageDb', 'dataDir', 'config'] as const) {
    addConfigOption(backup, name, { heading: 'Databases' })
  }
  backup.usage('[options] <folder>').action((folder: string) => onBackup(folder, backup.opts()))
}

function addCompletionCommand(program: Command, onText: Listener['onText']): void {
  const completion = program
    .command('completion')
    .description(
      'print what a shell needs to complete commands and options; its first lines say where to put it',
    )
  addCommandArgument(completion, choice(SHELLS), 'shell')
  completion.action((shell: Shell) => onText(completionScript(shell, program)))
}

/** The part of the command's help that lists options; the program's help ends with it. */
function optionsHelp(command: Command): string {
  const help = command.helpInformation()
  return help.slice(help.indexOf(`${OPTIONS.host.group}:`)).trimEnd()
}

/** The first word names a command or is an option of `serve`; the word after a family names one of its commands. */
function refuseUnknownCommand([first, ...rest]: readonly string[], parent: Command): void {
  if (first === undefined || first.startsWith('-')) return
  const names = [...parent.commands.map((command) => command.name()), 'help']
  if (!names.includes(first)) {
    const place = parent.parent === null ? '' : ` of '${parent.name()}'`
    throw new StartError(`unknown command '${first}'; the commands${place} are: ${names.join(', ')}`, 2)
  }
  if (first === 'help') return refuseUnknownCommand(rest, parent)
  const command = parent.commands.find((one) => one.name() === first)
  if (command !== undefined && command.commands.length > 0) refuseUnknownCommand(rest, command)
}

/** Options without a value: Commander does not know them with one. */
const SWITCHES: ReadonlySet<string> = new Set(
  FLAG_NAMES.filter((name) => OPTIONS[name].kind.placeholder === null).map((name) => flagName(name)),
)

/** Commander's message on one line, without what stood after `=` in an unknown option. */
function toSentence(message: string): string {
  const [, sentence = message] = /^error: ([\s\S]*)$/.exec(message) ?? []
  const [, command] = /^too many arguments for '(serve|light|doctor)'/.exec(sentence) ?? []
  if (command !== undefined)
    return `'${command}' takes options alone: --checkpoint names a model, and a switch takes no value`
  const [, flag] = /^unknown option '(--[^=']+)=/.exec(sentence) ?? []
  if (flag !== undefined && SWITCHES.has(flag)) return `option '${flag}' takes no value`
  return sentence
    .replace(/'(--?[^'=]*)=[\s\S]*?'(?=\s*(\(Did you mean|$))/, "'$1'")
    .replaceAll(/\s*\n\s*/g, ' ')
}
