/**
 * The data of server-sent events from the bytes of an answer. Called by `endpoint.ts`'s users for each answer of an upstream.
 * A character may be cut between pieces, never inside an event's end; bytes that are no UTF-8 fail the answer.
 */
import { isUtf8 } from 'node:buffer'
import { createParser } from 'eventsource-parser'
import { ServiceError } from '../../../core/errors.ts'

/** Characters of one event, with its line breaks. */
const MAX_EVENT_LENGTH = 8 * 1024 * 1024

export class SseReader {
  /** From the first character on that was cut; null before. */
  #decoder: InstanceType<typeof TextDecoder> | null = null
  #hasBegun = false
  #events: string[] = []
  #openLength = 0
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      this.#events.push(data)
      this.#openLength = 0
    },
  })

  /** The data of the events that these bytes end. @throws ServiceError `engine_failed` for an event that is too long, or no text */
  read(bytes: Uint8Array): readonly string[] {
    let text = this.#decode(bytes)
    if (!this.#hasBegun) text = text.replace(/^\uFEFF/, '')
    this.#hasBegun ||= text !== ''
    this.#openLength += text.length
    this.#parser.feed(text)
    if (this.#events.length === 0) {
      if (this.#openLength > MAX_EVENT_LENGTH) throw broken('an event of its answer has no end')
      return []
    }
    const ready = this.#events
    this.#events = []
    return ready
  }

  #decode(bytes: Uint8Array): string {
    // Whole characters are read without a decoder, whose making takes longer than all the rest.
    if (this.#decoder === null && isUtf8(bytes))
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
    this.#decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    try {
      return this.#decoder.decode(bytes, { stream: true })
    } catch (error) {
      throw broken('its answer is not UTF-8', error)
    }
  }
}

function broken(how: string, cause?: unknown): ServiceError {
  return new ServiceError('engine_failed', {}, { cause: new Error(`the upstream failed: ${how}`, { cause }) })
}
