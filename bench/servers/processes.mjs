// @ts-check
/** CPU time and memory of a process and all below it, from Linux's /proc; nothing of it elsewhere. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Linux counts CPU time for programs in hundredths of a second, on every machine. */
const TICKS_PER_SECOND = 100

/** @typedef {{ pid: number, name: string, cpuSeconds: number, memoryMb: number, peakMemoryMb: number }} ProcessFigures */

/** @param {number} rootPid @returns {ProcessFigures[]} the root first */
export function readProcesses(rootPid) {
  const parents = new Map(listPids().map((pid) => [pid, Number(readStat(pid)[1])]))
  /** @param {number} pid @returns {number[]} */
  const withChildren = (pid) => [
    pid,
    ...[...parents].filter(([, parent]) => parent === pid).flatMap(([child]) => withChildren(child)),
  ]
  return parents.has(rootPid) ? withChildren(rootPid).flatMap(readProcess) : []
}

/** What each process computed between two readings, and its memory at the second. @param {ProcessFigures[]} before @param {ProcessFigures[]} after */
export function processesBetween(before, after) {
  const cpuBefore = new Map(before.map(({ pid, cpuSeconds }) => [pid, cpuSeconds]))
  return after.map(({ pid, name, cpuSeconds, peakMemoryMb }) => ({
    name,
    cpuSeconds: cpuSeconds - (cpuBefore.get(pid) ?? 0),
    peakMemoryMb,
  }))
}

/** From now on a process's peak memory is that of what comes. @param {readonly number[]} pids */
export function resetPeaks(pids) {
  for (const pid of pids) {
    try {
      // 5 stands for the peak of resident memory (proc_pid_clear_refs(5)).
      writeFileSync(`/proc/${pid}/clear_refs`, '5')
    } catch {
      // Ended meanwhile, or not Linux: there are no figures then either.
    }
  }
}

/** One that has ended meanwhile is left out. @param {number} pid @returns {ProcessFigures[]} */
function readProcess(pid) {
  const stat = readStat(pid)
  const status = readFile(pid, 'status')
  if (stat.length === 0 || status === '') return []
  const megabytes = (/** @type {string} */ field) =>
    (Number(new RegExp(String.raw`^${field}:\s+(\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024) / 1e6
  return [
    {
      pid,
      name: nameOf(pid),
      cpuSeconds: (Number(stat[11]) + Number(stat[12])) / TICKS_PER_SECOND,
      memoryMb: megabytes('VmRSS'),
      peakMemoryMb: megabytes('VmHWM'),
    },
  ]
}

/** The script that Node runs, or the program. @param {number} pid */
function nameOf(pid) {
  const words = readFile(pid, 'cmdline').split('\0')
  const script = words.find(
    (word, index) => index > 0 && /\.m?js$/.test(word) && !/^--[^=]*$/.test(words[index - 1] ?? ''),
  )
  return path.basename(script ?? words[0] ?? '').replace(/\.m?js$/, '')
}

/** The fields behind the program's name, which may itself hold spaces: state, parent, … @param {number} pid */
function readStat(pid) {
  const text = readFile(pid, 'stat')
  return text === '' ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** @param {number} pid @param {string} name */
function readFile(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

function listPids() {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}
