/** What the groups of a usage report are called. Called by the report's route and the command line. */
import { OPERATOR_ACCOUNT_ID } from '../core/credential.ts'
import type { UsageGroup } from '../storage/usage-store.ts'
import type { ApiDatabase } from '../storage/api-database.ts'
import { findEmails, findKeyNames, findTeamNames } from '../storage/names-repository.ts'

/** By id; those that are deleted, or configuration, are left out. Null where ids are names already. */
export type FindGroupNames = (
  group: UsageGroup,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, string> | null>

export function createGroupNames(database: ApiDatabase): FindGroupNames {
  return async (group, ids) => {
    switch (group) {
      case 'key':
        return await findKeyNames(database, ids)
      case 'user': {
        // An account without a user is the operator's, or a key.
        const emails = await findEmails(database, ids)
        const others = ids.filter((id) => !emails.has(id))
        const keys = await findKeyNames(database, others)
        return new Map([[OPERATOR_ACCOUNT_ID, OPERATOR_ACCOUNT_ID], ...keys, ...emails])
      }
      case 'team':
        return await findTeamNames(database, ids)
      case 'model':
      case 'endpoint':
        return null
    }
  }
}
