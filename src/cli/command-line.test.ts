import { describe, expect, it } from 'vitest'
import { envName, flagName } from '../config/option-names.ts'
import { defaultText, FLAG_NAMES, OPTIONS } from '../config/options.ts'
import { StartError } from '../core/errors.ts'
import { packageVersion } from '../app/package-version.ts'
import { parseCommandLine } from './command-line.ts'

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

  it('makes one list of a list that is given twice, and takes the last of anything else', () => {
    expect(flagsOf(['--upstream', 'http://a/v1', '--upstream', 'http://b/v1,http://c/v1'])).toEqual({
      upstream: 'http://a/v1\nhttp://b/v1,http://c/v1',
    })
    expect(flagsOf(['--port', '1', '--port', '2'])).toEqual({ port: '2' })
  })

  it.each(FLAG_NAMES)('knows %s', (name) => {
    const isSwitch = OPTIONS[name].kind.placeholder === null
    const words = isSwitch ? [flagName(name)] : [flagName(name), 'text']
    expect(flagsOf(words)).toEqual({ [name]: isSwitch ? true : 'text' })
  })

  it.each([
    [['--prot', '1'], "unknown option '--prot' (Did you mean --port?)"],
    [['serve', '--nonsense'], "unknown option '--nonsense'"],
    [['--port'], "option '--port <n>' argument missing"],
    [['--enable-firewall=true'], "option '--enable-firewall' takes no value"],
    [['serve', '--disable-output-verify=false'], "option '--disable-output-verify' takes no value"],
    [['--api-keys', '--port', '1'], "option '--api-keys <keys>' argument missing"],
    [
      ['start'],
      "unknown command 'start'; the commands are: serve, chat, light, pull, quantize, keys, users, teams, usage, audit, status, doctor, backup, completion, help",
    ],
    [
      ['keys'],
      "'keys' needs one of its commands: create, list, revoke, rename, extend, set-tier, set-team, set-budget",
    ],
    [
      ['users', '--'],
      "'users' needs one of its commands: create, invite, list, set-tier, set-role, password, disable, enable, delete, set-team, set-budget",
    ],
    [
      ['users', 'lst'],
      "unknown command 'lst'; the commands of 'users' are: create, invite, list, set-tier, set-role, password, disable, enable, delete, set-team, set-budget, help",
    ],
    [
      ['keys', 'help', 'lst'],
      "unknown command 'lst'; the commands of 'keys' are: create, list, revoke, rename, extend, set-tier, set-team, set-budget, help",
    ],
    [['keys', 'list', '--usr', 'x'], "unknown option '--usr' (Did you mean --user?)"],
    [['keys', 'list', '--port', '1'], "unknown option '--port'"],
    [['keys', 'create', '--name', '--api-db', 'x'], "option '--name <name>' argument missing"],
    [['keys', 'revoke'], "missing required argument 'id|prefix'"],
    [['keys', 'revoke', 'a', 'b'], "too many arguments for 'revoke'. Expected 1 argument but got 2."],
    [['users', 'set-tier', 'a'], "missing required argument 'free|pro|enterprise'"],
    [
      ['serve', 'model.gguf'],
      "'serve' takes options alone: --checkpoint names a model, and a switch takes no value",
    ],
    [['quantize', '--mode', 'int5'], "--mode must be one of int4, int8, fp8, but was 'int5'."],
  ])('refuses %j on one line', (words, message) => {
    expect(refusal(words)).toBe(message)
  })

  it('reads what a command for operators asks for, and its options of the configuration as text', () => {
    expect(parseCommandLine(['keys', 'create'])).toEqual({
      kind: 'keys',
      command: {
        action: 'create',
        name: '',
        tier: 'free',
        user: null,
        expiresInDays: null,
        rateLimitRpm: null,
        spending: {},
        printsJson: false,
      },
      flags: {},
    })
    const words =
      'keys create --name x --tier pro --user a@b --expires-in-days 3650 --rate-limit-rpm 1 --json'
    expect(parseCommandLine(words.split(' '))).toMatchObject({
      command: {
        name: 'x',
        tier: 'pro',
        user: 'a@b',
        expiresInDays: 3650,
        rateLimitRpm: 1,
        spending: {},
        printsJson: true,
      },
    })
    expect(parseCommandLine(['keys', 'revoke', 'x', '--api-db', 'f', '--config=c'])).toEqual({
      kind: 'keys',
      command: { action: 'revoke', key: 'x' },
      flags: { apiDb: 'f', config: 'c' },
    })
    expect(parseCommandLine(['users', '--', 'list'])).toMatchObject({ kind: 'users' })
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
      for (const name of FLAG_NAMES) {
        expect(flat).toContain(`${flagName(name)} `)
        expect(flat).toContain(`(default: ${defaultText(name)}; ${envName(name)}`)
      }
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
    },
  )

  it('says what sluice usage groups by, and how times are given', () => {
    const help = textOf(['usage', '--help'])
    expect(help).toContain('--group-by <key|user|team|model|endpoint>')
    expect(help.replaceAll(/\s+/g, ' ')).toContain('inclusive: a day, a time or Unix seconds (default')
  })

  it.each([[['--help']], [['help']]])('lists the commands at %j', (words) => {
    const help = textOf(words)
    expect(help).toMatch(
      /^ {2}keys +API keys: create, list, revoke, rename, extend, set-tier,\n +set-team, set-budget$/m,
    )
    expect(help).toMatch(
      /^ {2}users +registered users: create, invite, list, set-tier, set-role,\n +password, disable, enable, delete, set-team, set-budget$/m,
    )
  })

  it.each([[['keys', '--help']], [['help', 'keys']], [['keys', 'help']], [['keys', '-h']]])(
    'lists the commands of a family at %j',
    (words) => {
      for (const name of ['create', 'list', 'revoke', 'rename', 'set-tier']) {
        expect(textOf(words)).toMatch(new RegExp(`^  ${name} `, 'm'))
      }
    },
  )

  it.each([
    [
      ['keys', 'create'],
      [
        ...['--name', '--tier', '--user', '--expires-in-days', '--rate-limit-rpm', '--team'],
        ...['--daily-token-budget', '--monthly-token-budget', '--json'],
      ],
    ],
    [
      ['keys', 'list'],
      ['--user', '--json'],
    ],
    [['keys', 'revoke'], []],
    [['keys', 'set-tier'], []],
    [['users', 'list'], ['--json']],
    [['keys', 'rename'], []],
    [
      ['users', 'create'],
      ['--tier', '--password', '--team', '--daily-token-budget', '--monthly-token-budget', '--json'],
    ],
    [['users', 'set-tier'], ['--keys']],
    [['users', 'disable'], []],
    [
      ['teams', 'create'],
      ['--daily-token-budget', '--monthly-token-budget', '--json'],
    ],
    [
      ['keys', 'set-budget'],
      ['--daily-token-budget', '--monthly-token-budget'],
    ],
    [['users', 'set-team'], []],
    [['users', 'enable'], []],
    [['users', 'delete'], []],
  ])('shows the options of %j with defaults and environment names', (words, flags) => {
    const help = textOf([...words, '--help'])
    const flat = help
      .split('\n')
      .map((line) => line.trim())
      .join(' ')
    for (const flag of flags) expect(flat).toMatch(new RegExp(`${flag} [^(]*\\(default: `))
    for (const name of ['apiDb', 'dataDir', 'config'] as const) {
      expect(flat).toContain(`(default: ${defaultText(name)}; ${envName(name)})`)
    }
    expect(help).toContain(`Usage: sluice ${words.join(' ')} `)
  })
})
