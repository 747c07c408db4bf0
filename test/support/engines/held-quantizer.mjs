// @ts-check
/** Loaded by every process of a server under test (`--import`): a quantizer tells its pid and stands still until it is continued. */
import { renameSync, writeFileSync } from 'node:fs'

const file = process.env['HELD_QUANTIZER']
if (file !== undefined && (process.argv[1] ?? '').includes('quantize-main')) {
  writeFileSync(`${file}.tmp`, String(process.pid))
  renameSync(`${file}.tmp`, file)
  process.kill(process.pid, 'SIGSTOP')
}
