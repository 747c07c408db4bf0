import { expect, it } from 'vitest'
import { readEvents } from './event-stream.ts'

async function eventsOf(chunks: readonly string[]): Promise<string[]> {
  const encoded = chunks.map((chunk) => new TextEncoder().encode(chunk))
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of encoded) controller.enqueue(chunk)
      controller.close()
    },
  })
  const events: string[] = []
  for await (const event of readEvents(new Response(body))) events.push(event)
  return events
}

it('reads events however they are cut, and leaves comments out', async () => {
  expect(await eventsOf(['data: {"a"', ':1}\n', '\n: ping\n\ndata: b\n\nda', 'ta: c\n\n'])).toEqual([
    '{"a":1}',
    'b',
    'c',
  ])
})
