/**
 * The credentials of a service with several workers whose accounts lie in PostgreSQL: the supervisor knows them for all, so that
 * a key is known or revoked in every worker at the same moment, and in one that starts while the database is away.
 */
import type { ChannelHandler } from '../../core/channel/channel.ts'
import {
  type CallingChannel,
  handlersOf,
  type RemoteMethods,
  remoteObject,
} from '../../core/channel/remote-object.ts'
import type { InstanceCredentials } from '../../storage/credential-store.ts'

const PREFIX = 'credentials'

const METHODS: RemoteMethods<InstanceCredentials> = {
  findKey: 'call',
  findSession: 'call',
  forgetAny: 'call',
}

export function remoteCredentials(channel: CallingChannel): InstanceCredentials {
  return remoteObject(channel, PREFIX, METHODS)
}

/** @param credentials null where no worker asks for them */
export function credentialsHandlers(
  credentials: InstanceCredentials | null,
): Readonly<Record<string, ChannelHandler>> {
  return credentials === null ? {} : handlersOf(PREFIX, credentials, METHODS)
}
