// @ts-check
/**
 * A worker thread of the light server that does what the prompt says. `throw` and `exit` end it, `hang` never ends,
 * `refuse` cannot run, `count` tells the number of this message and of the prompts in it; any other prompt is itself.
 */
import { parentPort } from 'node:worker_threads'

let messages = 0
parentPort?.postMessage([])
parentPort?.on('message', (/** @type {{ prompts: [number, string, number][] }} */ { prompts }) => {
  messages++
  for (const [id, prompt] of prompts) act(id, prompt, prompts.length)
})

/** @param {number} id @param {string} prompt @param {number} together */
function act(id, prompt, together) {
  switch (prompt) {
    case 'throw':
      throw new Error('thrown in the thread')
    case 'exit':
      return process.exit(3)
    case 'hang':
      return
    case 'refuse':
      return parentPort?.postMessage([
        [id, { code: 'context_length_exceeded', params: { given: 9, max: 1 } }],
      ])
    default: {
      const text = prompt === 'count' ? `message ${messages} of ${together}` : prompt
      parentPort?.postMessage([[id, text, [1], 1, 'stop']])
    }
  }
}
