/** A generation as `/v1/completions` answers it: in one piece, or as the frames of a stream. */
import { newId } from '../../../core/ids.ts'
import { sum } from '../../../core/sum.ts'
import type { GeneratedSequence, Generation } from '../../../generation/generation.ts'
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
import { LogprobLists } from './logprobs.ts'
import type { completion, completionChunk, completionRequest } from './schema.ts'
import type { z } from 'zod'

type Chunk = AnswerOf<typeof completionChunk>

/** The fields of a generation that an answer and all its chunks carry. */
type Head = Pick<Generation, 'modelId' | 'createdUnixSeconds'>

export interface CompletionOptions extends Pick<
  z.output<typeof completionRequest>,
  'choices' | 'includeUsage' | 'isUsageContinuous'
> {
  /** The text that each prompt's answers begin with; null where they do not. */
  readonly echoedTexts: readonly string[] | null
  /** How many of the likeliest tokens stand beside each; null where no log probabilities are given. */
  readonly topLogprobs: number | null
}

export function toCompletion(
  head: Head,
  sequences: readonly GeneratedSequence[],
  options: CompletionOptions,
): AnswerOf<typeof completion> {
  // The choices of a prompt share it.
  const prompts = sequences.filter((_, index) => index % options.choices === 0)
  return {
    ...toHead(head),
    choices: sequences.map(({ text, finishReason, logprobs }, index) => ({
      index,
      text: echoedText(options, index) + text,
      logprobs: createLists(options, index)?.add(logprobs) ?? null,
      finish_reason: answerFinishReason(finishReason),
    })),
    usage: toDetailedUsage({
      promptTokens: sum(prompts.map(({ promptTokens }) => promptTokens)),
      completionTokens: sum(sequences.map(({ tokenIds }) => tokenIds.length)),
      cachedTokens: sum(prompts.map(({ cachedTokens }) => cachedTokens)),
    }),
  }
}

/** Chunks of OpenAI's `text_completion`. */
export function createCompletionFrames(generation: Head, options: CompletionOptions): FrameFormat {
  const { choices, includeUsage, isUsageContinuous } = options
  /** Of each prompt: its choices say the same number. */
  const promptTokens = new Map<number, number>()
  const lists = new Map<number, LogprobLists | null>()
  let completionTokens = 0
  let cachedTokens = 0
  const toUsageSoFar = () => ({
    ...toDetailedUsage({ promptTokens: sum([...promptTokens.values()]), completionTokens, cachedTokens }),
    ...(isUsageContinuous && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
  })
  const head = toHead(generation)
  const toChunk = (choice: Chunk['choices'][number]): Chunk => ({
    ...head,
    choices: [choice],
    ...(includeUsage && { usage: isUsageContinuous ? toUsageSoFar() : null }),
  })
  const openChunk = toChunk({ index: 0, text: '', logprobs: null, finish_reason: null })
  const [frameHead, beforeText, frameTail] = splitFrame(openChunk, ['index', 'text'])
  const textFrame = (index: number, text: string): string => {
    if (text === '') return ''
    if (includeUsage && isUsageContinuous)
      return frame(toChunk({ index, text, logprobs: null, finish_reason: null }))
    return `${frameHead}${index}${beforeText}${jsonOf(text)}${frameTail}`
  }
  return {
    start: (event) => {
      promptTokens.set(Math.floor(event.index / choices), event.promptTokens)
      if (event.index % choices === 0) cachedTokens += event.cachedTokens
      lists.set(event.index, createLists(options, event.index))
      return textFrame(event.index, echoedText(options, event.index))
    },
    delta: (event) => {
      if (event.type !== 'text-delta') return ''
      const { index, text, tokenIds, logprobs = [] } = event
      completionTokens += tokenIds.length
      const list = lists.get(index) ?? null
      if (list === null || logprobs.length === 0) return textFrame(index, text)
      return frame(toChunk({ index, text, logprobs: list.add(logprobs), finish_reason: null }))
    },
    end: ({ index, finishReason, promptTokensCorrection = 0, cachedTokensCorrection = 0 }) => {
      const prompt = Math.floor(index / choices)
      promptTokens.set(prompt, (promptTokens.get(prompt) ?? 0) + promptTokensCorrection)
      cachedTokens += cachedTokensCorrection
      const finish_reason = answerFinishReason(finishReason)
      return frame(toChunk({ index, text: '', logprobs: null, finish_reason }))
    },
    finish: () => {
      const last: Chunk = { ...head, choices: [], usage: toUsageSoFar() }
      return (includeUsage ? frame(last) : '') + DONE_FRAME
    },
    fail: failFrames,
  }
}

function toHead({ modelId, createdUnixSeconds }: Head) {
  return {
    id: `cmpl-${newId()}`,
    object: 'text_completion',
    created: createdUnixSeconds,
    model: modelId,
  } as const
}

function echoedText({ echoedTexts, choices }: CompletionOptions, index: number): string {
  return echoedTexts?.[Math.floor(index / choices)] ?? ''
}

function createLists(options: CompletionOptions, index: number): LogprobLists | null {
  const { topLogprobs } = options
  if (topLogprobs === null) return null
  return new LogprobLists({ hasTop: topLogprobs > 0, echoed: echoedText(options, index) })
}
