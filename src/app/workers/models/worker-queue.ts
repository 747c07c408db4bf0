/** The waiting queue as a worker sees it: a sequence enters by a call to the supervisor, which counts for all workers. */
import type { Channel } from '../../../core/channel/channel.ts'
import type { EngineQueue, SequenceLine } from '../../../models/queue/engine-queue.ts'
import type { VersionData } from './models-table.ts'
import type { LineName } from '../worker-holds.ts'

interface WorkerQueueOptions extends Pick<VersionData, 'version' | 'hasBeams'> {
  readonly servedClasses: () => readonly number[]
}

export function workerQueue(
  channel: Pick<Channel, 'call' | 'cast'>,
  { version, hasBeams, servedClasses }: WorkerQueueOptions,
): EngineQueue {
  const line = (name: LineName): SequenceLine => ({
    enter: (count, request) => channel.call('queue.enter', [version, name, count, request]),
    begin: (request) => channel.cast('queue.begin', [version, name, request]),
    leave: (count, request) => count > 0 && channel.cast('queue.leave', [version, name, count, request]),
    end: (count, request) => count > 0 && channel.cast('queue.end', [version, name, count, request]),
  })
  return {
    get servedClasses() {
      return servedClasses()
    },
    slots: line('slots'),
    beams: hasBeams ? line('beams') : null,
  }
}
