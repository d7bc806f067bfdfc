// Unit tests under the Python of Pyodide (CPython compiled to WebAssembly), where no other interpreter of
// that version is at hand: node --stack-size=30000 benchmarks/pyodide.mjs SITE tests/unit/text ...
// Needs `npm install pyodide`, and in SITE the pure packages of the dev extra, pydantic_core's wheel for
// Pyodide, and json in the place of orjson. There are no processes, no threads, no numpy and no sockets.
import { loadPyodide } from "pyodide";
import { resolve } from "node:path";

const [site, ...folders] = process.argv.slice(2);
const python = await loadPyodide();
for (const [at, root] of [["/clone", process.cwd()], ["/site", resolve(site)]]) {
  python.FS.mkdir(at);
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, at);
}
python.globals.set("folders", folders);
await python.runPythonAsync(`
import os, pathlib, sys, warnings

sys.path[:0] = ["/clone/src", "/clone/tests", "/clone", "/site"]
sys.dont_write_bytecode = True
os.chdir("/clone")
with warnings.catch_warnings(action="error"):
    modules = [path for root in ("src", "tests", "benchmarks", "tools") for path in pathlib.Path(root).rglob("*.py")]
    for path in modules:
        compile(path.read_text(encoding="utf-8"), str(path), "exec")
print(f"Python {sys.version.split()[0]}: {len(modules)} modules compile without a warning", flush=True)

import pytest

alone = ["-p", "no:cacheprovider", "-W", "ignore::pytest.PytestUnknownMarkWarning", "--tb=line"]
pytest.main([*alone, "--continue-on-collection-errors", "-rfE", *folders])
`);
