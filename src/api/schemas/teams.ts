/** Teams, as the admin sees them. */
import { z } from 'zod'
import type { Team } from '../../accounts/team-service.ts'
import { must, storedText } from './fields.ts'
import { nextCursor, pageQuery } from './query.ts'
import { budgetChanges, budgetFields, toBudgetBody } from './spending.ts'

const NAME = { min: 1, max: 100 }

const teamName = () => storedText(NAME.min, NAME.max)

export const team = z
  .object({
    team_id: z.string(),
    name: z.string(),
    ...budgetFields,
    created_at: z.number().describe('Unix seconds.'),
  })
  .meta({ id: 'Team' })

export const teamList = z
  .object({
    teams: z.array(team),
    count: z.int().describe('Of all teams, whatever the page.'),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'TeamList' })

export const teamListQuery = pageQuery

export const teamParams = z.object({ team_id: z.string() })

const object = { error: must('a JSON object') }

export const createTeamRequest = z
  .object({ name: teamName(), ...budgetChanges() }, object)
  .meta({ id: 'CreateTeamRequest' })

export const changeTeamRequest = z
  .object({ name: teamName().nullish(), ...budgetChanges() }, object)
  .meta({ id: 'ChangeTeamRequest' })

export const deletedTeam = z
  .object({ status: z.literal('deleted'), team_id: z.string() })
  .meta({ id: 'DeletedTeam' })

export function toTeamBody(record: Team): z.output<typeof team> {
  const { id, name, createdAtUnixSeconds } = record
  return { team_id: id, name, ...toBudgetBody(record), created_at: createdAtUnixSeconds }
}
