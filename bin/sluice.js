#!/usr/bin/env node
// The program: loads the built code and becomes the server. Written so that any Node parses it, and can say that it
// is too old.
const [major, minor] = process.versions.node.split('.').map(Number)

if (major < 20 || (major === 20 && minor < 19)) {
  stop('Node 20.19 or newer is needed, but this is ' + process.versions.node + '.')
} else {
  import('../dist/bundle/main.js').then(
    (program) => program.main(process.argv.slice(2)),
    (error) => stop(whyNotLoaded(error)),
  )
}

function whyNotLoaded(error) {
  const message = String(error && error.message).split('\n')[0]
  if (error && error.code === 'EMFILE')
    return 'the limit of open files is too low: raise it to 1024 or more (ulimit -n).'
  if (!error || error.code !== 'ERR_MODULE_NOT_FOUND') return 'the program cannot be loaded: ' + message
  if (/cannot find package/i.test(message)) return 'its packages are not installed; run npm ci.'
  return 'it is not built; run npm run build.'
}

function stop(sentence) {
  process.stderr.write('sluice: ' + sentence + '\n')
  process.exitCode = 1
}
