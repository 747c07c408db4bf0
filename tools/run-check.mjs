// @ts-check
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Runs a static check when its file is the program: one line for each finding, and exit code 1 when there are any.
 * @param {string} url of the check's file, in tools/
 * @param {(root: string) => string[]} check gives the findings
 */
export function runCheck(url, check) {
  const file = fileURLToPath(url)
  if (process.argv[1] !== file) return
  const findings = check(path.resolve(path.dirname(file), '..'))
  for (const finding of findings) process.stdout.write(`${finding}\n`)
  process.exitCode = findings.length === 0 ? 0 : 1
}
