import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { listSecrets, oneOrMoreSecrets, passwordText, secretList } from './secret-kinds.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sluice-secrets-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(text: string): string {
  const file = path.join(folder, 'keys.txt')
  writeFileSync(file, text)
  return `@${file}`
}

const FIRST = 'first-of-two-secrets'
const SECOND = 'second-of-two-secrets'

describe('secretList', () => {
  it('reads secrets between commas, and arrays as they are', () => {
    expect(secretList.parse(` ${FIRST} , ${SECOND}`)).toEqual([FIRST, SECOND])
    expect(secretList.parse([`a,${FIRST}`, SECOND])).toEqual([`a,${FIRST}`, SECOND])
  })

  it('reads each file that stands among secrets, whose name is none', () => {
    const file = write(`${SECOND}\n`)
    expect(secretList.parse(`${FIRST},${file}`)).toEqual([FIRST, SECOND])
    expect(secretList.parse([FIRST, file])).toEqual([FIRST, SECOND])
    // As the command line gives an option that is there twice.
    expect(secretList.parse(`${file}\n${FIRST}`)).toEqual([SECOND, FIRST])
    expect(() => secretList.parse([FIRST, '@/no/such/file-of-secrets'])).toThrow('it does not exist')
    expect(() => secretList.parse(write(`${FIRST}\n@/etc/more-secrets\n`))).toThrow(
      'a line of it begins with @',
    )
  })

  it('reads one secret a line from a file, without empty lines', () => {
    expect(secretList.parse(write(`\u{FEFF}first,with a comma\r\n\n  ${SECOND}\n`))).toEqual([
      'first,with a comma',
      SECOND,
    ])
  })

  it.each([
    ['@/no/such/topsecret', 'names a file after @, but it does not exist'],
    ['@', 'names a file after @, but it does not exist'],
    ['topsecret', 'must hold secrets of at least 16 characters, but one has 9'],
    [['a secret of sixteen', 'topsecret'], 'must hold secrets of at least 16 characters, but one has 9'],
    ['topsecret,', 'must not contain an empty secret'],
    [['topsecret', 7], 'must be text'],
    [{ topsecret: 1 }, 'must be text'],
  ])('refuses %j without showing it', (given, message) => {
    expect(() => secretList.parse(given)).toThrow(message)
    expect(() => secretList.parse(given)).not.toThrow(/topsecret/)
  })

  it('refuses a file without a secret, and a folder', () => {
    expect(() => secretList.parse(write('\n \n'))).toThrow('names a file after @, but it holds no secret')
    expect(() => secretList.parse(`@${folder}`)).toThrow('names a file after @, but it cannot be read')
  })
})

describe('oneOrMoreSecrets', () => {
  it('has at least 16 characters, from a file too', () => {
    expect(oneOrMoreSecrets.parse('x'.repeat(16))).toBe('x'.repeat(16))
    const problem = 'must hold secrets of at least 16 characters, but one has 15'
    expect(() => oneOrMoreSecrets.parse('x'.repeat(15))).toThrow(problem)
    expect(() => oneOrMoreSecrets.parse(write('x'.repeat(15)))).toThrow(problem)
    expect(() => oneOrMoreSecrets.parse('🔑'.repeat(8))).toThrow('but one has 8')
  })

  it('is one secret, commas included, or the lines of a file or an array', () => {
    expect(oneOrMoreSecrets.parse(`a,${FIRST}`)).toBe(`a,${FIRST}`)
    expect(oneOrMoreSecrets.parse(write(`${FIRST}\n`))).toBe(FIRST)
    expect(oneOrMoreSecrets.parse(write(`${FIRST}\n${SECOND}\n`))).toEqual([FIRST, SECOND])
    expect(oneOrMoreSecrets.parse([`a,${FIRST}`, SECOND])).toEqual([`a,${FIRST}`, SECOND])
    expect(() => oneOrMoreSecrets.parse([])).toThrow('must hold at least one secret')
  })
})

describe('env:NAME', () => {
  it('is the value of the variable, and never a secret itself', () => {
    vi.stubEnv('TWO_SECRETS', `${FIRST}, ${SECOND}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(secretList.parse('env:TWO_SECRETS')).toEqual([FIRST, SECOND])
    expect(secretList.parse(['env:TWO_SECRETS'])).toEqual([FIRST, SECOND])
    expect(oneOrMoreSecrets.parse('env:TWO_SECRETS')).toBe(`${FIRST}, ${SECOND}`)
    expect(passwordText.parse('env:TWO_SECRETS')).toBe(`${FIRST}, ${SECOND}`)
    for (const kind of [secretList, oneOrMoreSecrets, passwordText])
      expect(() => kind.parse('env:NO_SUCH_SECRET_VARIABLE')).toThrow(
        'names a variable after env:, but it is not set',
      )
  })
})

it('listSecrets gives a list of whatever oneOrMoreSecrets gives', () => {
  expect([null, FIRST, [FIRST, SECOND]].map(listSecrets)).toEqual([[], [FIRST], [FIRST, SECOND]])
})
