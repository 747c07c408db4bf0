import { describe, expect, it } from 'vitest'
import { envName, flagName } from '../config/option-names.ts'
import { defaultText, OPTION_NAMES, OPTIONS } from '../config/options.ts'
import { StartError } from '../core/errors.ts'
import { packageVersion, parseCommandLine } from './command-line.ts'

const flagsOf = (words: readonly string[]) => {
  const commandLine = parseCommandLine(words)
  return commandLine.kind === 'serve' ? commandLine.flags : null
}

const textOf = (words: readonly string[]) => {
  const commandLine = parseCommandLine(words)
  return commandLine.kind === 'print' ? commandLine.text : ''
}

function refusal(words: readonly string[]): string {
  try {
    parseCommandLine(words)
  } catch (error) {
    if (error instanceof StartError && error.exitCode === 2) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}

describe('parseCommandLine', () => {
  it('serves with and without the word, and gives values as text', () => {
    expect(flagsOf([])).toEqual({})
    expect(flagsOf(['serve', '--port', '1'])).toEqual({ port: '1' })
    expect(flagsOf(['--port=1', '--max-batch-size', '-4'])).toEqual({ port: '1', maxBatchSize: '-4' })
    expect(flagsOf(['--enable-firewall'])).toEqual({ enableFirewall: true })
  })

  it.each(OPTION_NAMES)('knows %s', (name) => {
    const isSwitch = OPTIONS[name].kind.placeholder === null
    const words = isSwitch ? [flagName(name)] : [flagName(name), 'text']
    expect(flagsOf(words)).toEqual({ [name]: isSwitch ? true : 'text' })
  })

  it.each([
    [['--prot', '1'], "unknown option '--prot' (Did you mean --port?)"],
    [['serve', '--nonsense'], "unknown option '--nonsense'"],
    [['--port'], "option '--port <n>' argument missing"],
    [['--api-keys', '--port', '1'], "option '--api-keys <keys>' argument missing"],
    [['start'], "unknown command 'start'; the commands are: serve, help"],
    [['serve', 'model.gguf'], "too many arguments for 'serve'. Expected 0 arguments but got 1."],
  ])('refuses %j on one line', (words, message) => {
    expect(refusal(words)).toBe(message)
  })

  it('does not repeat the value of a misspelt option', () => {
    expect(refusal(['--api-key=top=secret'])).toMatch(/^unknown option '--api-key'/)
    expect(refusal(["--api-key=it's a secret"])).not.toContain('secret')
  })

  it('prints the version', () => {
    expect(textOf(['--version']).trim()).toBe(packageVersion())
    expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/)
  })

  it.each([[['--help']], [['serve', '--help']], [['-h']], [['help', 'serve']]])(
    'lists every option with default and environment name at %j, 100 columns wide',
    (words) => {
      const lines = textOf(words).split('\n')
      const flat = lines.map((line) => line.trim()).join(' ')
      for (const name of OPTION_NAMES) {
        expect(flat).toContain(`${flagName(name)} `)
        expect(flat).toContain(`(default: ${defaultText(name)}; ${envName(name)}`)
      }
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
    },
  )
})
