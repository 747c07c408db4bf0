/**
 * Standard error without waiting for its reader: the log, and the sentences of the commands. A pipe that is full blocks
 * whoever writes to it, and with it everything that this process does; so the system call is left to a thread, one at a time,
 * and lines that come meanwhile wait in bounded memory. Beyond that they are dropped and counted, and the next line that gets
 * through says how many. What cannot be written at all, because the disk is full, is lost; the service goes on.
 */
import { write as writeFile, writeSync } from 'node:fs'
import { errorCode } from '../system-error.ts'

/** Characters that may wait for a reader. */
const MAX_WAITING = 1024 * 1024

/** Another process may have made the pipe non-blocking; then a full one is tried again. */
const RETRY_MS = 20

type WriteFile = (
  fd: number,
  bytes: Uint8Array,
  onEnd: (error: Error | null, written: number) => void,
) => void

export class LineOutput {
  readonly #fd: number
  readonly #writeFile: WriteFile
  #waiting = ''
  #isScheduled = false
  /** Null while nothing is being written. */
  #writing: Promise<void> | null = null
  #dropped = 0
  #unreported = 0

  constructor(fd: number, write: WriteFile = writeFile) {
    this.#fd = fd
    this.#writeFile = write
  }

  /** Lines that were dropped since the start. */
  get droppedLines(): number {
    return this.#dropped
  }

  /** @param line with its line break */
  write(line: string): void {
    if (this.#waiting.length + line.length > MAX_WAITING) {
      this.#dropped++
      this.#unreported++
      return
    }
    this.#waiting += line
    if (this.#isScheduled || this.#writing !== null) return
    // The lines of one turn of the event loop are written together: a system call costs as much as the request it is about.
    this.#isScheduled = true
    setImmediate(() => this.#start())
  }

  /** Resolves when everything has been written, or after `maxMs` when its reader does not take it. */
  async flush(maxMs: number): Promise<void> {
    this.#start()
    if (this.#writing === null) return
    let timer: NodeJS.Timeout | undefined
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, maxMs)
    })
    await Promise.race([this.#writing, waited])
    clearTimeout(timer)
  }

  /** For the end of the process, when no other turn comes. Writes nothing while the reader keeps it waiting. */
  flushAtExit(): void {
    if (this.#writing !== null || this.#waiting === '') return
    try {
      writeSync(this.#fd, this.#take())
    } catch {
      // Lost, as what cannot be written always is.
    }
  }

  #start(): void {
    this.#isScheduled = false
    if (this.#waiting !== '') this.#writing ??= this.#writeAll()
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting !== '') {
      let bytes: Uint8Array = Buffer.from(this.#take())
      while (bytes.length > 0) bytes = bytes.subarray(await this.#writeSome(bytes))
    }
    this.#writing = null
  }

  /** Resolves with how many bytes are done with. */
  #writeSome(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve) => {
      this.#writeFile(this.#fd, bytes, (error, written) => {
        if (error === null) resolve(written)
        else if (errorCode(error) === 'EAGAIN') setTimeout(() => resolve(0), RETRY_MS)
        else resolve(bytes.length)
      })
    })
  }

  #take(): string {
    const text = this.#waiting
    this.#waiting = ''
    if (this.#unreported === 0) return text
    const notice = {
      level: 'warn',
      time: new Date().toISOString(),
      dropped: this.#unreported,
      msg: 'lines of the log were dropped because their reader did not take them',
    }
    this.#unreported = 0
    return `${text}${JSON.stringify(notice)}\n`
  }
}

/** One for the process, as there is one standard error. */
export const standardError = new LineOutput(2)

process.on('exit', () => standardError.flushAtExit())
