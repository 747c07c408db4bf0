/**
 * The words after `sluice`, read with commander from the option table: which command, and the raw text of its
 * options. Values are not looked at here; that is the configuration's work. Help and version come back as text.
 * A wrong word is a `StartError` with exit code 2, on one line and without the value that may be a secret.
 */
import { readFileSync } from 'node:fs'
import { Command, CommanderError, Option } from 'commander'
import { StartError } from '../core/errors.ts'
import { envName, flagName } from '../config/option-names.ts'
import { defaultText, OPTION_NAMES, OPTIONS } from '../config/options.ts'
import type { OptionName } from '../config/server-config.ts'

export type CommandLine =
  | { readonly kind: 'serve'; readonly flags: Readonly<Record<string, unknown>> }
  | { readonly kind: 'print'; readonly text: string }

const HELP_WIDTH = 100
const FLAGS = new Set(OPTION_NAMES.map(flagName))

/** @throws StartError */
export function parseCommandLine(words: readonly string[]): CommandLine {
  let flags: Readonly<Record<string, unknown>> = {}
  let text = ''
  const program = createProgram((given) => {
    flags = given
  })
  program.configureOutput({ writeOut: (part) => (text += part), writeErr: () => {} })
  for (const command of program.commands) command.copyInheritedSettings(program)
  refuseUnknownCommand(words, program)
  try {
    program.parse([...words], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw new StartError(toSentence(error.message), 2)
    return { kind: 'print', text }
  }
  return { kind: 'serve', flags }
}

function createProgram(onServe: (flags: Readonly<Record<string, unknown>>) => void): Command {
  const program = new Command('sluice')
    .description('Gives a team its own LLM API.')
    .usage('[command] [options]')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .configureHelp({ helpWidth: HELP_WIDTH })
    .exitOverride()
  const serve = program
    .command('serve', { isDefault: true })
    .usage('[options]')
    .description('start the server (also without a command)')
    .helpOption('-h, --help', 'print this help')
    .action(onServe)
  for (const name of OPTION_NAMES) serve.addOption(toCommanderOption(name))
  program.addHelpText('after', () => `\n${optionsHelp(serve)}`)
  return program
}

function toCommanderOption(name: OptionName): Option {
  const { kind, help, group, available } = OPTIONS[name]
  const flags = kind.placeholder === null ? flagName(name) : `${flagName(name)} <${kind.placeholder}>`
  const notes = [
    `default: ${defaultText(name)}`,
    envName(name),
    ...(available === true ? [] : ['not available yet']),
  ]
  const option = new Option(flags, `${help} (${notes.join('; ')})`).helpGroup(`${group}:`)
  if (kind.placeholder !== null) option.argParser((value) => refuseFlagAsValue(value, option.flags))
  return option
}

/** `--api-keys --port 80`: the value was left out, and the next option must not become a key. */
function refuseFlagAsValue(value: string, flags: string): string {
  if (FLAGS.has(value)) throw new StartError(`option '${flags}' argument missing`, 2)
  return value
}

/** The part of the command's help that lists options; the program's help ends with it. */
function optionsHelp(command: Command): string {
  const help = command.helpInformation()
  return help.slice(help.indexOf(`${OPTIONS.host.group}:`)).trimEnd()
}

function refuseUnknownCommand(words: readonly string[], program: Command): void {
  const [first] = words
  const names = [...program.commands.map((command) => command.name()), 'help']
  if (first === undefined || first.startsWith('-') || names.includes(first)) return
  throw new StartError(`unknown command '${first}'; the commands are: ${names.join(', ')}`, 2)
}

/** Commander's message on one line, without what stood after `=` in an unknown option. */
function toSentence(message: string): string {
  const [, sentence = message] = /^error: ([\s\S]*)$/.exec(message) ?? []
  return sentence
    .replace(/'(--?[^'=]*)=[\s\S]*?'(?=\s*(\(Did you mean|$))/, "'$1'")
    .replaceAll(/\s*\n\s*/g, ' ')
}

export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return isManifest ? String(manifest.version) : 'unknown'
}
