/** The model id of a checkpoint for which none is configured. */
import path from 'node:path'
import { hubModelName, isHubReference, parseHubReference } from './hub/hub-reference.ts'

/** The repository's name on the Hub, or the stem of the folder or file, without the number of a split. */
export function checkpointName(checkpoint: string): string {
  if (isHubReference(checkpoint)) return hubModelName(parseHubReference(checkpoint))
  const name = path.basename(path.resolve(checkpoint))
  return name.replace(/\.(gguf|safetensors)$/, '').replace(/-\d{5}-of-\d{5}$/, '')
}
