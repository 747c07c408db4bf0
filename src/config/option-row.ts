/** What the table says of one option, and the groups that `--help` and docs/cli.md show them in. */
import type { ValueKind } from './value-kinds.ts'

/** Headings of `--help` and of docs/cli.md. @public */
export const OPTION_GROUPS = ['Server', 'Access', 'Model', 'Engine', 'Network', 'Guards', 'State'] as const

/** @public */
export type OptionGroup = (typeof OPTION_GROUPS)[number]

export interface OptionRow<Value> {
  readonly group: OptionGroup
  readonly kind: ValueKind<Value>
  readonly default: Value
  /** Said in place of a default that does not describe itself. */
  readonly defaultText?: string
  /** One line, lower case, without a full stop. */
  readonly help: string
  /** Whether only a file or code can give it, because no one line of text could. */
  readonly isFileOnly?: boolean
}

/** Adds the heading to each of its rows, whose types stay as they are. */
export function inGroup<const Rows extends Readonly<Record<string, Omit<OptionRow<unknown>, 'group'>>>>(
  group: OptionGroup,
  rows: Rows,
) {
  const entries = Object.entries(rows).map(([name, row]) => [name, { group, ...row }])
  return Object.fromEntries(entries) as { readonly [Name in keyof Rows]: Rows[Name] & { group: OptionGroup } }
}
