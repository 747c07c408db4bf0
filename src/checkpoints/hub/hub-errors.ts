/** One sentence for everything that can go wrong between the Hub and the cache, each with exit code 1. */
import { StartError } from '../../core/errors.ts'
import { errorCode, systemCallCode } from '../../core/system-error.ts'
import { systemReason } from '../files/file-errors.ts'

/** The Hub does not answer, or not now; a retry may help. */
export class HubUnreachable extends StartError {}

export interface RefusedRequest {
  readonly endpoint: string
  readonly repo: string
  readonly revision: string
  readonly hasToken: boolean
}

/** The error of an answer without success. */
export function hubRefusal(response: Response, asked: RefusedRequest): StartError {
  const { endpoint, repo, revision, hasToken } = asked
  const { status } = response
  const code = response.headers.get('x-error-code')
  if (response.url !== '' && new URL(response.url).origin !== new URL(endpoint).origin) {
    return new HubUnreachable(`Where ${endpoint} keeps its files answered with status ${status}; try again.`)
  }
  if (code === 'GatedRepo') {
    const who = hasToken
      ? 'HF_TOKEN, or the account it is of, may not read it'
      : 'set HF_TOKEN to the token of an account'
    return new StartError(`${repo} is gated: ${who}; its terms are accepted at ${endpoint}/${repo}.`)
  }
  if (code === 'RevisionNotFound') {
    return new StartError(`${repo} has no revision '${revision}' at ${endpoint}.`)
  }
  if (status === 401) {
    const remedy = hasToken
      ? 'HF_TOKEN is wrong or may not read it'
      : 'set HF_TOKEN to a token that may read it'
    return new StartError(`There is no model ${repo} at ${endpoint}, or it is not public: ${remedy}.`)
  }
  if (status === 404) return new StartError(`There is no model ${repo} at ${endpoint}.`)
  if (status === 429)
    return new HubUnreachable(`${endpoint} answers that it is asked too often (429); try later.`)
  if (status >= 500)
    return new HubUnreachable(`${endpoint} has trouble of its own (status ${status}); try later.`)
  const verb = status === 403 ? 'forbids to read' : 'refused to give'
  return new StartError(`${endpoint} ${verb} ${repo} (status ${status})${hubReason(response)}.`)
}

/** The Hub's own message, such as that a repository was taken down: on one line, cut, without its full stop. */
function hubReason({ headers }: Response): string {
  const message = (headers.get('x-error-message') ?? '').replaceAll(/[^\u0020-\u007e]/g, ' ').trim()
  return message === '' ? '' : `: ${message.slice(0, 200).replace(/\.$/, '')}`
}

const BROKEN_OFF = 'the connection was broken off'

const NETWORK_REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up now',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: BROKEN_OFF,
  UND_ERR_SOCKET: BROKEN_OFF,
  ETIMEDOUT: 'it did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'it did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'it stopped sending',
}

export function networkFailure(endpoint: string, thrown: unknown): HubUnreachable {
  return new HubUnreachable(`Cannot reach ${endpoint}: ${networkReason(thrown)}.`)
}

/** Whether the other side closed a connection that there was. */
export function isBrokenOff(thrown: unknown): boolean {
  return networkReason(thrown) === BROKEN_OFF
}

function networkReason(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown
  const code = errorCode(cause)
  return code === null ? 'the connection failed' : (NETWORK_REASONS[code] ?? code)
}

/** A failed system call on the cache; anything else is passed on as it is. */
export function cacheFailure(cacheDir: string, thrown: unknown): unknown {
  const code = systemCallCode(thrown)
  if (code === null) return thrown
  return new StartError(
    `Cannot write to the cache of models ${cacheDir} (HF_HUB_CACHE): ${systemReason(code)}.`,
  )
}
