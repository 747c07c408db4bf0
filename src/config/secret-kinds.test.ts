import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { secret, secretList } from './secret-kinds.ts'

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

describe('secretList', () => {
  it('reads secrets between commas, and arrays as they are', () => {
    expect(secretList.parse(' a , b')).toEqual(['a', 'b'])
    expect(secretList.parse(['a,b', '@c'])).toEqual(['a,b', '@c'])
  })

  it('reads one secret a line from a file, without empty lines', () => {
    expect(secretList.parse(write('\u{FEFF}first,with comma\r\n\n  second\n'))).toEqual([
      'first,with comma',
      'second',
    ])
  })

  it.each([
    ['@/no/such/topsecret', 'names a file after @, but it does not exist'],
    ['@', 'names a file after @, but it does not exist'],
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

describe('secret', () => {
  it('is one secret, commas included, or the one line of a file', () => {
    expect(secret.parse('a,b')).toBe('a,b')
    expect(secret.parse(write('only\n'))).toBe('only')
    expect(() => secret.parse(write('one\ntwo\n'))).toThrow('must be one secret, but there are more')
  })
})
