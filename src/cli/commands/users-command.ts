/** `sluice users`: registered users without HTTP, by the rules of the services. */
import type { User } from '../../accounts/account-service.ts'
import { listAllPages, type OperatorContext, type Services, withServices } from '../open-services.ts'
import type { UsersCommand } from './operator-command-line.ts'
import { renderTable, toIsoDay } from '../terminal/table.ts'
import { escapeUnseen, toJsonLine } from '../terminal/terminal-text.ts'

/** Resolves with the exit code. */
export async function runUsersCommand(command: UsersCommand, context: OperatorContext): Promise<number> {
  await withServices(context, { createsDatabase: false }, async (services) => {
    context.terminal.print(await answer(command, services))
  })
  return 0
}

async function answer(command: UsersCommand, { accounts, findUser }: Services): Promise<string> {
  switch (command.action) {
    case 'list': {
      const items = await listAllPages((page) => accounts.listUsers(page))
      if (command.printsJson) return toJsonLine({ users: items.map(toUserJson), count: items.length })
      return items.length === 0 ? 'There are no users.' : renderTable(COLUMNS, items.map(toRow)).join('\n')
    }
    case 'set-tier': {
      const { id } = await findUser(command.user)
      const { email, tier } = await accounts.changeUser(id, { tier: command.tier })
      return `User ${escapeUnseen(email)} (${id}) has tier ${tier} now.`
    }
  }
}

const COLUMNS = ['id', 'e-mail', 'tier', 'disabled', 'created']

function toRow({ userId, email, tier, isDisabled, createdAtUnixSeconds }: User): readonly string[] {
  return [userId, email, tier, isDisabled ? 'yes' : 'no', toIsoDay(createdAtUnixSeconds)]
}

/** The row of the admin API's listing. */
function toUserJson({ userId, email, tier, isDisabled, createdAtUnixSeconds }: User) {
  return {
    user_id: userId,
    email,
    tier,
    disabled: isDisabled,
    created_at: createdAtUnixSeconds,
  }
}
