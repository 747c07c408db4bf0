/** One worker process, from its start to its end: forks it, gives it its channel and its configuration, and waits until it listens. */
import { fork } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Channel, ChannelClosedError, type ChannelHandler } from '../../core/channel/channel.ts'
import { StartError } from '../../core/errors.ts'
import { requireOwnFile } from '../../core/own-file.ts'
import { inheritedFlags } from '../v8-flags.ts'
import { CHANNEL_FD, needsV8, type WorkerStart } from './worker-messages.ts'

/** A worker loads its code and opens the database; more is one that hangs. */
const START_MS = 60_000

const ENTRY = fileURLToPath(new URL('worker-main.js', import.meta.url))

export interface WorkerProcess {
  readonly number: number
  readonly pid: number
  readonly channel: Channel
  /** Resolves with one clause on how it ended. */
  readonly exited: Promise<string>
  /** Sends a copy of the connection, and its number, which the worker gives back. */
  hand(id: number, connection: Socket): void
  kill(): void
}

export interface WorkerProcessOptions {
  readonly start: WorkerStart
  /** What the worker may call. */
  readonly handlers: (channel: () => Channel) => Readonly<Record<string, ChannelHandler>>
  /** It has ended, also while it starts; nothing of it comes any more. */
  readonly onEnd: () => void
}

/** @throws what the worker's start throws; StartError when it ends or says nothing */
export async function startWorkerProcess(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const { start, handlers, onEnd } = options
  requireOwnFile(ENTRY)
  const child = fork(ENTRY, [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
    execArgv: inheritedFlags(process.execArgv),
  })
  const exited = new Promise<string>((resolve) => {
    // When its channel has been read to the end, too.
    child.once('close', (code: number | null, signal: string | null) =>
      resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
    )
  })
  // Node's own channel to it may break as it dies.
  child.on('error', () => {})
  const channel: Channel = new Channel(child.stdio[CHANNEL_FD] as Duplex, {
    handlers: handlers(() => channel),
    needsV8,
    onClose: onEnd,
  })
  const kill = (): void => void child.kill('SIGKILL')
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StartError('A worker process did not start in time.', 1)), START_MS)
  })
  const ended = exited.then((how): never => {
    throw new StartError(`A worker process ${how} while it started.`, 1)
  })
  try {
    await Promise.race([channel.call('start', [start]), tooLate, ended])
    return {
      number: start.number,
      pid: child.pid ?? 0,
      channel,
      exited,
      hand: (id, connection) => {
        // What cannot be sent is known when the worker has ended.
        if (child.connected) child.send(id, connection, { keepOpen: true }, () => {})
      },
      kill,
    }
  } catch (error) {
    kill()
    // The channel closes before the exit is known, which says more.
    throw error instanceof ChannelClosedError ? await ended.catch(toThrown) : error
  } finally {
    clearTimeout(timer)
    ended.catch(() => {})
  }
}

function toThrown(error: unknown): unknown {
  return error
}
