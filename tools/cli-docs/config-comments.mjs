// @ts-check
/**
 * The comments of `ConfigOptions`, made from the option table: what an editor shows of an option of `createServer`. A test
 * fails when the committed file is not what this gives.
 * @import { OptionName } from '../../dist/config/options.js'
 */
import { readFileSync } from 'node:fs'
import { flagName } from '../../dist/config/option-names.js'
import { defaultText, OPTION_NAMES, OPTIONS } from '../../dist/config/options.js'

export const CONFIG_FILE = new URL('../../src/config/server-config.ts', import.meta.url)

const MAX_WIDTH = 120
const INTERFACE = /(?<=^export interface ConfigOptions \{\n)[^}]*/m
const FIELD = /^  readonly (\w+)\?: .+$/gm

/** The file, its fields with the comments that the table gives. @returns {string} */
export function renderConfigFile() {
  return readFileSync(CONFIG_FILE, 'utf8').replace(INTERFACE, (fields) => {
    const rendered = Array.from(
      fields.matchAll(FIELD),
      ([line, name]) => `${toComment(optionOf(name))}\n${line}\n`,
    )
    return rendered.join('')
  })
}

/** @param {string | undefined} field @returns {OptionName} */
function optionOf(field) {
  const name = OPTION_NAMES.find((option) => option === field)
  if (name === undefined) throw new Error(`ConfigOptions has a field '${field}', which is no option`)
  return name
}

/** What the option does, its bounds, and its default. @param {OptionName} name @returns {string} */
export function describeOption(name) {
  const { kind, help } = OPTIONS[name]
  const sentences = [help, `must be ${kind.expected}`]
  const values = kind.placeholder?.includes('|') === true ? kind.placeholder.split('|') : []
  return sentences.map((sentence) => `${upperFirst(toCodeTerms(sentence), values)}.`).join(' ')
}

/** The default as code has it. @param {OptionName} name @returns {string} */
export function describeDefault(name) {
  const { default: value } = OPTIONS[name]
  return typeof value === 'boolean' ? String(value) : toCodeTerms(defaultText(name))
}

/** `--tls-keyfile` is `tlsKeyfile` in code; `@FILE` must not become a tag. @param {string} sentence */
function toCodeTerms(sentence) {
  return sentence.replaceAll('@FILE', '`@FILE`').replaceAll(/--[a-z-]+/g, (flag) => {
    const name = OPTION_NAMES.find((option) => flagName(option) === flag)
    return name === undefined ? flag : `\`${name}\``
  })
}

/**
 * Except where it begins with one of the values, or with the name of a file.
 * @param {string} text @param {readonly string[]} values
 */
function upperFirst(text, values) {
  const [first = ''] = text.split(' ')
  const isLiteral = values.includes(first) || first.includes('.')
  return isLiteral ? text : text.charAt(0).toUpperCase() + text.slice(1)
}

/** @param {OptionName} name */
function toComment(name) {
  const text = describeOption(name)
  const tag = `@default ${describeDefault(name)}`
  const line = `  /** ${text} ${tag} */`
  return line.length <= MAX_WIDTH ? line : ['  /**', ...wrap(text), `   * ${tag}`, '   */'].join('\n')
}

/** @param {string} text */
function wrap(text) {
  /** @type {string[]} */
  const lines = []
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? '   *'} ${word}`
    if (lines.length > 0 && longer.length <= MAX_WIDTH) lines[lines.length - 1] = longer
    else lines.push(`   * ${word}`)
  }
  return lines
}
