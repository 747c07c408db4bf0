/**
 * Tokens of an upstream: `/tokenize` and `/detokenize` at its root. It is asked in the words of vLLM, SGLang and Sluice, whose answers
 * have a count; llama-server's, which finds no text in them, have none and is asked in its own, with a route of its own for a chat's
 * text. Called by `remote-engine.ts`.
 */
import type { TokenizedText, TokenizeRequest, TokenPrompt } from '../../protocol/engine.ts'
import { countOf, isObject, type Json } from './answers/answer-chunk.ts'
import { chatFields, type UpstreamRequest } from './request-body.ts'
import { answerLost } from './upstream-errors.ts'

/** Asks an upstream; null where it has no such route. @throws ServiceError for any other refusal */
export type AskUpstream = (request: UpstreamRequest) => Promise<Json | null>

/** Null where the upstream has no such route. @throws ServiceError `engine_failed` for an answer without tokens */
export async function tokenizeUpstream(
  ask: AskUpstream,
  model: string,
  request: TokenizeRequest,
): Promise<TokenizedText | null> {
  const { prompt, chat, wantsTexts = false } = request
  const text = prompt.pieces.join('')
  const given =
    chat === undefined ? { prompt: text, add_special_tokens: prompt.addSpecial } : chatFields(chat)
  const answer = await ask(toRequest('/tokenize', { model, ...given, return_token_strs: wantsTexts }))
  if (answer === null || countOf(answer['count']) !== null) return toTokens(answer)
  const content = chat === undefined ? text : await renderedBy(ask, { model, ...chatFields(chat) })
  if (content === null) return null
  const addSpecial = chat !== undefined || prompt.addSpecial
  return toTokens(
    await ask(toRequest('/tokenize', { model, content, add_special: addSpecial, with_pieces: wantsTexts })),
  )
}

async function renderedBy(ask: AskUpstream, body: UpstreamRequest['body']): Promise<string | null> {
  const answer = await ask(toRequest('/apply-template', body))
  const text = answer?.['prompt']
  return typeof text === 'string' ? text : null
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
