// @ts-check
/**
 * What a client sends and reads on each of the three streams: ours, OpenAI's chat (ours and llama-server's) and
 * llama-server's own. All ask for the same: the same number of tokens, top-k, top-p and temperature in one order, and no
 * seed, which few clients send and for which ours computes every prompt whole.
 */

/** @typedef {{ temperature: number, top_k: number, top_p: number }} AskedSampling */

/**
 * @typedef {object} Ask
 * @property {string} [model] of our server, instead of its first
 * @property {string} [prompt]
 * @property {{ role: string, content: string }[]} [messages]
 * @property {number} newTokens
 * @property {AskedSampling} [sampling] instead of the usual
 * @property {object} [schema] that the answer keeps to, in both servers' field of that name
 * @property {string} [key] instead of the server's own
 * @property {string} [group] what the figures of this request are counted under, beside those of all
 */

/**
 * @typedef {object} Protocol
 * @property {string} path
 * @property {(ask: Ask) => object} body
 * @property {(event: any) => { text: string, promptTokens?: number, completionTokens?: number }} readEvent
 */

/** @type {AskedSampling} */
export const USUAL_SAMPLING = { temperature: 0.8, top_k: 40, top_p: 0.95 }
/** What our routes take when nothing is said: any token of the vocabulary may come. @type {AskedSampling} */
export const DEFAULT_SAMPLING = { temperature: 1, top_k: 0, top_p: 1 }

/** @param {Ask} ask */
const ourSampling = ({ sampling = USUAL_SAMPLING }) => sampling

/** llama-server would add min-p and penalties, and end where random weights happen to say so. @param {Ask} ask */
const peerSampling = ({ sampling = USUAL_SAMPLING }) => ({
  ...sampling,
  samplers: ['top_k', 'top_p', 'temperature'],
  ignore_eos: true,
})

/** @param {any} usage */
const readUsage = (usage) => ({
  promptTokens: usage?.prompt_tokens,
  completionTokens: usage?.completion_tokens,
})

/** @param {(ask: Ask) => object} sampling @returns {Protocol} */
const chat = (sampling) => ({
  path: '/v1/chat/completions',
  body: (ask) => ({
    ...sampling(ask),
    messages: ask.messages,
    max_tokens: ask.newTokens,
    stream: true,
    stream_options: { include_usage: true },
  }),
  readEvent: ({ choices, usage }) => ({ text: choices[0]?.delta.content ?? '', ...readUsage(usage) }),
})

/** @type {Record<'sluice' | 'llama-server', Record<'completion' | 'chat', Protocol>>} */
export const PROTOCOLS = {
  sluice: {
    completion: {
      path: '/v1/generate/stream',
      body: (ask) => ({
        ...ourSampling(ask),
        model: ask.model,
        prompt: ask.prompt,
        max_new_tokens: ask.newTokens,
        ...(ask.schema && { json_schema: ask.schema }),
      }),
      readEvent: ({ choices, usage }) => ({ text: choices[0]?.delta.content ?? '', ...readUsage(usage) }),
    },
    chat: chat(ourSampling),
  },
  'llama-server': {
    completion: {
      path: '/completion',
      body: (ask) => ({
        ...peerSampling(ask),
        prompt: ask.prompt,
        n_predict: ask.newTokens,
        stream: true,
        ...(ask.schema && { json_schema: ask.schema }),
      }),
      readEvent: ({ content, tokens_evaluated: promptTokens, tokens_predicted: completionTokens }) => ({
        text: content,
        promptTokens,
        completionTokens,
      }),
    },
    chat: chat(peerSampling),
  },
}
