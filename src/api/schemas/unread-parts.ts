/** Content parts of OpenAI's, vLLM's and Anthropic's that are no text: refused by what they are, in every dialect. */
import type { z } from 'zod'
import { addUnsupported, isJsonObject } from './fields.ts'

const UNREAD_PARTS: Readonly<Record<string, string>> = {
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

/** Adds an issue for the first such part. @param field the object's field that holds them */
export function refuseUnreadPart(
  object: Readonly<Record<string, unknown>>,
  field: string,
  context: z.RefinementCtx,
): void {
  const parts = object[field]
  if (!Array.isArray(parts)) return
  for (const [index, part] of parts.entries()) {
    const problem = findUnreadPart(part)
    if (problem !== null) return addUnsupported(context, [field, index], problem)
  }
}

/** What is wrong with a part that is no text; it follows the part's name. Null for any other. */
export function findUnreadPart(part: unknown): string | null {
  const type: unknown = isJsonObject(part) ? part['type'] : null
  if (typeof type !== 'string' || !Object.hasOwn(UNREAD_PARTS, type)) return null
  return `must be text, but was ${UNREAD_PARTS[type]} ('${type}'): this server reads text only`
}
