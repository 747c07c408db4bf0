/**
 * From what was given to a `ServerConfig`: for each option the first source that has it (command line, environment,
 * file, then the table's default), read by its kind, refused when its work is not built, then all rules between
 * options. Every refusal is a `StartError` with exit code 2 whose one sentence names the option as the user
 * wrote it. Called by the command line and by `createServer`.
 */
import { StartError } from '../core/errors.ts'
import { meantName } from '../core/text/nearest-name.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import { envName, flagName } from './option-names.ts'
import type { OptionRow } from './option-row.ts'
import { isFileOnly, OPTION_NAMES, type OptionName, OPTIONS, type OptionValues } from './options.ts'
import { checkRules } from './rules.ts'
import type { ConfigOptions, ServerConfig } from './server-config.ts'
import { readValue } from './value-kinds.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Values = Readonly<Record<string, unknown>>

export interface GivenOptions {
  /** Command line, by camelCase name. */
  readonly flags?: Values
  /** Empty variables count as not set. */
  readonly env?: Environment
  readonly file?: ConfigFile | null
  /** They replace the table's own defaults. */
  readonly defaults?: Values
}

/** One place options come from: what it gives for a name, and how an error names that place. */
interface Source {
  valueOf(name: OptionName): unknown
  label(name: OptionName): string
}

/** Finds the file named by `--config` or `SLUICE_CONFIG`, if any, and resolves everything. */
export function loadConfig(given: Omit<GivenOptions, 'file'>): ServerConfig {
  return resolveConfig({ ...given, file: findConfigFile(given) })
}

/**
 * These options alone, from the same places, for a command that has no use for the others: what is wrong with another
 * one does not matter to it, and no secret's file is read.
 */
export function loadOptions<Name extends keyof ServerConfig>(
  names: readonly Name[],
  given: Omit<GivenOptions, 'file'>,
): Pick<ServerConfig, Name> {
  const sources = sourcesOf({ ...given, file: findConfigFile(given) })
  const entries = names.map((name) => [name, pick(name, sources).value] as const)
  return Object.freeze(Object.fromEntries(entries)) as unknown as Pick<ServerConfig, Name>
}

/** @throws StartError */
export function resolveConfig(given: GivenOptions): ServerConfig {
  return resolveSources(sourcesOf(given))
}

function findConfigFile({ flags = {}, env = {} }: GivenOptions): ConfigFile | null {
  const path = pick('config', [flagSource(flags), envSource(env)]).value
  return path === null ? null : readConfigFile(path)
}

function sourcesOf({ flags = {}, env = {}, file, defaults }: GivenOptions): readonly Source[] {
  return [
    flagSource(flags),
    envSource(env),
    ...(file ? [fileSource(file)] : []),
    openTelemetrySource(env),
    { valueOf: (name) => defaults?.[name], label: flagName },
  ]
}

/** The configuration of a server made from code: what is left out gets its default. */
export function completeConfig(options: ConfigOptions): ServerConfig {
  const values: Values = { ...options }
  refuseUnknownNames(Object.keys(values), 'The option')
  // A complete configuration may be passed in again, so a default is accepted here, built or not.
  const valueOf = (name: OptionName) => (isDefault(name, values[name]) ? undefined : values[name])
  return resolveSources([{ valueOf, label: (name) => name }])
}

function isDefault(name: OptionName, value: unknown): boolean {
  const standard = OPTIONS[name].default
  if (Array.isArray(standard)) return Array.isArray(value) && value.length === 0
  return value === standard
}

function resolveSources(sources: readonly Source[]): ServerConfig {
  const labels = new Map<OptionName, string>()
  const entries = OPTION_NAMES.map((name) => {
    const { value, label } = pick(name, sources)
    labels.set(name, label)
    return [name, value] as const
  })
  const { config: _, ...values } = Object.fromEntries(entries) as unknown as OptionValues
  checkRules(values, (name) => labels.get(name) ?? flagName(name))
  return Object.freeze(values)
}

/** The value of one option and how errors name it. */
function pick<Name extends OptionName>(name: Name, sources: readonly Source[]) {
  const row: OptionRow<OptionValues[Name]> = OPTIONS[name]
  for (const source of sources) {
    const given = source.valueOf(name)
    if (given === undefined || given === null) continue
    const label = source.label(name)
    const value = readValue(row.kind, given, label)
    return { value, label }
  }
  return { value: row.default, label: flagName(name) }
}

function flagSource(flags: Values): Source {
  return { valueOf: (name) => (isFileOnly(name) ? undefined : flags[name]), label: flagName }
}

function envSource(env: Environment): Source {
  return {
    valueOf: (name) => (isFileOnly(name) ? undefined : env[envName(name)] || undefined),
    label: envName,
  }
}

/** What services of every kind read. */
const OTLP_ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT'

function openTelemetrySource(env: Environment): Source {
  return {
    valueOf: (name) => (name === 'otlpEndpoint' ? env[OTLP_ENDPOINT] || undefined : undefined),
    label: () => OTLP_ENDPOINT,
  }
}

function fileSource(file: ConfigFile): Source {
  refuseUnknownNames(Object.keys(file.values), `The configuration file ${file.path}: the option`)
  return { valueOf: (name) => file.values[name], label: (name) => `${name} in ${file.path}` }
}

/** `config` is not one of them: a file cannot name another. */
function refuseUnknownNames(names: readonly string[], subject: string): void {
  const known = OPTION_NAMES.filter((name) => name !== 'config')
  const unknown = names.find((name) => !known.some((option) => option === name))
  if (unknown === undefined) return
  const meant = meantName(unknown, known)
  const hint = meant === null ? '.' : `; did you mean '${meant}'?`
  throw new StartError(`${subject} '${unknown}' does not exist${hint}`, 2)
}
