/** The command lines of `sluice teams ...`, parsed. `teams-command.ts` runs them and is loaded only then. */
import type { Command } from 'commander'
import { textLike } from '../../../config/value-kinds.ts'
import { addCommandArgument, addCommandOption, type OnCommand } from '../../command-options.ts'
import { finishFamily, JSON_OPTION } from './operator-command-line.ts'
import { addBudgetOptions, addSetBudget, type Budgets, teamId, toBudgets } from './spending-command-line.ts'

/** As the admin API bounds it. */
const MAX_TEAM_NAME_LENGTH = 100

/** `team` is an id or a name. */
export type TeamsCommand =
  | {
      readonly action: 'create'
      readonly name: string
      readonly budgets: Budgets
      readonly printsJson: boolean
    }
  | { readonly action: 'list'; readonly printsJson: boolean }
  | { readonly action: 'rename'; readonly team: string; readonly name: string }
  | { readonly action: 'set-budget'; readonly team: string; readonly budgets: Budgets }
  | { readonly action: 'delete'; readonly team: string }

const teamName = textLike(
  'name',
  `1 to ${MAX_TEAM_NAME_LENGTH} characters without a null character`,
  (text) => text !== '' && Array.from(text).length <= MAX_TEAM_NAME_LENGTH && !/\0|\p{Surrogate}/u.test(text),
)

export function addTeamsCommands(program: Command, onCommand: OnCommand<TeamsCommand>): void {
  const teams = program.command('teams')

  const create = teams
    .command('create')
    .description('make a team, whose users and keys share budgets and are reported together')
  addCommandArgument(create, teamName, 'name')
  addBudgetOptions(create)
  addCommandOption(create, 'json', JSON_OPTION)
  create.action((name: string, { json = false, ...flags }: { json?: boolean }) =>
    onCommand({ action: 'create', name, budgets: toBudgets(flags), printsJson: json }, create.opts()),
  )

  const list = teams.command('list').description('list the teams')
  addCommandOption(list, 'json', JSON_OPTION)
  list.action(({ json = false }: { json?: boolean }) =>
    onCommand({ action: 'list', printsJson: json }, list.opts()),
  )

  const rename = teams.command('rename').description('give a team another name')
  addCommandArgument(rename, teamId, 'team')
  addCommandArgument(rename, teamName, 'name')
  rename.action((team: string, name: string) => onCommand({ action: 'rename', team, name }, rename.opts()))

  addSetBudget(teams, { subject: 'team', id: teamId }, (team, budgets, flags) =>
    onCommand({ action: 'set-budget', team, budgets }, flags),
  )

  const remove = teams
    .command('delete')
    .description('delete a team; its users and keys stay, and what they used stays counted')
  addCommandArgument(remove, teamId, 'team')
  remove.action((team: string) => onCommand({ action: 'delete', team }, remove.opts()))

  finishFamily(teams, 'teams')
}
