/** A generation as `/v1/chat/completions` answers it: in one piece, or as the frames of a stream. */
import { newId } from '../../../core/ids.ts'
import { sum } from '../../../core/sum.ts'
import type { GeneratedSequence, Generation } from '../../../generation/generation.ts'
import { ReasoningTokens } from '../../../generation/events/reasoning-tokens.ts'
import type { DeltaEvent } from '../../../generation/events/sequence-fold.ts'
import type { FinishReason } from '../../../protocol/engine-events.ts'
import {
  answerFinishReason,
  DONE_FRAME,
  failFrames,
  frame,
  jsonOf,
  splitFrame,
  toDetailedUsage,
  type AnswerOf,
  type FrameFormat,
} from '../frames.ts'
import { toChoiceLogprobs } from './logprobs.ts'
import type { chatChunk, chatCompletion } from './schema.ts'

type ChatChunk = AnswerOf<typeof chatChunk>

interface ChatFormat {
  readonly includeUsage: boolean
  /** In every chunk, as far as it is known then. */
  readonly isUsageContinuous: boolean
  /** Whether log probabilities were asked for. */
  readonly hasLogprobs: boolean
  /** Whether the answer must be a call, so that no text comes first, and none in place of one that was cut. */
  readonly mustCall: boolean
}

/** The fields of a generation that an answer and all its chunks carry. */
type Head = Pick<Generation, 'modelId' | 'createdUnixSeconds'>

export function toChatCompletion(
  { modelId, createdUnixSeconds }: Head,
  sequences: readonly GeneratedSequence[],
  { hasLogprobs, mustCall }: Pick<ChatFormat, 'hasLogprobs' | 'mustCall'>,
): AnswerOf<typeof chatCompletion> {
  const [prompt] = sequences
  return {
    id: `chatcmpl-${newId()}`,
    object: 'chat.completion',
    created: createdUnixSeconds,
    model: modelId,
    choices: sequences.map((sequence, index) => ({
      index,
      message: toMessage(sequence, mustCall),
      ...(hasLogprobs && { logprobs: toChoiceLogprobs(sequence.logprobs) }),
      finish_reason: toFinishReason(sequence.finishReason, sequence.toolCalls.length > 0),
    })),
    usage: toDetailedUsage({
      promptTokens: prompt?.promptTokens ?? 0,
      completionTokens: sum(sequences.map(({ tokenIds }) => tokenIds.length)),
      cachedTokens: prompt?.cachedTokens ?? 0,
      reasoningTokens: sum(sequences.map(({ reasoningTokens }) => reasoningTokens)),
    }),
  }
}

function toMessage({ text, reasoning, toolCalls }: GeneratedSequence, mustCall: boolean) {
  const calls = toolCalls.map(({ id, name, arguments: json }) => ({
    ...{ id, type: 'function' as const },
    function: { name, arguments: json },
  }))
  return {
    role: 'assistant' as const,
    content: text === '' && (mustCall || calls.length > 0) ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** OpenAI's name for the end of an answer that calls tools; one that was cut short keeps its own. */
function toFinishReason(reason: FinishReason, hasCalls: boolean) {
  return reason === 'stop' && hasCalls ? 'tool_calls' : answerFinishReason(reason)
}

/** What a chunk says of reasoning or of a call. */
function toDelta(event: Exclude<DeltaEvent, { type: 'text-delta' }>): ChatChunk['choices'][number]['delta'] {
  switch (event.type) {
    case 'reasoning-delta':
      return { reasoning_content: event.text }
    case 'tool-call-start': {
      const { call, id, name } = event
      return { tool_calls: [{ index: call, id, type: 'function', function: { name, arguments: '' } }] }
    }
    case 'tool-call-delta':
      return { tool_calls: [{ index: event.call, function: { arguments: event.arguments } }] }
  }
}

/** OpenAI's `chat.completion.chunk`. */
export function createChatFrames(
  { modelId, createdUnixSeconds }: Head,
  { includeUsage, isUsageContinuous, hasLogprobs, mustCall }: ChatFormat,
): FrameFormat {
  let promptTokens = 0
  let cachedTokens = 0
  let completionTokens = 0
  /** Of each choice, where usage is told. */
  const thought: ReasoningTokens[] = []
  const toUsageSoFar = () => ({
    ...toDetailedUsage({
      promptTokens,
      completionTokens,
      cachedTokens,
      reasoningTokens: sum(thought.map(({ count }) => count)),
    }),
    ...(isUsageContinuous && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
  })
  /** Choices that have called a tool. */
  const calling = new Set<number>()
  const head = {
    id: `chatcmpl-${newId()}`,
    object: 'chat.completion.chunk',
    created: createdUnixSeconds,
    model: modelId,
  } as const
  const toChunk = (choice: ChatChunk['choices'][number]): ChatChunk => ({
    ...head,
    choices: [choice],
    // OpenAI's own: with usage asked for, every chunk has the field, and only the last one a value in it.
    ...(includeUsage && { usage: isUsageContinuous ? toUsageSoFar() : null }),
  })
  const openChunk = toChunk({ index: 0, delta: { content: '' }, finish_reason: null })
  const [frameHead, beforeContent, frameTail] = splitFrame(openChunk, ['index', 'content'])
  return {
    start: (event) => {
      promptTokens = event.promptTokens
      if (event.index === 0) cachedTokens = event.cachedTokens
      if (includeUsage) thought[event.index] = new ReasoningTokens()
      const delta = { role: 'assistant', content: mustCall ? null : '' } as const
      const logprobs = hasLogprobs && { logprobs: toChoiceLogprobs([]) }
      return frame(toChunk({ index: event.index, delta, ...logprobs, finish_reason: null }))
    },
    delta: (event) => {
      thought[event.index]?.add(event)
      if (event.type !== 'text-delta') {
        if (event.type === 'tool-call-start') calling.add(event.index)
        const logprobs = hasLogprobs && { logprobs: null }
        return frame(toChunk({ index: event.index, delta: toDelta(event), ...logprobs, finish_reason: null }))
      }
      const { index, text, tokenIds, logprobs = [] } = event
      completionTokens += tokenIds.length
      if (hasLogprobs && text.length + logprobs.length > 0) {
        const choice = { index, delta: { content: text }, logprobs: toChoiceLogprobs(logprobs) }
        return frame(toChunk({ ...choice, finish_reason: null }))
      }
      if (text === '') return ''
      if (includeUsage && isUsageContinuous)
        return frame(toChunk({ index, delta: { content: text }, finish_reason: null }))
      return `${frameHead}${index}${beforeContent}${jsonOf(text)}${frameTail}`
    },
    end: (event) => {
      const { index, finishReason, promptTokensCorrection = 0, cachedTokensCorrection = 0 } = event
      thought[index]?.add(event)
      promptTokens += promptTokensCorrection
      cachedTokens += cachedTokensCorrection
      const logprobs = hasLogprobs && { logprobs: null }
      const reason = toFinishReason(finishReason, calling.has(index))
      return frame(toChunk({ index, delta: {}, ...logprobs, finish_reason: reason }))
    },
    finish: () => {
      const last: ChatChunk = { ...head, choices: [], usage: toUsageSoFar() }
      return (includeUsage ? frame(last) : '') + DONE_FRAME
    },
    fail: failFrames,
  }
}
