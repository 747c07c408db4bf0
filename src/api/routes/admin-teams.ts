/** `/v1/admin/teams`: teams and their budgets, for the holder of the admin key. Users and keys are put into one by their own routes. */
import type { FastifyInstance } from 'fastify'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import { mergeChange } from '../schemas/change.ts'
import { toListing, toPage } from '../schemas/query.ts'
import { toSpending } from '../schemas/spending.ts'
import {
  changeTeamRequest,
  createTeamRequest,
  deletedTeam,
  team,
  teamList,
  teamListQuery,
  teamParams,
  toTeamBody,
} from '../schemas/teams.ts'
import { detailedUsage, toDetailedUsageBody, usageQuery } from '../schemas/usage.ts'

const CHANGED_FIELDS = Object.keys(changeTeamRequest.shape)

const ADMIN = { tag: 'Admin', access: 'admin' } as const

type TeamDeps = Pick<AppDeps, 'teams' | 'usageReports'>

export function registerAdminTeamRoutes(app: FastifyInstance, deps: TeamDeps): void {
  registerAllTeams(app, deps)
  registerOneTeam(app, deps)
}

function registerAllTeams(app: FastifyInstance, { teams }: TeamDeps): void {
  addRoute(app, 'GET /v1/admin/teams', {
    operationId: 'listTeams',
    summary: 'All teams',
    ...ADMIN,
    query: teamListQuery,
    ok: teamList,
    handler: async ({ query }) => {
      const page = await teams.list(toPage(query))
      return { teams: page.items.map(toTeamBody), count: page.count, ...toListing(query, page) }
    },
  })

  addRoute(app, 'POST /v1/admin/teams', {
    operationId: 'createTeam',
    audit: 'team.create',
    summary: 'Make a team, with budgets or without',
    ...ADMIN,
    body: createTeamRequest,
    ok: team,
    errors: ['team_exists'],
    handler: async ({ body, context }) => {
      const { dailyTokenBudget = null, monthlyTokenBudget = null } = toSpending(body)
      const made = await teams.create({ name: body.name, dailyTokenBudget, monthlyTokenBudget })
      context.adminTarget = made.id
      return toTeamBody(made)
    },
  })
}

function registerOneTeam(app: FastifyInstance, { teams, usageReports }: TeamDeps): void {
  addRoute(app, 'GET /v1/admin/teams/:team_id', {
    operationId: 'getTeam',
    summary: 'One team',
    ...ADMIN,
    params: teamParams,
    ok: team,
    errors: ['team_not_found'],
    handler: async ({ params }) => toTeamBody(await teams.get(params.team_id)),
  })

  addRoute(app, 'PATCH /v1/admin/teams/:team_id', {
    operationId: 'changeTeam',
    audit: 'team.change',
    summary: 'Change the name or the budgets of a team',
    ...ADMIN,
    params: teamParams,
    body: changeTeamRequest,
    ok: team,
    errors: ['team_not_found', 'team_exists'],
    handler: async ({ params, body }) => {
      const { name, ...change } = mergeChange({}, body, CHANGED_FIELDS)
      const { dailyTokenBudget, monthlyTokenBudget } = toSpending(change)
      return toTeamBody(await teams.change(params.team_id, { name, dailyTokenBudget, monthlyTokenBudget }))
    },
  })

  addRoute(app, 'DELETE /v1/admin/teams/:team_id', {
    operationId: 'deleteTeam',
    audit: 'team.delete',
    summary: 'Delete a team; its users and keys stay, and what they used stays counted',
    ...ADMIN,
    params: teamParams,
    ok: deletedTeam,
    errors: ['team_not_found'],
    handler: async ({ params }) => {
      await teams.delete(params.team_id)
      return { status: 'deleted', team_id: params.team_id }
    },
  })

  addRoute(app, 'GET /v1/admin/teams/:team_id/usage', {
    operationId: 'getTeamUsage',
    summary: 'Usage of one team',
    ...ADMIN,
    params: teamParams,
    query: usageQuery,
    ok: detailedUsage,
    errors: ['team_not_found'],
    handler: async ({ params, query }) => {
      const { id } = await teams.get(params.team_id)
      return toDetailedUsageBody(await usageReports.ofTeam(id, query.since ?? null))
    },
  })
}
