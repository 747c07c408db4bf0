import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { EXAMPLES } from './command-examples.ts'
import { createProgram, parseCommandLine } from './command-line.ts'

/** All commands by their words. */
function listCommands(
  command: Command,
  words: readonly string[] = [],
): readonly (readonly [string, Command])[] {
  return command.commands.flatMap((one) => {
    const own = [...words, one.name()]
    return [[own.join(' '), one] as const, ...listCommands(one, own)]
  })
}

const COMMANDS = listCommands(createProgram({ onCommand: () => {}, onText: () => {} }))

it('every command has some, and there are none of others', () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(COMMANDS.map(([words]) => words).sort())
  for (const lines of Object.values(EXAMPLES)) expect(lines.length).toBeGreaterThan(0)
})

describe.each(COMMANDS.map(([words]) => words))('sluice %s', (words) => {
  it('ends its help with them', () => {
    const commandLine = parseCommandLine([...words.split(' '), '--help'])
    const text = commandLine.kind === 'print' ? commandLine.text : ''
    const shown = (EXAMPLES[words] ?? []).map((line) => `  ${line}`).join('\n')
    expect(text.trimEnd()).toMatch(/\n\nExamples?:\n/)
    expect(text.trimEnd().endsWith(shown)).toBe(true)
  })

  it.each(EXAMPLES[words] ?? [])('takes %s', (line) => {
    const [, given = ''] = /(?:^|\| )sluice ([^|>]+)/.exec(line) ?? []
    const parsed = parseCommandLine(
      Array.from(given.trim().matchAll(/"([^"]*)"|\S+/g), ([word, quoted]) => quoted ?? word),
    )
    // A family's own examples are of the commands in it; the text of a completion is printed.
    const kind = words === 'completion' ? 'print' : words.split(' ')[0]
    expect(parsed.kind).toBe(kind)
    expect(given.startsWith(words)).toBe(true)
  })
})
