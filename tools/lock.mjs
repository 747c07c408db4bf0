// @ts-check
/**
 * A lock between processes of one machine: a folder in the system's temporary folder that holds its owner's process
 * id. The lock of a process that no longer lives is taken over.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const RETRY_MS = 100

/**
 * Runs `work` while no other process works on the same folder.
 * @template Result
 * @param {string} folder
 * @param {() => Promise<Result>} work
 */
export async function withLock(folder, work) {
  const lock = path.join(
    tmpdir(),
    `sluice-${createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 16)}.lock`,
  )
  while (!tryAcquire(lock)) {
    if (ownerIsGone(lock)) takeAway(lock)
    else await sleep(RETRY_MS)
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/** A prepared folder is moved into place, so that a lock never stands there without its owner. @param {string} lock */
function tryAcquire(lock) {
  const mine = `${lock}.${process.pid}`
  rmSync(mine, { recursive: true, force: true })
  mkdirSync(mine)
  writeFileSync(path.join(mine, 'pid'), String(process.pid))
  try {
    renameSync(mine, lock)
    return true
  } catch {
    rmSync(mine, { recursive: true, force: true })
    return false
  }
}

/** @param {string} lock */
function ownerIsGone(lock) {
  try {
    process.kill(Number(readFileSync(path.join(lock, 'pid'), 'utf8')), 0)
    return false
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH'
  }
}

/** @param {string} lock */
function takeAway(lock) {
  const gone = `${lock}.gone.${process.pid}`
  try {
    renameSync(lock, gone)
  } catch {
    return
  }
  // Another process may have taken it over in between: then it is given back.
  if (!ownerIsGone(gone)) renameSync(gone, lock)
  else rmSync(gone, { recursive: true, force: true })
}
