// @ts-check
/**
 * Conversations of several turns against a server with OpenAI's API, to try remote engines by hand: says how many requests
 * failed, and the time to the first token. Usage:
 *
 *   node tools/remote-engines/load.mjs http://127.0.0.1:8080/v1 <key> [model] [conversations] [turns] [clients]
 */
const [url, key = '', model = 'default', conversations = '64', turns = '6', clients = '8'] =
  process.argv.slice(2)
if (url === undefined)
  throw new Error('usage: load.mjs <base url> <key> [model] [conversations] [turns] [clients]')

const WORDS =
  'once upon a time there was a little girl who went to the garden and saw a small red bird'.split(' ')

/** @type {number[]} */
const firstMs = []
/** @type {Map<string, number>} */
const failures = new Map()

/** @param {number} conversation @param {number} turn */
function say(conversation, turn) {
  const words = Array.from(
    { length: 120 },
    (_, at) => WORDS[(conversation * 7 + turn * 3 + at * (conversation + 1)) % WORDS.length],
  )
  return `${conversation}.${turn} ${words.join(' ')}`
}

/** @param {{ role: string, content: string }[]} messages */
async function ask(messages) {
  const began = performance.now()
  const body = JSON.stringify({ model, messages, max_tokens: 8, temperature: 0, stream: true })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body })
  if (!response.ok || response.body === null)
    throw new Error(`${response.status} ${(await response.text()).slice(0, 160)}`)
  let text = ''
  let answer = ''
  let hasBegun = false
  for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) {
    text += bytes
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      if (!event.startsWith('data: {')) continue
      const chunk = JSON.parse(event.slice('data: '.length))
      if (chunk.error) throw new Error(`in the stream: ${chunk.error.message}`)
      const piece = chunk.choices[0]?.delta?.content ?? ''
      if (piece !== '' && !hasBegun) firstMs.push(performance.now() - began)
      if (piece !== '') hasBegun = true
      answer += piece
    }
  }
  return answer
}

let next = 0
async function client() {
  while (next < Number(conversations)) {
    const conversation = next++
    const messages = [{ role: 'system', content: 'You are a storyteller.' }]
    for (let turn = 0; turn < Number(turns); turn++) {
      messages.push({ role: 'user', content: say(conversation, turn) })
      try {
        messages.push({ role: 'assistant', content: await ask(messages) })
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        failures.set(message, (failures.get(message) ?? 0) + 1)
        messages.push({ role: 'assistant', content: '...' })
      }
    }
  }
}

const began = performance.now()
await Promise.all(Array.from({ length: Number(clients) }, client))
firstMs.sort((one, other) => one - other)
const at = (/** @type {number} */ share) => Math.round(firstMs[Math.floor(share * (firstMs.length - 1))] ?? 0)
console.log(
  `${firstMs.length} answered, ${[...failures.values()].reduce((sum, count) => sum + count, 0)} failed in ` +
    `${((performance.now() - began) / 1000).toFixed(1)} s; first token p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
)
for (const [message, count] of failures) console.log(`${count} × ${message}`)
