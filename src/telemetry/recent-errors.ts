/**
 * The last requests that ended with an error, for the pages of an admin: what the log says of them, without a text of anyone's. In
 * memory, of one process; in a service with workers they are listed together.
 */

export interface RecentError {
  readonly atUnixSeconds: number
  readonly requestId: string
  readonly method: string
  /** Its pattern; null for one that matched none. */
  readonly route: string | null
  readonly status: number
  readonly code: string
}

const MAX_ERRORS = 50

export class RecentErrors {
  readonly #listService: () => Promise<readonly RecentError[]>
  #errors: readonly RecentError[] = []

  /** @param listService those of all processes. @default this one is all */
  constructor(listService?: () => Promise<readonly RecentError[]>) {
    this.#listService = listService ?? (() => Promise.resolve(this.own))
  }

  /** Of this process, the newest first. */
  get own(): readonly RecentError[] {
    return this.#errors
  }

  record(error: RecentError): void {
    this.#errors = [error, ...this.#errors.slice(0, MAX_ERRORS - 1)]
  }

  /** The newest first. */
  list(): Promise<readonly RecentError[]> {
    return this.#listService()
  }
}

/** Those of several processes, the newest first. */
export function mergeErrors(lists: readonly (readonly RecentError[])[]): readonly RecentError[] {
  return lists
    .flat()
    .sort((one, other) => other.atUnixSeconds - one.atUnixSeconds)
    .slice(0, MAX_ERRORS)
}
