/** docs/cli.md, made from the option table. A test fails when the committed file is not what this gives. */
import { envName, flagName } from '../config/option-names.ts'
import { defaultText, OPTION_GROUPS, OPTION_NAMES, OPTIONS, type OptionGroup } from '../config/options.ts'
import type { OptionName } from '../config/server-config.ts'

const INTRODUCTION = `# The command line

<!-- Made by \`npm run docs\` from src/config/options.ts; do not edit. -->

\`\`\`
sluice serve [options]     start the server; also without the word serve
sluice --help              all options
sluice --version           the version
\`\`\`

Every option can be given in three places. The command line wins, then the environment, then the file:

| place | spelling |
|---|---|
| command line | \`--max-batch-size 16\` |
| environment | \`SLUICE_MAX_BATCH_SIZE=16\`; an empty variable counts as not set, a switch takes \`true\` or \`false\` |
| file | \`maxBatchSize: 16\` in the JSON or YAML file that \`--config\` names; a name that does not exist is refused |

Paths are relative to the folder the command is started in. \`--api-keys\` and \`--admin-key\` take \`@FILE\` in place of
the secret itself, so that it does not show in the list of processes.

| exit code | meaning |
|---|---|
| 0 | stopped by SIGTERM or SIGINT, running requests done or given up after \`--shutdown-timeout\` |
| 1 | the port, the model or a database cannot be opened |
| 2 | an option is unknown, malformed or not available yet |
| 130 | stopped at once by a second SIGTERM or SIGINT, more than half a second after the first |
`

export function renderCliDocs(): string {
  return [INTRODUCTION, ...OPTION_GROUPS.map(renderGroup)].join('\n')
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
  const cells = [`\`${flag}\``, defaultText(name), `\`${envName(name)}\``, `${help}.${notYet}`]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
