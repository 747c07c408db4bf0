/**
 * Weights and KV cache in pages of 2 MB. A step reads all weights once: in pages of 4 kB, as a system gives them that leaves
 * huge ones to who asks, each starts with a walk through the page tables, on a virtual machine through two of them.
 * Source: "Memory Allocation Tunables" of the GNU C Library's manual (`glibc.malloc.hugetlb`); others ignore it.
 */
const TUNABLE = 'glibc.malloc.hugetlb'

/** The environment for a process that is to ask for huge pages. What the operator has set there stays. */
export function withHugePages(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const tunables = environment['GLIBC_TUNABLES']
  if (tunables === undefined || tunables === '') return { ...environment, GLIBC_TUNABLES: `${TUNABLE}=1` }
  if (tunables.includes(`${TUNABLE}=`)) return environment
  return { ...environment, GLIBC_TUNABLES: `${tunables}:${TUNABLE}=1` }
}
