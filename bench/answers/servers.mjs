// @ts-check
/** Asks Sluice and llama-server the same, and reads both answers alike: greedy, with the five likeliest tokens of each place. */
import { KEY } from '../servers/serve.mjs'

/** @typedef {import('./cases.mjs').Case} Case */
/** @typedef {import('./compare.mjs').Answer} Answer */
/** @typedef {{ tokenize: (one: Case) => Promise<number[]>, answer: (one: Case) => Promise<Answer> }} Asked */

const TOP = 5

/** @param {string} address @param {object} more fields of each request @returns {Asked} */
export function askSluice(address, more) {
  /** @param {string} path @param {object} body */
  const post = (path, body) => postJson(`${address}${path}`, body, { authorization: `Bearer ${KEY}` })
  return {
    tokenize: async ({ prompt, messages }) =>
      (await post('/tokenize', messages === undefined ? { prompt } : { messages })).tokens,
    answer: async ({ prompt, messages, tokens: max_tokens, stop }) => {
      const asked = { max_tokens, temperature: 0, ...(stop && { stop }), ...more }
      if (messages !== undefined)
        return readChat(
          await post('/v1/chat/completions', { ...asked, messages, logprobs: true, top_logprobs: TOP }),
        )
      const { choices, usage } = await post('/v1/completions', { ...asked, prompt, logprobs: TOP })
      const [{ text, finish_reason, logprobs }] = choices
      const tokens = logprobs.tokens.map((/** @type {string} */ token, /** @type {number} */ i) => ({
        ...{ text: toBytes(token), own: toBytes(token) },
        logprob: logprobs.token_logprobs[i],
        top: Object.entries(logprobs.top_logprobs[i]).map(([other, logprob]) => ({
          text: toBytes(other),
          logprob,
        })),
      }))
      return { tokens, text, finishReason: finish_reason, promptTokens: usage.prompt_tokens }
    },
  }
}

/** @param {string} address @param {object} more fields of each request @returns {Asked} */
export function askLlamaServer(address, more) {
  /** @param {string} path @param {object} body */
  const post = (path, body) => postJson(`${address}${path}`, body, {})
  return {
    // As ours does, it reads control tokens out of a prompt.
    tokenize: async ({ prompt, messages }) => {
      const content = messages !== undefined ? (await post('/apply-template', { messages })).prompt : prompt
      return (await post('/tokenize', { content, add_special: true, parse_special: true })).tokens
    },
    answer: async ({ prompt, messages, tokens: n_predict, stop }) => {
      const asked = { temperature: 0, samplers: ['temperature'], ...(stop && { stop }), ...more }
      if (messages !== undefined)
        return readChat(
          await post('/v1/chat/completions', {
            ...asked,
            max_tokens: n_predict,
            messages,
            logprobs: true,
            top_logprobs: TOP,
          }),
        )
      const body = { ...asked, prompt, n_predict, n_probs: TOP }
      const {
        content,
        completion_probabilities: tokens,
        stop_type,
        tokens_evaluated,
      } = await post('/completion', body)
      const finishReason = stop_type === 'limit' ? 'length' : 'stop'
      return { tokens: readTokens(tokens ?? []), text: content, finishReason, promptTokens: tokens_evaluated }
    },
  }
}

/** @param {any} answer @returns {Answer} */
function readChat({ choices: [{ message, logprobs, finish_reason }], usage }) {
  const { content } = message
  return {
    tokens: readTokens(logprobs?.content ?? []),
    text: content ?? '',
    finishReason: finish_reason,
    promptTokens: usage.prompt_tokens,
  }
}

/**
 * llama-server gives what it held back of a character with the token that completes it; that token's own bytes stand among
 * the likeliest only.
 * @param {any[]} tokens
 */
function readTokens(tokens) {
  return tokens.map(({ id, bytes, logprob, top_logprobs: top }) => ({
    text: hexOf(bytes),
    own: hexOf(top.find((/** @type {any} */ one) => one.id !== undefined && one.id === id)?.bytes ?? bytes),
    logprob,
    top: top.map((/** @type {any} */ one) => ({ text: hexOf(one.bytes), logprob: one.logprob })),
  }))
}

/** A token's bytes, from the text that the legacy completions give of them. @param {string} text */
function toBytes(text) {
  const written = /^bytes:((?:\\x[0-9a-f]{2})+)$/.exec(text)?.[1]
  return written === undefined ? hexOf(Buffer.from(text)) : written.replaceAll('\\x', '')
}

/** @param {Iterable<number>} bytes */
function hexOf(bytes) {
  return Buffer.from([...bytes]).toString('hex')
}

/** @param {string} url @param {object} body @param {Record<string, string>} headers @returns {Promise<any>} */
async function postJson(url, body, headers) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${JSON.stringify(answer)}`)
  return answer
}
