/** Team and token budgets, as keys, users and teams have them. */
import { z } from 'zod'
import { integer, storedText } from './fields.ts'
import { queryInteger } from './query.ts'

/** A million tokens a second for a month are 2.6e12. */
const MAX_BUDGET_TOKENS = 1_000_000_000_000_000

const PERIODS = {
  daily: 'Tokens in and out in a day of UTC; null is no bound.',
  monthly: 'Tokens in and out in a calendar month of UTC; null is no bound.',
}

/** In answers. */
export const budgetFields = {
  daily_token_budget: z.int().nullable().describe(PERIODS.daily),
  monthly_token_budget: z.int().nullable().describe(PERIODS.monthly),
}

export const teamField = { team_id: z.string().nullable().describe('Null for no team of its own.') }

const budget = (description: string) => integer(1, MAX_BUDGET_TOKENS).nullish().describe(description)

/** In bodies; null takes the bound away. */
export const budgetChanges = () => ({
  daily_token_budget: budget(PERIODS.daily),
  monthly_token_budget: budget(PERIODS.monthly),
})

export const teamChange = () => ({
  team_id: storedText(1, 200).nullish().describe('The team to put it in; null takes it out.'),
})

const queryBudget = () => queryInteger({ min: 1, max: MAX_BUDGET_TOKENS }).optional()

export const spendingQuery = () => ({
  team_id: storedText(1, 200).optional().describe('The team to put it in.'),
  daily_token_budget: queryBudget().describe('Tokens in and out in a day of UTC.'),
  monthly_token_budget: queryBudget().describe('Tokens in and out in a calendar month of UTC.'),
})

interface Budgets {
  readonly dailyTokenBudget: number | null
  readonly monthlyTokenBudget: number | null
}

export function toBudgetBody({ dailyTokenBudget, monthlyTokenBudget }: Budgets) {
  return { daily_token_budget: dailyTokenBudget, monthly_token_budget: monthlyTokenBudget }
}

interface SpendingBody {
  readonly team_id?: string | null | undefined
  readonly daily_token_budget?: number | null | undefined
  readonly monthly_token_budget?: number | null | undefined
}

/** Absent stays absent. */
export function toSpending(body: SpendingBody) {
  return {
    teamId: body.team_id,
    dailyTokenBudget: body.daily_token_budget,
    monthlyTokenBudget: body.monthly_token_budget,
  }
}
