/** The process that lists the GPUs and ends. Started by `devices-process.ts`. */
import { exitAtOnce } from '../../child/exit-at-once.ts'
import { linkToParent, tellParent } from '../../child/parent-link.ts'
import { listDevices } from './devices.ts'

try {
  const { parentPid } = JSON.parse(process.argv[2] ?? '') as { readonly parentPid: number }
  linkToParent(parentPid)
  tellParent(listDevices('auto').gpus)
  exitAtOnce(0)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  exitAtOnce(1)
}
