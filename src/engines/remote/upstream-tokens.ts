/**
 * Tokens of an upstream: `/tokenize` and `/detokenize` at its root, in the words of vLLM and Sluice and in those of llama-server, which
 * has a route of its own for a chat's text. Called by `remote-engine.ts`.
 */
import type { TokenizedText, TokenizeRequest, TokenPrompt } from '../../protocol/engine.ts'
import { countOf, isObject, type Json } from './answer-chunk.ts'
import { chatFields, type UpstreamRequest } from './request-body.ts'
import { answerLost } from './upstream-errors.ts'

/** Asks an upstream; null where it has no such route. @throws ServiceError for any other refusal */
export type AskUpstream = (request: UpstreamRequest) => Promise<Json | null>

type TokenizeText = Pick<TokenizeRequest, 'prompt' | 'wantsTexts'>

/** Null where the upstream has no such route. @throws ServiceError `engine_failed` for an answer without tokens */
export async function tokenizeUpstream(
  ask: AskUpstream,
  model: string,
  request: TokenizeRequest,
): Promise<TokenizedText | null> {
  const { prompt, chat, wantsTexts = false } = request
  if (chat === undefined) return toTokens(await ask(toTextRequest(model, request)))
  const answer = await ask(
    toRequest('/tokenize', { model, ...chatFields(chat), return_token_strs: wantsTexts }),
  )
  // llama-server finds no text in a chat, and has no count in its answers.
  if (answer !== null && countOf(answer['count']) !== null) return toTokens(answer)
  const rendered = await ask(toRequest('/apply-template', { model, ...chatFields(chat) }))
  const text = rendered?.['prompt']
  if (typeof text !== 'string') return null
  const ofText = { prompt: { ...prompt, pieces: [text], addSpecial: true }, wantsTexts }
  return toTokens(await ask(toTextRequest(model, ofText)))
}

/** Null where the upstream has no such route. @throws ServiceError `engine_failed` for an answer without a text */
export async function detokenizeUpstream(
  ask: AskUpstream,
  model: string,
  tokenIds: TokenPrompt['tokenIds'],
): Promise<string | null> {
  const answer = await ask(toRequest('/detokenize', { model, tokens: [...tokenIds] }))
  if (answer === null) return null
  const text = answer['prompt'] ?? answer['content']
  if (typeof text !== 'string') throw answerLost('has no text')
  return text
}

function toTextRequest(model: string, { prompt, wantsTexts = false }: TokenizeText): UpstreamRequest {
  const text = prompt.pieces.join('')
  const ofVllm = { prompt: text, add_special_tokens: prompt.addSpecial, return_token_strs: wantsTexts }
  const ofLlamaServer = { content: text, add_special: prompt.addSpecial, with_pieces: wantsTexts }
  return toRequest('/tokenize', { model, ...ofVllm, ...ofLlamaServer })
}

function toRequest(path: UpstreamRequest['path'], body: UpstreamRequest['body']): UpstreamRequest {
  return { path, body, key: null }
}

function toTokens(answer: Json | null): TokenizedText | null {
  if (answer === null) return null
  const { tokens, token_strs: strings } = answer
  if (!Array.isArray(tokens)) throw answerLost('has no tokens')
  const ids = tokens.map((token: unknown) => (isObject(token) ? token['id'] : token))
  if (!ids.every((id) => typeof id === 'number')) throw answerLost('has a token that is no number')
  const pieces = tokens.map((token: unknown) => (isObject(token) ? pieceOf(token['piece']) : null))
  const texts = Array.isArray(strings) ? strings.map(String) : pieces
  return {
    tokenIds: Int32Array.from(ids),
    texts: texts.every((text) => text !== null) && texts.length > 0 ? texts : null,
  }
}

/** Bytes where it is no whole character. */
function pieceOf(piece: unknown): string {
  return Array.isArray(piece) ? Buffer.from(piece as number[]).toString('utf8') : String(piece)
}
