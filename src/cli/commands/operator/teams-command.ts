/** `sluice teams`: manages teams and their budgets without HTTP, by the rules of the team service. */
import type { Team, TeamService } from '../../../accounts/team-service.ts'
import { ServiceError } from '../../../core/errors.ts'
import { listAllPages, type Services } from '../../open-services.ts'
import { renderTable, toIsoDay } from '../../terminal/table.ts'
import { escapeUnseen, toJsonLine } from '../../terminal/terminal-text.ts'
import type { TeamsCommand } from './teams-command-line.ts'

/** @param onTarget is called with the id of the team that it is about, when it is found or made */
export async function answerTeams(
  command: TeamsCommand,
  { teams }: Services,
  onTarget: (teamId: string) => void,
): Promise<string> {
  // The rows of the API, whose library takes its time to load.
  const { toTeamBody } = await import('../../../api/schemas/teams.ts')
  const findNamed = async (idOrName: string): Promise<Team> => {
    const team = await findTeam(idOrName, teams)
    onTarget(team.id)
    return team
  }
  switch (command.action) {
    case 'create': {
      const { dailyTokenBudget = null, monthlyTokenBudget = null } = command.budgets
      const made = await teams.create({ name: command.name, dailyTokenBudget, monthlyTokenBudget })
      onTarget(made.id)
      return command.printsJson ? toJsonLine(toTeamBody(made)) : `${nameOf(made)} is made.`
    }
    case 'list': {
      const items = await listAllPages((page) => teams.list(page))
      if (command.printsJson) return toJsonLine({ teams: items.map(toTeamBody), count: items.length })
      return items.length === 0 ? 'There are no teams.' : renderTable(COLUMNS, items.map(toRow)).join('\n')
    }
    case 'rename': {
      const { id } = await findNamed(command.team)
      const { name } = await teams.change(id, { name: command.name })
      return `Team ${id} is called '${escapeUnseen(name)}' now.`
    }
    case 'set-budget': {
      const { id } = await findNamed(command.team)
      const team = await teams.change(id, command.budgets)
      return `${nameOf(team)} may use ${describeBudgets(team)} now.`
    }
    case 'delete': {
      const team = await findNamed(command.team)
      await teams.delete(team.id)
      return `${nameOf(team)} is deleted; its users and keys are in no team.`
    }
  }
}

/** The team with this id or name; null for null. */
export async function findTeamId(idOrName: string | null, teams: TeamService): Promise<string | null> {
  return idOrName === null ? null : (await findTeam(idOrName, teams)).id
}

/** `1000 tokens a day and any number a month` */
export function describeBudgets({
  dailyTokenBudget: daily,
  monthlyTokenBudget: monthly,
}: Pick<Team, 'dailyTokenBudget' | 'monthlyTokenBudget'>): string {
  return `${daily ?? 'any number of'} tokens a day and ${monthly ?? 'any number of'} a month`
}

/** @throws ServiceError `team_not_found` */
async function findTeam(idOrName: string, teams: TeamService): Promise<Team> {
  const items = await listAllPages((page) => teams.list(page))
  const found = items.find(({ id }) => id === idOrName) ?? items.find(({ name }) => name === idOrName) ?? null
  if (found === null) throw new ServiceError('team_not_found', { teamId: idOrName })
  return found
}

function nameOf({ id, name }: Team): string {
  return `Team ${escapeUnseen(name)} (${id})`
}

const COLUMNS = ['id', 'name', 'tokens a day', 'tokens a month', 'created']

function toRow({
  id,
  name,
  dailyTokenBudget,
  monthlyTokenBudget,
  createdAtUnixSeconds,
}: Team): readonly string[] {
  const [daily, monthly] = [dailyTokenBudget, monthlyTokenBudget].map((tokens) => String(tokens ?? 'any'))
  return [id, name, daily ?? '', monthly ?? '', toIsoDay(createdAtUnixSeconds)]
}
