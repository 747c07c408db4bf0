/**
 * Adds options to a commander command from table rows: options of the configuration, which parses their text, and
 * options of a single command, whose values are parsed here.
 */
import { Argument, type Command, Option } from 'commander'
import { envName, flagName } from '../config/option-names.ts'
import { defaultText, type OptionName, OPTIONS } from '../config/options.ts'
import { readValue, type ValueKind } from '../config/value-kinds.ts'
import { StartError } from '../core/errors.ts'

/** An option that neither the environment nor a file can give. */
export interface CommandOption<Value> {
  readonly kind: ValueKind<Value>
  readonly defaultText: string
  /** One line, lower case, without a full stop. */
  readonly help: string
}

/** Called with the parsed command; among the flags are the configuration's options, as text. */
export type OnCommand<Asked> = (command: Asked, flags: Readonly<Record<string, unknown>>) => void

export interface ConfigOptionTexts {
  /** @default that of `serve` */
  readonly heading?: string
  /** Shown as the default in help. @default the default of `serve` */
  readonly without?: string
}

/** Adds an option of the configuration, kept as text, under its own help heading or another. */
export function addConfigOption(
  command: Command,
  name: OptionName,
  { heading = OPTIONS[name].group, without = `default: ${defaultText(name)}` }: ConfigOptionTexts = {},
): void {
  const { kind, help } = OPTIONS[name]
  const option = new Option(flagsOf(name, kind), `${help} (${without}; ${envName(name)})`)
  if (kind.placeholder !== null) {
    option.argParser((text, before?: string) => {
      const given = refuseFlagAsValue(text, option, command)
      return kind.isList === true && before !== undefined ? `${before}\n${given}` : given
    })
  }
  command.addOption(option.helpGroup(`${heading}:`))
}

/** Adds an option of this command only, parsed by its kind. */
export function addCommandOption<Value>(command: Command, name: string, row: CommandOption<Value>): void {
  const { kind, help } = row
  const option = new Option(flagsOf(name, kind), `${help} (default: ${row.defaultText})`)
  if (kind.placeholder !== null) {
    option.argParser((text) => readValue(kind, refuseFlagAsValue(text, option, command), flagName(name)))
  }
  command.addOption(option)
}

/** Adds one positional argument, parsed by its kind. */
export function addCommandArgument<Value>(command: Command, kind: ValueKind<Value>, label: string): void {
  command.addArgument(parsedBy(new Argument(`<${kind.placeholder ?? label}>`), kind, label))
}

/** The same of one that may be left out. */
export function addOptionalArgument<Value>(command: Command, kind: ValueKind<Value>, label: string): void {
  command.addArgument(parsedBy(new Argument(`[${kind.placeholder ?? label}]`), kind, label))
}

function parsedBy<Value>(argument: Argument, kind: ValueKind<Value>, label: string): Argument {
  return argument.argParser((text) => readValue(kind, text, `The ${label}`))
}

/** Adds the last argument of a command, which may be given many times, each parsed by the kind: a list. */
export function addCommandArguments<Value>(command: Command, kind: ValueKind<Value>, label: string): void {
  const argument = new Argument(`<${kind.placeholder ?? label}...>`)
  command.addArgument(
    argument.argParser<readonly Value[] | undefined>((text, before) => [
      ...(before ?? []),
      readValue(kind, text, `The ${label}`),
    ]),
  )
}

function flagsOf(name: string, { placeholder }: ValueKind<unknown>): string {
  return placeholder === null ? flagName(name) : `${flagName(name)} <${placeholder}>`
}

/** `--api-keys --port 80`: the value was left out, and the next option must not become a key. */
function refuseFlagAsValue(text: string, { flags }: Option, command: Command): string {
  if (command.options.some(({ long }) => long === text)) {
    throw new StartError(`option '${flags}' argument missing`, 2)
  }
  return text
}
