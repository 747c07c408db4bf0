import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { readConfigFile } from './config-file.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sluice-config-file-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text: string | Uint8Array): string {
  const file = path.join(folder, name)
  writeFileSync(file, text)
  return file
}

describe('readConfigFile', () => {
  it.each([
    ['a.json', '{"port": 1, "apiKeys": ["k"]}'],
    ['a.yaml', 'port: 1\napiKeys: [k]\n'],
    ['a.yml', 'port: 1\napiKeys:\n  - k\n'],
    ['a.conf', '{"port": 1, "apiKeys": ["k"]}'],
    ['with-bom.json', '\u{FEFF}{"port": 1, "apiKeys": ["k"]}'],
  ])('reads %s', (name, text) => {
    expect(readConfigFile(write(name, text)).values).toEqual({ port: 1, apiKeys: ['k'] })
  })

  it('takes an empty file as no options', () => {
    expect(readConfigFile(write('empty.yaml', '')).values).toEqual({})
  })

  it.each([
    ['list.yaml', '- port', 'must hold options by name, such as port: 8080.'],
    ['word.json', '"port"', 'must hold options by name, such as port: 8080.'],
    ['broken.json', '{"port": 1,\n "host" 2}', 'is not valid JSON (line 2, column 9).'],
    ['empty.json', '', 'is not valid JSON.'],
    ['broken.yaml', 'port: [1\nhost: x', 'is not valid YAML (line '],
    ['comma.json', '{"port": 1,\n}', 'is not valid JSON (line 2, column 1).'],
    ['twice.yaml', 'port: 1\nport: 2', 'has the same name twice (line 2, column 1).'],
    ['twice.json', '{"port": 1, "port": 2}', 'has the same name twice (line 1, column 13).'],
    [
      'tab.yaml',
      'models:\n\t- id: x',
      'is indented with a tab, where YAML takes spaces alone (line 2, column 1).',
    ],
    ['two.yaml', 'port: 1\n---\nport: 2', 'holds more than one document (line 2, column 1).'],
    ['at.yaml', 'adminKey: @/etc/key', 'has a value without quotes that needs them, as its first character'],
    ['large.yaml', `port: 1\n#${' '.repeat(1024 * 1024)}`, 'is larger than 1 MB: it holds options alone.'],
    ['alias.yaml', 'port: *nowhere', 'has an alias without an anchor, or too many aliases.'],
  ])('refuses %s in one line', (name, text, problem) => {
    const file = write(name, text)
    expect(() => readConfigFile(file)).toThrow(`The configuration file ${file} ${problem}`)
  })

  it.each([
    ['utf16-with-bom.yaml', Buffer.from('\u{FEFF}port: 1\n', 'utf16le')],
    ['utf16.json', Buffer.from('{"port": 1}', 'utf16le')],
    ['latin1.yaml', Buffer.from('instructions: Grüße\n', 'latin1')],
  ])('refuses %s, which is not in UTF-8', (name, bytes) => {
    const file = write(name, bytes)
    expect(() => readConfigFile(file)).toThrow(`The configuration file ${file} must be text in UTF-8.`)
  })

  it('does not show what stands around a mistake', () => {
    const file = write('secret.json', '{"apiKeys": "topsecret" oops}')
    expect(() => readConfigFile(file)).not.toThrow(/topsecret/)
    expect(() => readConfigFile(file)).toThrow(/is not valid JSON/)
  })

  it('writes no warning about a name that is none', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    readConfigFile(write('name.yaml', '? {a: b}\n: 3\n'))
    expect(warn).not.toHaveBeenCalled()
  })

  it('says when the file is missing or a folder', () => {
    const missing = path.join(folder, 'missing.yaml')
    expect(() => readConfigFile(missing)).toThrow(`The configuration file ${missing} does not exist.`)
    mkdirSync(path.join(folder, 'sub'))
    expect(() => readConfigFile(path.join(folder, 'sub'))).toThrow(/ is a folder\.$/)
  })
})
