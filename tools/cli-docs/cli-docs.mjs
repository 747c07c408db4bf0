// @ts-check
/**
 * docs/cli.md, made from template.md, the option table and the commands as they parse. A test fails when the committed
 * file is not what this gives.
 * @import { Command } from 'commander'
 * @import { OptionGroup } from '../../dist/config/option-row.js'
 * @import { OptionName } from '../../dist/config/options.js'
 */
import { readFileSync } from 'node:fs'
import { createProgram, LIGHT_OPTIONS } from '../../dist/cli/command-line.js'
import { CHAT_OPTIONS } from '../../dist/cli/commands/chat/chat-command-line.js'
import { DATABASE_OPTIONS } from '../../dist/cli/commands/operator/operator-command-line.js'
import { envName, flagName } from '../../dist/config/option-names.js'
import { OPTION_GROUPS } from '../../dist/config/option-row.js'
import { defaultText, isFileOnly, OPTION_NAMES, OPTIONS } from '../../dist/config/options.js'

const LIGHT_FLAGS = [...LIGHT_OPTIONS, 'config'].map(flagName)
const CHAT_FLAGS = [...CHAT_OPTIONS, 'config'].map(flagName)
const DATABASE_FLAGS = DATABASE_OPTIONS.map(flagName)

/** @returns {string} */
export function renderCliDocs() {
  const { commands } = createProgram({ onCommand: () => {}, onText: () => {} })
  const operatorCommands = commands.flatMap((family) => [...family.commands])
  const single = commands.filter((command) => command.commands.length === 0)
  /** @param {string} name */
  const named = (name) => commands.filter((command) => command.name() === name)
  /** @type {Record<string, string>} */
  const parts = {
    commands: renderOverview([...single, ...operatorCommands]),
    options: OPTION_GROUPS.map(renderGroup).join('\n'),
    lightFlags: listOf(LIGHT_FLAGS),
    light: named('light')
      .map((command) => renderOptions(command, LIGHT_FLAGS).trimStart())
      .join('\n'),
    chatFlags: listOf(CHAT_FLAGS),
    chat: named('chat')
      .map((command) => renderCommand(command, CHAT_FLAGS))
      .join('\n'),
    status: named('status')
      .map((command) => renderCommand(command))
      .join('\n'),
    doctor: named('doctor')
      .map((command) => renderCommand(command, [...OPTION_NAMES].map(flagName)))
      .join('\n'),
    quantize: named('quantize')
      .map((command) => renderCommand(command))
      .join('\n'),
    usage: named('usage')
      .map((command) => renderCommand(command))
      .join('\n'),
    audit: named('audit')
      .map((command) => renderCommand(command))
      .join('\n'),
    backup: named('backup')
      .map((command) => renderCommand(command))
      .join('\n'),
    databaseFlags: listOf(DATABASE_FLAGS),
    operators: operatorCommands.map((command) => renderCommand(command)).join('\n'),
  }
  const template = readFileSync(new URL('template.md', import.meta.url), 'utf8')
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => parts[name] ?? '')
}

/** @param {readonly string[]} flags */
function listOf(flags) {
  return flags.map((flag) => `\`${flag}\``).join(', ')
}

/** One line for each command. @param {readonly Command[]} commands */
function renderOverview(commands) {
  const lines = [
    ...commands.map((command) => [usageOf(command), command.description()]),
    ['sluice --help', 'all commands and options; a command takes it as well'],
    ['sluice --version', 'the version'],
  ]
  const width = Math.max(...lines.map(([words = '']) => words.length))
  return lines.map(([words = '', help]) => `${words.padEnd(width)}  ${help}`).join('\n')
}

/** @param {Command} command */
function usageOf(command) {
  const family = command.parent?.parent ? `${command.parent.name()} ` : ''
  return `sluice ${family}${command.name()} ${command.usage()}`
}

/** Those that are not shared with other commands. @param {Command} command @param {readonly string[]} shared */
function renderOptions(command, shared) {
  const own = command.options.filter(({ long }) => long == null || !shared.includes(long))
  const rows = own.map(({ flags, description }) => toTableRow([`\`${flags}\``, `${description}.`]))
  return rows.length === 0 ? '' : `\n| option | |\n|---|---|\n${rows.join('\n')}\n`
}

/** @param {Command} command @param {readonly string[]} [shared] */
function renderCommand(command, shared = DATABASE_FLAGS) {
  const sentence = command.description()
  const heading = `### \`${usageOf(command)}\`\n\n${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
  return `${heading}\n${renderOptions(command, shared)}`
}

/** @param {OptionGroup} group */
function renderGroup(group) {
  const rows = OPTION_NAMES.filter((name) => OPTIONS[name].group === group).map(renderRow)
  return `## ${group}

| option | default | environment | |
|---|---|---|---|
${rows.join('\n')}
`
}

/** @param {OptionName} name */
function renderRow(name) {
  const { kind, help } = OPTIONS[name]
  const flag = kind.placeholder === null ? flagName(name) : `${flagName(name)} ${kind.placeholder}`
  const places = isFileOnly(name)
    ? [`\`${name}\` in the file`, defaultText(name), '']
    : [`\`${flag}\``, defaultText(name), `\`${envName(name)}\``]
  return toTableRow([...places, `${help}.`])
}

/** @param {readonly string[]} cells */
function toTableRow(cells) {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
