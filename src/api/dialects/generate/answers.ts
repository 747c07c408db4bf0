/** Generations as the generate routes answer them: a text, a batch, or the frames of a stream. */
import { sum } from '../../../core/sum.ts'
import { InvariantError } from '../../../core/errors.ts'
import { toGenerateAnswer } from '../../../generation/generate-answer.ts'
import type { GeneratedSequence, Generation } from '../../../generation/generation.ts'
import { toOpenAiError } from '../../../net/render-error.ts'
import {
  answerFinishReason,
  DONE_FRAME,
  failFrames,
  frame,
  jsonOf,
  splitFrame,
  toUsage,
  type AnswerOf,
  type FrameFormat,
} from '../frames.ts'
import type { batchResponse, generateResponse, streamChunk } from './schema.ts'

type StreamChunk = AnswerOf<typeof streamChunk>

/** The fields of a generation that every answer carries. */
type Head = Pick<Generation, 'modelId' | 'createdUnixSeconds'>

export function toGenerateResponse(
  head: Head,
  [sequence]: readonly GeneratedSequence[],
): AnswerOf<typeof generateResponse> {
  if (sequence === undefined) throw new InvariantError('One prompt gave no sequence.')
  return toGenerateAnswer(head, sequence)
}

/** A failed prompt has `error` instead of the text; the others keep their results. */
export function toBatchResponse(
  head: Head,
  sequences: readonly GeneratedSequence[],
  { hasQueueMs }: { hasQueueMs: boolean },
): AnswerOf<typeof batchResponse> {
  const results = sequences.map((sequence, index) => {
    const { generated_text, ...result } = toGenerateAnswer(head, sequence)
    return {
      index,
      ...(sequence.error === null ? { generated_text } : { error: toOpenAiError(sequence.error) }),
      ...result,
      ...(hasQueueMs && { queue_ms: sequence.queueMs }),
    }
  })
  const promptTokens = sum(results.map((result) => result.prompt_tokens))
  const completionTokens = sum(results.map((result) => result.completion_tokens))
  return {
    results,
    ...toUsage(promptTokens, completionTokens),
    model: head.modelId,
    created: head.createdUnixSeconds,
  }
}

/** Frames of `/v1/generate/stream`: text, finish reason and usage so far in each. */
export function createGenerateFrames(): FrameFormat {
  let promptTokens = 0
  let completionTokens = 0
  return {
    start: (event) => {
      promptTokens = event.promptTokens
      return ''
    },
    delta: (event) => {
      // A remote model that only knows chats may think first.
      if (event.type !== 'text-delta') return ''
      const { index, text, tokenIds } = event
      completionTokens += tokenIds.length
      if (text === '') return ''
      return (
        `${FRAME_HEAD}${index}${BEFORE_CONTENT}${jsonOf(text)}${BEFORE_PROMPT}${promptTokens}` +
        `${BEFORE_COMPLETION}${completionTokens}${BEFORE_TOTAL}${promptTokens + completionTokens}${FRAME_TAIL}`
      )
    },
    end: ({ index, finishReason, promptTokensCorrection = 0 }) => {
      promptTokens += promptTokensCorrection
      const chunk: StreamChunk = {
        choices: [{ index, delta: { content: '' }, finish_reason: answerFinishReason(finishReason) }],
        usage: toUsage(promptTokens, completionTokens),
      }
      return frame(chunk)
    },
    finish: () => DONE_FRAME,
    fail: failFrames,
  }
}

const OPEN_CHUNK: StreamChunk = {
  choices: [{ index: 0, delta: { content: '' }, finish_reason: null }],
  usage: toUsage(0, 0),
}

const [FRAME_HEAD, BEFORE_CONTENT, BEFORE_PROMPT, BEFORE_COMPLETION, BEFORE_TOTAL, FRAME_TAIL] = splitFrame(
  OPEN_CHUNK,
  ['index', 'content', 'prompt_tokens', 'completion_tokens', 'total_tokens'],
)
