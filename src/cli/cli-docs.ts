/**
 * docs/cli.md, made from the option table and from the commands as they parse. A test fails when the committed file is
 * not what this gives.
 */
import type { Command } from 'commander'
import { envName, flagName } from '../config/option-names.ts'
import {
  defaultText,
  isFileOnly,
  OPTION_GROUPS,
  OPTION_NAMES,
  OPTIONS,
  type OptionGroup,
} from '../config/options.ts'
import type { OptionName } from '../config/server-config.ts'
import { createProgram } from './command-line.ts'
import { LIGHT_OPTIONS } from './commands/light-command-line.ts'
import { DATABASE_OPTIONS } from './commands/operator-command-line.ts'

const INTRODUCTION = `# The command line

<!-- Made by \`npm run docs\` from src/config/options.ts and src/cli; do not edit. -->

\`\`\`
COMMANDS
\`\`\`

Every option of \`serve\` can be given in three places. The command line wins, then the environment, then the file:

| place | spelling |
|---|---|
| command line | \`--max-batch-size 16\` |
| environment | \`SLUICE_MAX_BATCH_SIZE=16\`; an empty variable counts as not set, a switch takes \`true\` or \`false\` |
| file | \`maxBatchSize: 16\` in the JSON or YAML file that \`--config\` names; a name that does not exist is refused |

Only \`models\` is for the file alone: a list of models to serve beside the checkpoint.

\`\`\`yaml
models:
  - id: org/other
    checkpoint: models/other.gguf
\`\`\`

Paths are relative to the folder the command is started in. \`--api-keys\` and \`--admin-key\` take \`@FILE\` in place of
the secret itself, so that it does not show in the list of processes.

| exit code | meaning |
|---|---|
| 0 | done; the server: stopped by SIGTERM or SIGINT, running requests done or given up after \`--shutdown-timeout\` |
| 1 | the port, the model or a database cannot be opened; a download failed or was interrupted; a key or a user is not there, or may not be as asked |
| 2 | a word or an option is unknown, malformed or not available yet |
| 130 | stopped at once by a second SIGTERM or SIGINT, more than half a second after the first; \`quantize\`: by the first |

SIGHUP ends no server; one with TLS reads its certificate again ([security.md](security.md#tls)).
`

const OPERATORS = `## Keys and users

For operators, without HTTP and without the admin key. These commands work on the database of accounts and keys itself,
while the server runs and while it does not; what they change holds from the next request on. They find the database as
\`serve\` does: with ${DATABASE_OPTIONS.map((name) => `\`${flagName(name)}\``).join(', ')}, their environment variables and the file.
Run them as the user that the server runs as, in the same folder. A database that is missing is made by the server and by
\`sluice keys create\`; the others say that there is none.

A key is named by its id or by its prefix, the first 15 characters of its secret; a user by id or e-mail address. Dates are
days in UTC. In tables and messages, control characters and others that cannot be seen are written out, as in \`\\u001b\`.
With \`--json\` a command prints one JSON object on one line: the fields of the admin API, times in Unix seconds, and for a
key the \`email\` of its owner.
`

const HUB = `## Models of the Hugging Face Hub

Where a checkpoint is asked for, \`hf:org/repo\` names one of the Hub; \`hf:org/repo@revision\` a branch, tag or commit of it,
and \`hf:org/repo:file.gguf\` one GGUF file (of a split, its first part). The server downloads it before it listens,
\`sluice pull\` without serving it, and prints its path. What is fetched of a checkpoint in the Hugging Face layout is the
weights, their index, config.json, generation_config.json, the tokenizer's files and the chat template.

Files are kept in the cache that other tools of the Hub use and fill as well. A download that is interrupted goes on where it
stopped; every file is checked against its checksum before it gets its name. A model that was pulled before is served also
while the Hub cannot be reached. To force a file to be downloaded again, delete it from the cache.

| environment | |
|---|---|
| \`HF_TOKEN\`, \`HF_TOKEN_PATH\` | the token, or the file that holds it (default: \`token\` in \`HF_HOME\`); sent to the Hub only, and not with \`HF_HUB_DISABLE_IMPLICIT_TOKEN=1\` |
| \`HF_ENDPOINT\` | a mirror in place of \`https://huggingface.co\` |
| \`HF_HOME\`, \`HF_HUB_CACHE\` | where the Hub's tools keep things (\`~/.cache/huggingface\`), and models (\`hub\` in it) |
| \`HF_HUB_OFFLINE=1\`, else \`TRANSFORMERS_OFFLINE=1\` | only what is in the cache is served; nothing is asked of the Hub |
`

const LIGHT_FLAGS = [...LIGHT_OPTIONS, 'config' as const].map(flagName)

const LIGHT = `## The light server

\`sluice light\` starts [the light server](light.md) without an application around it. Of the options of \`serve\` it takes
${LIGHT_FLAGS.map((flag) => `\`${flag}\``).join(', ')}, from the same three places, and has some of its own for the command line:
`

const QUANTIZING = `## Quantizing beforehand

What \`serve --quantization\` does when it loads a model ([quantization.md](quantization.md)), without a server: with a bar
on a terminal, and with \`--output\` as a \`.gguf\` file of its own. Converted and quantized files stay in the data folder,
where the server finds them again.
`

export function renderCliDocs(): string {
  const program = createProgram({ onCommand: () => {}, onText: () => {} })
  const operatorCommands = program.commands.flatMap((family) => family.commands)
  const quantize = program.commands.filter((command) => command.name() === 'quantize')
  const introduction = INTRODUCTION.replace(
    'COMMANDS',
    renderOverview([...program.commands.filter(isNoFamily), ...operatorCommands]),
  )
  return [
    introduction,
    ...OPTION_GROUPS.map(renderGroup),
    LIGHT,
    ...program.commands.filter((command) => command.name() === 'light').map(renderLight),
    HUB,
    QUANTIZING,
    ...quantize.map(renderCommand),
    OPERATORS,
    ...operatorCommands.map(renderCommand),
  ].join('\n')
}

function isNoFamily({ commands }: Command): boolean {
  return commands.length === 0
}

/** One line for each command. */
function renderOverview(commands: readonly Command[]): string {
  const lines = [
    ...commands.map((command) => [usageOf(command), command.description()]),
    ['sluice --help', 'all commands and options; a command takes it as well'],
    ['sluice --version', 'the version'],
  ]
  const width = Math.max(...lines.map(([words = '']) => words.length))
  return lines.map(([words = '', help]) => `${words.padEnd(width)}  ${help}`).join('\n')
}

function usageOf(command: Command): string {
  const family = command.parent?.parent ? `${command.parent.name()} ` : ''
  return `sluice ${family}${command.name()} ${command.usage()}`
}

/** Its heading and its sentence stand above. */
function renderLight(command: Command): string {
  return renderOptions(command, LIGHT_FLAGS).trimStart()
}

/** Those that are not shared with other commands. */
function renderOptions(command: Command, shared: readonly string[]): string {
  const own = command.options.filter(({ long }) => long === undefined || !shared.includes(long))
  const rows = own.map(({ flags, description }) => toTableRow([`\`${flags}\``, `${description}.`]))
  return rows.length === 0 ? '' : `\n| option | |\n|---|---|\n${rows.join('\n')}\n`
}

function renderCommand(command: Command): string {
  const table = renderOptions(command, DATABASE_OPTIONS.map(flagName))
  return `### \`${usageOf(command)}\`\n\n${capitalize(command.description())}.\n${table}`
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function renderGroup(group: OptionGroup): string {
  const rows = OPTION_NAMES.filter((name) => OPTIONS[name].group === group).map(renderRow)
  return `## ${group}

| option | default | environment | |
|---|---|---|---|
${rows.join('\n')}
`
}

function renderRow(name: OptionName): string {
  const { kind, help, available } = OPTIONS[name]
  const flag = kind.placeholder === null ? flagName(name) : `${flagName(name)} ${kind.placeholder}`
  const notYet = available === true ? '' : ` *Not available yet: ${available.reason}.*`
  const places = isFileOnly(name)
    ? [`\`${name}\` in the file`, defaultText(name), '']
    : [`\`${flag}\``, defaultText(name), `\`${envName(name)}\``]
  return toTableRow([...places, `${help}.${notYet}`])
}

function toTableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
