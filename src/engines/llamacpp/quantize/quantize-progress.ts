/** How far quantizing is, from what llama.cpp prints. Nothing native, because the server's own process reads it. */

/** Share of the work that looking for NaN and Infinity is. */
export const CHECK_SHARE = 0.1

/** What a line says beside the progress; an error follows on the same line. */
export function withoutProgress(line: string): string {
  return line.replace(/^\[ *\d+\/ *\d+\] .*?(?=llama_|$)/, '').trim()
}

/**
 * llama.cpp says on standard error which tensor it works on; this is the share of the work that is done by then. Null
 * for other lines.
 */
export function progressOfLine(line: string): number | null {
  const [, number, count] = /^\[ *(\d+)\/ *(\d+)\] /.exec(line) ?? []
  if (number === undefined || count === undefined) return null
  return CHECK_SHARE + (1 - CHECK_SHARE) * (Number(number) / Number(count))
}
