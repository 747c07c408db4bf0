/** What any user may read names files of the server without the folders they lie in. */

/** An absolute path of several parts, up to its last one; not the path of a URL. */
const FOLDERS = /(?<![\w.~/:-])(?:\/[^\s/'",:;]+)+\/(?=[^\s/])/g

/** `/srv/models/m.gguf is damaged.` becomes `m.gguf is damaged.` The log keeps the whole sentence. */
export function folderless(sentence: string): string {
  return sentence.replaceAll(FOLDERS, '')
}
