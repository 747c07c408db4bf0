/** The process as a dialogue sees it: who writes, and where answers go. */
import { createInterface } from 'node:readline'
import { hasColours } from '../../core/output/terminal-colours.ts'

export interface Dialogue {
  /** Whether a person reads and writes here. */
  readonly isInteractive: boolean
  /** Whether text may be coloured: on a terminal, unless `NO_COLOR` is set. */
  readonly hasColours: boolean
  /** Writes to standard output, without a newline. */
  write(text: string): void
  /** All of standard input. */
  readInput(): Promise<string>
  /**
   * Resolves with the next line, or with all lines of a text that was pasted; null at the end of the input, and for Ctrl-C on an
   * empty line.
   */
  askLine(prompt: string): Promise<string | null>
}

const MAX_HISTORY = 500
/** Terminals and what is in front of them give a long paste in pieces; nobody types a line in this. */
const PASTE_PAUSE_MS = 30

/** @param terminal the process's, except in tests */
export function createProcessDialogue(
  env: Readonly<Record<string, string | undefined>>,
  { stdin, stdout }: Pick<NodeJS.Process, 'stdin' | 'stdout'> = process,
): Dialogue {
  let history: string[] = []
  return {
    isInteractive: stdin.isTTY && stdout.isTTY,
    hasColours: hasColours(stdout, env),
    write: (text) => void stdout.write(text),
    readInput: async () => {
      const pieces: Buffer[] = []
      for await (const piece of stdin) pieces.push(piece as Buffer)
      return Buffer.concat(pieces).toString('utf8')
    },
    askLine: (prompt) =>
      new Promise((resolve) => {
        // One for each line: between two of them Ctrl-C is a signal, which stops an answer.
        const lines = createInterface({ input: stdin, output: stdout, history, historySize: MAX_HISTORY })
        const given: string[] = []
        let timer: NodeJS.Timeout | undefined
        const end = (text: string | null): void => {
          resolve(text)
          lines.close()
        }
        // The lines of a paste come one right after the other. Where no newline ends the last one, it is still being written.
        const settle = (): void => {
          if (lines.line === '') end(given.join('\n'))
        }
        lines.on('history', (kept) => (history = kept))
        lines.on('close', () => resolve(given.length > 0 ? given.join('\n') : null))
        lines.on('SIGINT', () => {
          if (lines.line === '' && given.length === 0) {
            stdout.write('\n')
            return end(null)
          }
          // What was begun is thrown away.
          clearTimeout(timer)
          given.length = 0
          lines.write(null, { ctrl: true, name: 'e' })
          lines.write(null, { ctrl: true, name: 'u' })
        })
        lines.on('line', (line) => {
          given.push(line)
          clearTimeout(timer)
          timer = setTimeout(settle, PASTE_PAUSE_MS)
        })
        lines.setPrompt(prompt)
        lines.prompt()
      }),
  }
}
