import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { parseCommandLine } from '../command-line.ts'
import { SHELLS } from './completion-command.ts'

function scriptOf(shell: string): string {
  const asked = parseCommandLine(['completion', shell])
  return asked.kind === 'print' ? asked.text : ''
}

/** What bash offers behind these words, of which the last one is being written. */
function offered(...words: readonly string[]): readonly string[] {
  const program = `${scriptOf('bash')}\nCOMP_WORDS=(sluice "$@"); COMP_CWORD=$#; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', program, 'bash', ...words], { encoding: 'utf8' })
    .trim()
    .split('\n')
}

it('completes commands, their commands and their options in bash', () => {
  expect(offered('us')).toEqual(['users', 'usage'])
  expect(offered('keys', 're')).toEqual(['revoke', 'rename'])
  expect(offered('keys', 'create', '--rate')).toEqual(['--rate-limit-rpm'])
  expect(offered('serve', '--port', '8080', '--checkp')).toEqual(['--checkpoint'])
  expect(offered('completion', 'x')).toEqual([''])
})

it.each(SHELLS)('names every command and option for %s, each in a place of its own', (shell) => {
  const script = scriptOf(shell)
  for (const word of ['serve', 'invite', 'set-budget', 'max-batch-size', 'metrics-key'])
    expect(script).toContain(word)
})

it('knows no other shell', () => {
  expect(() => parseCommandLine(['completion', 'tcsh'])).toThrow(/shell.*bash, zsh, fish/)
})
