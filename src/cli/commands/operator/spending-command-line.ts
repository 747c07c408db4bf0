/** The options and commands by which keys, users and teams get token budgets, and keys and users a team. */
import type { Command } from 'commander'
import { MAX_BUDGET_TOKENS } from '../../../accounts/keys/key-bounds.ts'
import { textLike, type ValueKind, wholeNumber, wordOr } from '../../../config/value-kinds.ts'
import { StartError } from '../../../core/errors.ts'
import { addCommandArgument, addCommandOption, type OnCommand } from '../../command-options.ts'

/** Tokens in and out; null is no bound, absent leaves it as it is. */
export interface Budgets {
  readonly dailyTokenBudget?: number | null
  readonly monthlyTokenBudget?: number | null
}

/** As `Budgets`; the team by its id or name. */
export interface Spending extends Budgets {
  readonly team?: string | null
}

/** What the flags give. */
interface BudgetFlags {
  readonly dailyTokenBudget?: number | 'none'
  readonly monthlyTokenBudget?: number | 'none'
}

export interface SpendingFlags extends BudgetFlags {
  readonly team?: string
}

/** `subject` is what the family's other commands call it. */
export type SpendingCommand<Subject extends string> =
  | ({ readonly action: 'set-budget'; readonly budgets: Budgets } & Readonly<Record<Subject, string>>)
  | ({ readonly action: 'set-team'; readonly team: string | null } & Readonly<Record<Subject, string>>)

const budgetTokens = wordOr('none', wholeNumber({ min: 1, max: MAX_BUDGET_TOKENS }, 'tokens'))

export const teamId = textLike('id|name', 'the id or the name of a team', (text) => text !== '')

const PERIODS = { dailyTokenBudget: 'a day', monthlyTokenBudget: 'a calendar month' } as const
const BUDGET_FLAGS = ['dailyTokenBudget', 'monthlyTokenBudget'] as const

export function addBudgetOptions(command: Command, without = 'none'): void {
  for (const name of BUDGET_FLAGS)
    addCommandOption(command, name, {
      kind: budgetTokens,
      defaultText: without,
      help: `tokens in and out in ${PERIODS[name]} of UTC`,
    })
}

/** For a command that makes a key or a user. */
export function addSpendingOptions(command: Command): void {
  addCommandOption(command, 'team', { kind: teamId, defaultText: 'none', help: 'team to put it in' })
  addBudgetOptions(command)
}

export function toBudgets(flags: BudgetFlags): Budgets {
  return Object.fromEntries(
    BUDGET_FLAGS.flatMap((name) => {
      const given = flags[name]
      return given === undefined ? [] : [[name, given === 'none' ? null : given]]
    }),
  )
}

export function readSpending({ team, ...budgets }: SpendingFlags): Spending {
  return { ...toBudgets(budgets), ...(team !== undefined && { team }) }
}

/** Adds `set-budget`, and `set-team` where the subject can be in one. */
export function addSpendingCommands<Subject extends 'key' | 'user'>(
  family: Command,
  { subject, id }: { readonly subject: Subject; readonly id: ValueKind<string> },
  onCommand: OnCommand<SpendingCommand<Subject>>,
): void {
  const setTeam = family
    .command('set-team')
    .description(`put a ${subject} into a team, or out of its own with 'none'`)
  addCommandArgument(setTeam, id, subject)
  addCommandArgument(setTeam, { ...teamId, placeholder: 'team|none' }, 'team')
  setTeam.action((given: string, team: string) =>
    onCommand(
      {
        action: 'set-team',
        team: team === 'none' ? null : team,
        [subject]: given,
      },
      setTeam.opts(),
    ),
  )
  addSetBudget(family, { subject, id }, (given, budgets, flags) =>
    onCommand({ action: 'set-budget', budgets, [subject]: given }, flags),
  )
}

type OnBudget = (subject: string, budgets: Budgets, flags: Readonly<Record<string, unknown>>) => void

export function addSetBudget(
  family: Command,
  { subject, id }: { readonly subject: string; readonly id: ValueKind<string> },
  onBudget: OnBudget,
): void {
  const command = family
    .command('set-budget')
    .description(`bound the tokens of a ${subject}, or no more with 'none'`)
  addCommandArgument(command, id, subject)
  addBudgetOptions(command, 'stays as it is')
  command.action((given: string, flags: BudgetFlags) => {
    const budgets = toBudgets(flags)
    if (Object.keys(budgets).length === 0)
      throw new StartError("'set-budget' needs --daily-token-budget or --monthly-token-budget", 2)
    onBudget(given, budgets, command.opts())
  })
}
