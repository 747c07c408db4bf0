/** A generation as `/v1/chat/completions` answers it: in one piece, or as the frames of a stream. */
import { newId } from '../../../core/ids.ts'
import type { GeneratedSequence, Generation } from '../../../generation/generation.ts'
import {
  answerFinishReason,
  DONE_FRAME,
  failFrames,
  frame,
  splitFrame,
  toUsage,
  type AnswerOf,
  type FrameFormat,
} from '../frames.ts'
import { toChoiceLogprobs } from './logprobs.ts'
import type { chatChunk, chatCompletion } from './schema.ts'

type ChatChunk = AnswerOf<typeof chatChunk>

interface ChatFormat {
  readonly includeUsage: boolean
  /** Whether log probabilities were asked for. */
  readonly hasLogprobs: boolean
}

/** The fields of a generation that an answer and all its chunks carry. */
type Head = Pick<Generation, 'modelId' | 'createdUnixSeconds'>

export function toChatCompletion(
  { modelId, createdUnixSeconds }: Head,
  sequences: readonly GeneratedSequence[],
  { hasLogprobs }: Pick<ChatFormat, 'hasLogprobs'>,
): AnswerOf<typeof chatCompletion> {
  const completionTokens = sequences.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0)
  return {
    id: `chatcmpl-${newId()}`,
    object: 'chat.completion',
    created: createdUnixSeconds,
    model: modelId,
    choices: sequences.map(({ text, logprobs, finishReason }, index) => ({
      index,
      message: { role: 'assistant', content: text },
      ...(hasLogprobs && { logprobs: toChoiceLogprobs(logprobs) }),
      finish_reason: answerFinishReason(finishReason),
    })),
    usage: toUsage(sequences[0]?.promptTokens ?? 0, completionTokens),
  }
}

/** OpenAI's `chat.completion.chunk`. */
export function createChatFrames(
  { modelId, createdUnixSeconds }: Head,
  { includeUsage, hasLogprobs }: ChatFormat,
): FrameFormat {
  let promptTokens = 0
  let completionTokens = 0
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
    ...(includeUsage && { usage: null }),
  })
  const openChunk = toChunk({ index: 0, delta: { content: '' }, finish_reason: null })
  const [frameHead, beforeContent, frameTail] = splitFrame(openChunk, ['index', 'content'])
  return {
    start: (event) => {
      promptTokens = event.promptTokens
      const delta = { role: 'assistant', content: '' } as const
      const logprobs = hasLogprobs && { logprobs: toChoiceLogprobs([]) }
      return frame(toChunk({ index: event.index, delta, ...logprobs, finish_reason: null }))
    },
    delta: (event) => {
      if (event.type !== 'text-delta') return ''
      const { index, text, tokenIds, logprobs = [] } = event
      completionTokens += tokenIds.length
      if (hasLogprobs && text.length + logprobs.length > 0) {
        const choice = { index, delta: { content: text }, logprobs: toChoiceLogprobs(logprobs) }
        return frame(toChunk({ ...choice, finish_reason: null }))
      }
      return text === '' ? '' : `${frameHead}${index}${beforeContent}${JSON.stringify(text)}${frameTail}`
    },
    end: ({ index, finishReason }) => {
      const logprobs = hasLogprobs && { logprobs: null }
      return frame(
        toChunk({ index, delta: {}, ...logprobs, finish_reason: answerFinishReason(finishReason) }),
      )
    },
    finish: () => {
      const last: ChatChunk = { ...head, choices: [], usage: toUsage(promptTokens, completionTokens) }
      return (includeUsage ? frame(last) : '') + DONE_FRAME
    },
    fail: failFrames,
  }
}
