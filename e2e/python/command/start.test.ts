import { expect, it } from "vitest";
import { PACKAGE, runPython } from "../python.ts";

it("T236 needs only the standard library, and loads what it needs", async () => {
  const program = [
    "import sys",
    "from cairn.command import main",
    "assert main(['--help']) == 0",
    "assert main(['ls', '--server', '127.0.0.1:1', '--json']) == 5",
    "foreign = sorted({name.split('.')[0] for name in sys.modules} - sys.stdlib_module_names - {'cairn'})",
    "assert [name for name in foreign if not name.startswith('_')] == [], foreign",
    "slow = {'asyncio', 'subprocess', 'ctypes', 'unittest', 'multiprocessing', 'difflib'} & set(sys.modules)",
    "assert not slow, slow",
    "assert not [name for name in sys.modules if name.startswith(('cairn.run', 'cairn.start', 'cairn.capture'))]",
    "print('alone')",
  ].join("\n");
  // -S leaves out site-packages: there is nothing else to find.
  const { output } = await runPython(["-S", "-c", program], { path: [PACKAGE] });
  expect(output).toContain("alone\n");
});
