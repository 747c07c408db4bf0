/**
 * The frames of the two streams. What never changes within an answer is written once; a token costs one
 * `JSON.stringify` of its text and one template.
 */
import type { FrameFormat } from '../../sse/stream-events.ts'

/** Frames of `/v1/generate/stream`: text, finish reason and usage so far in each. */
export function createGenerateFrames(): FrameFormat {
  let promptTokens = 0
  let completionTokens = 0
  const frame = (index: number, content: string, finishReason: string) =>
    `data: {"choices":[{"index":${index},"delta":{"content":${content}},"finish_reason":${finishReason}}],` +
    `"usage":${usageJson(promptTokens, completionTokens)}}\n\n`
  return {
    start: (event) => {
      promptTokens = event.promptTokens
      return ''
    },
    delta: ({ index, text, tokenIds }) => {
      completionTokens += tokenIds.length
      return text === '' ? '' : frame(index, JSON.stringify(text), 'null')
    },
    end: ({ index, finishReason }) => frame(index, '""', JSON.stringify(finishReason)),
  }
}

export interface ChatAnswer {
  readonly id: string
  readonly createdUnixSeconds: number
  readonly model: string
  readonly includeUsage: boolean
}

/** Frames of a streamed `/v1/chat/completions`: OpenAI's `chat.completion.chunk`. */
export function createChatFrames({ id, createdUnixSeconds, model, includeUsage }: ChatAnswer): FrameFormat {
  let promptTokens = 0
  let completionTokens = 0
  const head =
    `data: {"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${createdUnixSeconds},` +
    `"model":${JSON.stringify(model)},"choices":[`
  const choiceHead = (index: number) => `${head}{"index":${index},"delta":`
  // OpenAI's own: with usage asked for, every chunk has the field, and only the last one a value in it.
  const tail = includeUsage ? '],"usage":null}\n\n' : ']}\n\n'
  const unfinishedTail = `},"finish_reason":null}${tail}`
  return {
    start: (event) => {
      promptTokens = event.promptTokens
      return `${choiceHead(event.index)}{"role":"assistant","content":""${unfinishedTail}`
    },
    delta: ({ index, text, tokenIds }) => {
      completionTokens += tokenIds.length
      return text === '' ? '' : `${choiceHead(index)}{"content":${JSON.stringify(text)}${unfinishedTail}`
    },
    end: ({ index, finishReason }) => {
      const finish = `${choiceHead(index)}{},"finish_reason":${JSON.stringify(finishReason)}}${tail}`
      return includeUsage
        ? `${finish}${head}],"usage":${usageJson(promptTokens, completionTokens)}}\n\n`
        : finish
    },
  }
}

function usageJson(promptTokens: number, completionTokens: number): string {
  return (
    `{"prompt_tokens":${promptTokens},"completion_tokens":${completionTokens},` +
    `"total_tokens":${promptTokens + completionTokens}}`
  )
}
