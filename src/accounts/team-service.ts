/**
 * Teams: users and keys that share budgets and are reported together. A user is in one team at most; a key is in its own team,
 * else in its user's. Only the admin makes and fills them.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import type { ApiDatabase } from '../storage/api-database.ts'
import { isUniqueViolation } from '../storage/database-errors.ts'
import type { Page, PageRequest } from '../storage/pages.ts'
import {
  deleteTeam,
  findTeam,
  insertTeam,
  listTeams,
  type StoredTeam,
  updateTeam,
} from '../storage/teams-repository.ts'

export type Team = StoredTeam

export interface TeamRequest {
  readonly name: string
  readonly dailyTokenBudget: number | null
  readonly monthlyTokenBudget: number | null
}

export type TeamChange = { readonly [Field in keyof TeamRequest]?: TeamRequest[Field] | undefined }

export class TeamService {
  readonly #database: ApiDatabase
  readonly #clock: Clock

  constructor({ database, clock }: { readonly database: ApiDatabase; readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  /** @throws ServiceError `team_exists`, `invalid_request` */
  async create(request: TeamRequest): Promise<Team> {
    refuseNone(request.name)
    const team = { ...request, id: randomUUID(), createdAtUnixSeconds: this.#clock.unixSeconds() }
    await refuseTaken(request.name, () => insertTeam(this.#database, team))
    return team
  }

  list(page: PageRequest): Promise<Page<Team>> {
    return listTeams(this.#database, page)
  }

  /** @throws ServiceError `team_not_found` */
  async get(teamId: string): Promise<Team> {
    const team = await findTeam(this.#database, teamId)
    if (team === null) throw new ServiceError('team_not_found', { teamId })
    return team
  }

  /** Returns the team after the change. @throws ServiceError `team_not_found`, `team_exists`, `invalid_request` */
  async change(teamId: string, change: TeamChange): Promise<Team> {
    refuseNone(change.name ?? '')
    await this.get(teamId)
    await refuseTaken(change.name ?? '', () => updateTeam(this.#database, teamId, change))
    return await this.get(teamId)
  }

  /** Its users and keys stay, in no team. @throws ServiceError `team_not_found` */
  async delete(teamId: string): Promise<void> {
    if (!(await deleteTeam(this.#database, teamId))) throw new ServiceError('team_not_found', { teamId })
  }
}

/** In the transaction that puts something into the team. @throws ServiceError `team_not_found` */
export async function requireTeam(db: ApiDatabase, teamId: string | null): Promise<void> {
  if (teamId !== null && (await findTeam(db, teamId)) === null)
    throw new ServiceError('team_not_found', { teamId }, { param: 'team_id' })
}

/** `sluice users set-team ID none` takes a user out of its team, and would not put it into one of that name. @throws ServiceError */
function refuseNone(name: string): void {
  if (name !== 'none') return
  const message = "name must not be 'none', which stands for no team."
  throw new ServiceError('invalid_request', { message }, { param: 'name' })
}

async function refuseTaken(name: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    throw isUniqueViolation(error) ? new ServiceError('team_exists', { name }) : error
  }
}
