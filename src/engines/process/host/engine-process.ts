/**
 * Starts one engine process and waits until it serves. Owns its arguments, its load messages and its socket.
 * The engine host restarts it and sends the requests.
 */
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { StartError } from '../../../core/errors.ts'
import { withResolvers } from '../../../core/concurrency/with-resolvers.ts'
import type { ModelInfo } from '../../../protocol/model-info.ts'
import type { LoadProgress } from '../../../protocol/runner-options.ts'
import { type Child, startChild } from '../../child/child-program.ts'
import { connectToEngine } from '../connection/engine-client.ts'
import { type EngineProcessOptions, type LoadMessage, STEP_LOOP_FAILED } from '../connection/messages.ts'
import { withHugePages } from './huge-pages.ts'
import { createSocketFolder } from './socket-folder.ts'

export interface EngineStartOptions extends Omit<EngineProcessOptions, 'socketPath' | 'parentPid'> {
  /** The program that is started. @default the engine */
  readonly program?: string
  /** Size of the weights: what is read from a slow disk takes long, and llama.cpp is silent while it does. @default 0 */
  readonly weightBytes?: number
  /** Silence after which a start is given up. @default a minute, and more for a large model */
  readonly stallMs?: number
}

export interface EngineProcessHooks {
  readonly onProgress: LoadProgress
  /** One line of the engine's standard error, where llama.cpp logs. */
  readonly onLogLine: (line: string) => void
  /** What the operator should know of its files. @default dropped */
  readonly onNote?: (note: string) => void
}

export interface EngineProcess {
  readonly pid: number
  readonly info: ModelInfo
  /** The owner's connection. */
  readonly socket: Socket
  /** Where it listens for more clients, until it ends; only processes of this user can reach it. */
  readonly socketPath: string
  /** Resolves with one clause on how it ended. */
  readonly exited: Promise<string>
  /** Ends the process now; running requests are lost. */
  kill(): void
  /** Ends it when it has written what the next process may use; resolves when it is gone. */
  close(): Promise<void>
}

/** A start without any output for so long hangs. Its last part is silent: pages of the weights are read. */
const STALL_MS = 60_000
/** A disk of 50 MB/s. */
const STALL_MS_PER_GIGABYTE = 20_000

/** What has not been written by then at the end of a process is computed again. */
const CLOSE_MS = 15_000

/** The last lines of the log are kept: they say why a native abort happened. */
const KEPT_LINES = 3

/**
 * Megabytes of each half of V8's young generation, which by itself grows to 16 and stays. A step leaves so little behind
 * that it is as fast with 2.
 */
const MAX_SEMI_SPACE = '--max-semi-space-size=2'

const ENTRY = fileURLToPath(new URL('../engine-main.js', import.meta.url))

/**
 * Aborting the signal ends a start that is under way.
 * @throws StartError with one sentence when the model cannot be opened or the process dies of it.
 */
export async function startEngineProcess(
  options: EngineStartOptions,
  hooks: EngineProcessHooks,
  signal: AbortSignal,
): Promise<EngineProcess> {
  signal.throwIfAborted()
  const { program = ENTRY, weightBytes = 0, stallMs, ...rest } = options
  const folder = createSocketFolder()
  const { socketPath } = folder
  const load = new Load(hooks, stallMs ?? STALL_MS + STALL_MS_PER_GIGABYTE * (weightBytes / 1e9))
  const child = startChild<LoadMessage>(
    {
      entry: program,
      options: { ...rest, socketPath },
      flags: [MAX_SEMI_SPACE],
      env: withHugePages(process.env),
    },
    load,
  )
  const kill = (): void => child.kill()
  signal.addEventListener('abort', kill, { once: true })
  void child.exited.then(() => folder.remove())
  try {
    const info = await load.untilReady(child)
    const socket = await connectToEngine(socketPath)
    const exited = child.exited.then(({ how }) => load.withReason(how))
    const close = options.runner.prefixCacheStore === undefined ? kill : () => child.end()
    return { pid: child.pid, info, socket, socketPath, exited, kill, close: () => closeWithin(child, close) }
  } catch (error) {
    kill()
    throw error
  } finally {
    signal.removeEventListener('abort', kill)
  }
}

async function closeWithin(child: Child, close: () => void): Promise<void> {
  const timer = setTimeout(() => child.kill(), CLOSE_MS)
  close()
  await child.exited
  clearTimeout(timer)
}

/** One load, as far as it can be followed from outside, and the last lines of the log behind it. */
class Load {
  readonly #hooks: EngineProcessHooks
  readonly #stallMs: number
  readonly #lastLines: string[] = []
  readonly #info = withResolvers<ModelInfo>()
  readonly #stallTimer: NodeJS.Timeout

  constructor(hooks: EngineProcessHooks, stallMs: number) {
    this.#hooks = hooks
    this.#stallMs = stallMs
    // Where the process cannot be started, no caller waits for it.
    this.#info.promise.catch(() => {})
    this.#stallTimer = setTimeout(() => this.#stall(), stallMs)
  }

  readonly onLogLine = (line: string): void => {
    this.#stallTimer.refresh()
    this.#lastLines.push(line)
    if (this.#lastLines.length > KEPT_LINES) this.#lastLines.shift()
    this.#hooks.onLogLine(line)
  }

  readonly onMessage = (message: LoadMessage): void => {
    this.#stallTimer.refresh()
    switch (message.type) {
      case 'progress':
        return this.#hooks.onProgress(message.fraction)
      case 'note':
        return this.#hooks.onNote?.(message.note)
      case 'ready':
        return this.#info.resolve(message.info)
      case 'failed':
        return this.#info.reject(new StartError(message.message, 1))
    }
  }

  /** @throws StartError when the model cannot be opened, the process ends before, or says nothing for too long. */
  async untilReady({ exited }: Child): Promise<ModelInfo> {
    const ended = exited.then(({ how }): never => {
      const words = this.#lastLines.length === 0 ? '' : `: ${this.#lastLines.join(' ')}`
      throw new StartError(`The engine process ${how} while it loaded the model${words}`, 1)
    })
    try {
      return await Promise.race([this.#info.promise, ended])
    } finally {
      clearTimeout(this.#stallTimer)
    }
  }

  /** How the process ended, and what it said about that. */
  withReason(how: string): string {
    const line = this.#lastLines.find((one) => one.startsWith(STEP_LOOP_FAILED))
    return line === undefined ? how : `${how}: ${line}`
  }

  #stall(): void {
    const seconds = Math.ceil(this.#stallMs / 1000)
    this.#info.reject(
      new StartError(
        `The engine process said nothing for ${seconds} s while it loaded the model, and was ended.`,
        1,
      ),
    )
  }
}
