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
  /** Resolves with the next line; null at the end of the input, and for Ctrl-C on an empty line. */
  askLine(prompt: string): Promise<string | null>
}

const MAX_HISTORY = 500

export function createProcessDialogue(env: Readonly<Record<string, string | undefined>>): Dialogue {
  const { stdin, stdout } = process
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
        const end = (line: string | null): void => {
          resolve(line)
          lines.close()
        }
        lines.on('history', (kept) => (history = kept))
        lines.on('close', () => resolve(null))
        lines.on('SIGINT', () => {
          if (lines.line === '') {
            stdout.write('\n')
            return end(null)
          }
          // What was begun is thrown away.
          lines.write(null, { ctrl: true, name: 'e' })
          lines.write(null, { ctrl: true, name: 'u' })
        })
        lines.question(prompt, end)
      }),
  }
}
