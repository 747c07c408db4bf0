/**
 * `sluice completion`: what a shell needs to complete commands and options, made from the same table as the help. The scripts hold
 * all words, so that a key press starts no process.
 */
import type { Command } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

interface Place {
  /** The words that lead to it: empty, `serve`, `keys create`. */
  readonly words: string
  readonly commands: readonly Described[]
  readonly options: readonly Described[]
}

interface Described {
  readonly name: string
  readonly help: string
}

export function completionScript(shell: Shell, program: Command): string {
  const places = listPlaces(program)
  switch (shell) {
    case 'bash':
      return bashScript(places)
    case 'zsh':
      return zshScript(places)
    case 'fish':
      return fishScript(places)
  }
}

function listPlaces(command: Command, words = ''): readonly Place[] {
  const help = command.createHelp()
  const place = {
    words,
    commands: command.commands.map((one) => ({ name: one.name(), help: help.subcommandDescription(one) })),
    options: help
      .visibleOptions(command)
      .flatMap(({ long, description }) => (long ? [{ name: long, help: description }] : [])),
  }
  const below = command.commands.flatMap((one) => listPlaces(one, `${words} ${one.name()}`.trim()))
  return [place, ...below]
}

/** A `case` that follows the words before the cursor, and one with what may come there. */
function casesOf(places: readonly Place[], offer: (names: string) => string): string {
  const steps = places
    .filter(({ words }) => words !== '')
    .map(({ words }) => `'${words.includes(' ') ? words : ` ${words}`}'`)
  const candidates = places.map(({ words, commands, options }) => {
    const names = [...commands, ...options].map(({ name }) => name).join(' ')
    return `    '${words}') ${offer(names)} ;;`
  })
  return [
    `    case "$place $word" in ${steps.join(' | ')}) place="\${place:+$place }$word" ;; esac`,
    '  done',
    '  case "$place" in',
    ...candidates,
    '  esac',
  ].join('\n')
}

/** Where no word fits, bash completes names of files. */
function bashScript(places: readonly Place[]): string {
  return [
    '# eval "$(sluice completion bash)" in ~/.bashrc',
    '_sluice() {',
    "  local place='' word names=''",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    casesOf(places, (names) => `names='${names}'`),
    '  COMPREPLY=($(compgen -W "$names" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _sluice sluice',
  ].join('\n')
}

function zshScript(places: readonly Place[]): string {
  return [
    '#compdef sluice',
    '# eval "$(sluice completion zsh)" in ~/.zshrc, behind compinit',
    '_sluice() {',
    "  local place='' word names=''",
    '  for word in "${(@)words[2,CURRENT-1]}"; do',
    casesOf(places, (names) => `names='${names}'`),
    '  compadd -- ${=names} || _files',
    '}',
    'compdef _sluice sluice',
  ].join('\n')
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ words, commands, options }) => {
    const [first = '', second = ''] = words.split(' ')
    const inside = [first, second]
      .filter((word) => word !== '')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
    const names = commands.map(({ name }) => name).join(' ')
    const notBelow = names === '' ? [] : [`not __fish_seen_subcommand_from ${names}`]
    const condition = quoteForFish([...inside, ...notBelow].join('; and '))
    const when = condition === "''" ? '' : ` -n ${condition}`
    return [
      ...commands.map(({ name, help }) => `complete -c sluice -f${when} -a ${name} -d ${quoteForFish(help)}`),
      ...options.map(
        ({ name, help }) => `complete -c sluice${when} -l ${name.slice(2)} -d ${quoteForFish(help)}`,
      ),
    ]
  })
  return ['# sluice completion fish > ~/.config/fish/completions/sluice.fish', ...lines].join('\n')
}

function quoteForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
