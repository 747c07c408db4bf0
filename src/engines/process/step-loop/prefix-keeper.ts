/**
 * When what a step loop's slots and copies hold is written to the disk: once nothing has run for some seconds, and at the
 * end of the process. Owned by the engine server; what is written, and where, is the runner's.
 */
import type { HeldPrefix, ModelRunner } from '../../../protocol/model-runner.ts'

const REST_MS = 5000

export interface PrefixKeeperOptions {
  readonly runner: Pick<ModelRunner, 'storePrefixes'>
  /** What is held; null while something runs or waits. */
  readonly held: () => readonly HeldPrefix[] | null
  readonly onNote: (note: string) => void
  /** @default 5 s */
  readonly restMs?: number | undefined
}

export class PrefixKeeper {
  readonly #options: PrefixKeeperOptions
  #timer: NodeJS.Timeout | null = null
  /** One after the other. */
  #writing: Promise<void> = Promise.resolve()

  constructor(options: PrefixKeeperOptions) {
    this.#options = options
  }

  /** Nothing runs any more. */
  readonly onRest = (): void => {
    this.#timer ??= setTimeout(() => void this.#write(), this.#options.restMs ?? REST_MS).unref()
    this.#timer.refresh()
  }

  /** Writes what is left; nothing runs any more. */
  async finish(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#write()
  }

  #write(): Promise<void> {
    const { runner, held, onNote } = this.#options
    const write = async (): Promise<void> => {
      try {
        await runner.storePrefixes?.(held)
      } catch (error) {
        onNote(
          `the prefix cache could not be written: ${error instanceof Error ? error.message : String(error)}`,
        )
      }
    }
    this.#writing = this.#writing.then(write)
    return this.#writing
  }
}
