/** Reads server-sent events (WHATWG HTML, section 9.2) of a response: their data only, which is all that this server's have. */

export async function* readEvents(response: Response): AsyncGenerator<string> {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const events = (rest + value.replaceAll('\r\n', '\n')).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const data = dataOf(event)
        if (data !== null) yield data
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function dataOf(event: string): string | null {
  const lines = event.split('\n').filter((line) => line.startsWith('data:'))
  return lines.length === 0 ? null : lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n')
}
