/**
 * The usage database of a service with several workers: the supervisor's alone, which writes the rows of all workers together. A
 * row is committed before the worker's call is answered.
 */
import type { ChannelHandler } from '../../core/channel/channel.ts'
import {
  type CallingChannel,
  handlersOf,
  type RemoteMethods,
  remoteObject,
} from '../../core/channel/remote-object.ts'
import type { ServiceError } from '../../core/errors.ts'
import type { UsageEntry, UsageStore } from '../../storage/usage-store.ts'
import type { UsageRecorder } from '../../usage/usage-recorder.ts'

const PREFIX = 'usage'

type RemoteUsage = Omit<UsageStore, 'insert' | 'whyLost' | 'close'>

const METHODS: RemoteMethods<RemoteUsage> = {
  sumByPath: 'call',
  sumTokens: 'call',
  sumByGroup: 'call',
  countLatencies: 'call',
  hourSpan: 'call',
  deleteBefore: 'call',
}

/** Maps cross in their answers. */
export const USAGE_METHODS_IN_V8 = Object.keys(METHODS).map((name) => `${PREFIX}.${name}`)

export function remoteUsageStore(channel: CallingChannel, whyLost: () => ServiceError | null): UsageStore {
  return {
    ...remoteObject<RemoteUsage>(channel, PREFIX, METHODS),
    insert: (entries) => channel.call(`${PREFIX}.insert`, [entries]),
    whyLost,
    // The supervisor's, which outlives every worker.
    close: () => Promise.resolve(),
  }
}

export function usageHandlers({
  usage,
  recorder,
}: {
  readonly usage: UsageStore
  readonly recorder: Pick<UsageRecorder, 'record'>
}): Readonly<Record<string, ChannelHandler>> {
  return {
    ...handlersOf<RemoteUsage>(PREFIX, usage, METHODS),
    // Those that are recorded in one turn are committed together, or not at all.
    [`${PREFIX}.insert`]: async ([entries]) => {
      await Promise.all((entries as readonly UsageEntry[]).map((entry) => recorder.record(entry)))
    },
  }
}
