/**
 * The data of server-sent events from the bytes of an answer. Called by `endpoint.ts`'s users for each answer of an upstream.
 * A character may be cut between pieces, never inside an event's end; bytes that are no UTF-8 fail the answer.
 */
import { createParser } from 'eventsource-parser'
import { ServiceError } from '../../core/errors.ts'

/** Characters of one event, with its line breaks. */
const MAX_EVENT_LENGTH = 8 * 1024 * 1024

/** @throws ServiceError `engine_failed` for an event that is too long, or no text; what `body` throws */
export async function* readSseData(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly string[], void, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let events: string[] = []
  let openLength = 0
  const parser = createParser({
    onEvent: ({ data }) => {
      events.push(data)
      openLength = 0
    },
  })
  for await (const bytes of body) {
    const text = decode(decoder, bytes)
    openLength += text.length
    parser.feed(text)
    if (events.length === 0 && openLength > MAX_EVENT_LENGTH)
      throw broken('an event of its answer has no end')
    if (events.length === 0) continue
    const ready = events
    events = []
    yield ready
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: true })
  } catch (error) {
    throw broken('its answer is not UTF-8', error)
  }
}

function broken(how: string, cause?: unknown): ServiceError {
  return new ServiceError('engine_failed', {}, { cause: new Error(`the upstream failed: ${how}`, { cause }) })
}
