/** The id that a model gets where none is written: of its file or folder, without what every checkpoint of its kind has in its name. */
export function idOf(checkpoint: string): string {
  const name = checkpoint.replace(/^hf:/, '').replace(/\/+$/, '').split(/[/:]/).at(-1) ?? ''
  return name.replace(/\.(?:gguf|safetensors)$/i, '')
}
