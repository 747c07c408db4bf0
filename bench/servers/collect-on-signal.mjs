// @ts-check
/** Loaded into a measured server: on SIGUSR2 all garbage is collected, so that what is left of the heap is in use. */
import v8 from 'node:v8'
import vm from 'node:vm'

v8.setFlagsFromString('--expose-gc')
const collect = vm.runInNewContext('gc')
process.on('SIGUSR2', () => collect())
