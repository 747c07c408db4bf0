/** Removes this machine's folders from messages to clients. */

/**
 * An absolute folder: a root that begins a word, then names that each end in a slash. Names may hold spaces; a colon
 * with a space behind it, a quote or a space before the next slash end the path.
 */
const ABSOLUTE_FOLDER =
  /(?<=^|[\s'"(`])(?:[A-Za-z]:[\\/]|\\\\|\/)(?:(?:(?!: )[^\\/'"\n]|(?<=\w)'(?=\w))*(?<![\s\\/])[\\/])*/g

/** The sentence with file names in place of full paths, which belong in the log only. */
export function withoutFolders(sentence: string): string {
  return sentence.replaceAll(ABSOLUTE_FOLDER, '')
}
