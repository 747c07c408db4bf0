/**
 * The passthrough model of a supervisor: its step loop runs in the supervisor's process and takes its clients, the workers, on a
 * socket, as an engine process does.
 */
import { systemClock } from '../../core/clock.ts'
import { InvariantError } from '../../core/errors.ts'
import type { SchedulePolicy } from '../../core/choices/schedule-policy.ts'
import { EngineServer } from '../../engines/process/connection/engine-server.ts'
import { createSocketFolder } from '../../engines/process/host/socket-folder.ts'
import type { Engine, EnginePlace, EngineStatus, SharedEngine } from '../../protocol/engine.ts'
import type { ModelInfo } from '../../protocol/model-info.ts'
import type { ModelRunner } from '../../protocol/model-runner.ts'

export interface SocketEngineOptions {
  readonly runner: ModelRunner
  readonly schedulePolicy: SchedulePolicy
  /** Called when it takes clients. */
  readonly onListening: () => void
}

/** It works in the supervisor itself, which nothing watches. */
const NEVER_MS = 2 ** 31 - 1

export class SocketEngine implements Engine, SharedEngine {
  readonly #runner: ModelRunner
  readonly #server: EngineServer
  readonly #folder = createSocketFolder()
  #isListening = false

  constructor({ runner, schedulePolicy, onListening }: SocketEngineOptions) {
    this.#runner = runner
    this.#server = new EngineServer({
      runner,
      schedulePolicy,
      clock: systemClock,
      onBroken: ({ cause }) => {
        throw new InvariantError('the passthrough model does not fail', { cause })
      },
    })
    void this.#listen(onListening)
  }

  generate(): never {
    throw new InvariantError('a supervisor serves no request itself')
  }

  tokenize(): never {
    throw new InvariantError('a supervisor serves no request itself')
  }

  detokenize(): never {
    throw new InvariantError('a supervisor serves no request itself')
  }

  info(): ModelInfo {
    return this.#runner.info()
  }

  status(): EngineStatus {
    return { state: 'ready' }
  }

  replicas(): readonly SharedEngine[] {
    return [this]
  }

  place(): EnginePlace {
    const known = { info: this.info(), silenceMs: NEVER_MS }
    const { socketPath } = this.#folder
    return this.#isListening
      ? { ...known, state: 'ready', pid: process.pid, socketPath }
      : { ...known, state: 'restarting' }
  }

  reportHung(): void {}

  reportBusy(): void {}

  async close(): Promise<void> {
    this.#server.close()
    this.#folder.remove()
  }

  async #listen(onListening: () => void): Promise<void> {
    await this.#server.listen(this.#folder.socketPath)
    this.#isListening = true
    onListening()
  }
}
