/**
 * Content of messages that is more than text: media of OpenAI's, vLLM's and Anthropic's shapes, which are passed on to a model that
 * reads them (`generation/check-request.ts` refuses them for any other), and those that no chat can hold, refused by what they are.
 */
import { z } from 'zod'
import type { ChatMessage, ContentPart, MediaPart } from '../../protocol/chat.ts'
import { addUnsupported, isJsonObject } from './fields.ts'

const MEDIA: Readonly<Record<string, string>> = {
  image_url: 'an image',
  input_image: 'an image',
  image: 'an image',
  image_embeds: 'an image',
  image_pil: 'an image',
  computer_screenshot: 'an image',
  input_audio: 'audio',
  audio_url: 'audio',
  audio: 'audio',
  video_url: 'a video',
  input_video: 'a video',
  video: 'a video',
  file: 'a file',
  input_file: 'a file',
  document: 'a file',
  container_upload: 'a file',
}

/** Those of chat completions, as OpenAI and vLLM have them. */
export const CHAT_MEDIA = [
  'image_url',
  'image_embeds',
  'image_pil',
  'input_audio',
  'audio_url',
  'video_url',
  'file',
] as const

/** One part of the given kinds, as chat completions have it. */
export function chatMediaPart() {
  return z
    .looseObject({ type: z.enum(CHAT_MEDIA) })
    .describe(
      'For a model that reads it: an image, audio, a video or a file, passed on to its upstream as it is.',
    )
}

/** @param given the type's name in the caller's dialect */
export function toMediaPart(part: MediaPart['part'], given: string, place: string): MediaPart {
  return { kind: 'media', part, name: `${MEDIA[given] ?? 'media'} ('${given}')`, place }
}

/** A message's content of its parts. */
export function joinParts(parts: readonly ContentPart[]): Pick<ChatMessage, 'content' | 'parts'> {
  const content = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  return { content, ...(parts.some(({ kind }) => kind === 'media') && { parts }) }
}

/** Adds an issue for the first part that is neither text nor of the types that are read. @param field the object's field that holds them */
export function refuseUnreadPart(
  object: Readonly<Record<string, unknown>>,
  field: string,
  { read, context }: { readonly read: readonly string[]; readonly context: z.RefinementCtx },
): void {
  const parts = object[field]
  if (!Array.isArray(parts)) return
  for (const [index, part] of parts.entries()) {
    const problem = findUnreadPart(part, read)
    if (problem !== null) return addUnsupported(context, [field, index], problem)
  }
}

/** What is wrong with a part that is neither text nor of the types that are read; it follows the part's name. Null for any other. */
export function findUnreadPart(part: unknown, read: readonly string[]): string | null {
  const type: unknown = isJsonObject(part) ? part['type'] : null
  if (typeof type !== 'string' || read.includes(type) || !Object.hasOwn(MEDIA, type)) return null
  const kind = MEDIA[type]
  const typeHere = read.find((one) => MEDIA[one] === kind)
  const why =
    typeHere === undefined ? 'this server reads text only' : `${kind} is a part of type '${typeHere}' here`
  return `must be text, but was ${kind} ('${type}'): ${why}`
}
