import { type ESTree, Visitor } from "vite";

import { lineOf, parseSource } from "../parse-source.ts";

export interface FunctionLength {
  /** Its own name, that of what it is assigned to, or the call it is an argument of. */
  name: string;
  line: number;
  lines: number;
}

type FunctionNode = ESTree.Function | ESTree.ArrowFunctionExpression;

interface OpenFunction {
  /** Lines of tests in it, which are measured on their own. */
  testLines: number;
  callback: "group" | "test" | undefined;
}

/**
 * The lines of each function, from its first to its last, functions in it included.
 *
 * In a file that imports vitest, a group of tests is not one function: the callback of `describe` is left
 * out, and what `describe` and `it` span does not count for the functions around them. The callback of
 * `it` is measured.
 */
export function measureTypeScript(file: string, text: string): FunctionLength[] {
  const hasTests = text.includes('from "vitest"');
  const found: FunctionLength[] = [];
  const open: OpenFunction[] = [];
  const names = new Map<ESTree.Node, string>();
  const callbacks = new Map<ESTree.Node, OpenFunction["callback"]>();
  const name = (node: ESTree.Node | null | undefined, by: string | undefined) => {
    if (node && by !== undefined) names.set(node, by);
  };

  const enter = (node: FunctionNode) => {
    open.push({ testLines: 0, callback: callbacks.get(node) });
  };
  const leave = (node: FunctionNode) => {
    const { testLines, callback } = open.pop()!;
    if (callback === "group") return;
    const own = node.type === "ArrowFunctionExpression" ? undefined : node.id?.name;
    const lines = linesOf(text, node) - testLines;
    found.push({ name: own ?? names.get(node) ?? "anonymous", line: lineOf(text, node.start), lines });
  };
  const enterCall = (node: ESTree.CallExpression) => {
    const callee = calleeName(node.callee);
    const [first] = node.arguments;
    const title = first?.type === "Literal" && typeof first.value === "string" ? ` ${first.raw}` : "";
    const kind = hasTests ? testKind(callee) : undefined;
    for (const argument of node.arguments) {
      name(argument, `${callee}${title}`);
      callbacks.set(argument, kind);
    }
    if (kind === undefined) return;
    for (const around of open.toReversed()) {
      around.testLines += linesOf(text, node);
      if (around.callback !== undefined) break;
    }
  };

  new Visitor({
    VariableDeclarator: (node) => name(node.init, keyName(node.id)),
    AssignmentExpression: (node) => name(node.right, keyName(node.left)),
    Property: (node) => name(node.value, keyName(node.key)),
    PropertyDefinition: (node) => name(node.value, keyName(node.key)),
    MethodDefinition: (node) => name(node.value, keyName(node.key)),
    JSXAttribute: (node) => {
      if (node.value?.type === "JSXExpressionContainer") name(node.value.expression, keyName(node.name));
    },
    CallExpression: enterCall,
    FunctionDeclaration: enter,
    FunctionExpression: enter,
    ArrowFunctionExpression: enter,
    "FunctionDeclaration:exit": leave,
    "FunctionExpression:exit": leave,
    "ArrowFunctionExpression:exit": leave,
  }).visit(parseSource(file, text));
  return found;
}

function linesOf(text: string, node: ESTree.Node): number {
  let lines = 1;
  for (let at = text.indexOf("\n", node.start); at !== -1 && at < node.end; at = text.indexOf("\n", at + 1)) {
    lines += 1;
  }
  return lines;
}

function keyName(node: ESTree.Node): string | undefined {
  if (node.type === "Identifier" || node.type === "PrivateIdentifier" || node.type === "JSXIdentifier")
    return node.name;
  if (node.type === "Literal") return String(node.value);
  return node.type === "MemberExpression" ? keyName(node.property) : undefined;
}

/** `it` of `it(…)`, `it.each` of `it.each(…)(…)`, `then` of `f().then(…)`. */
function calleeName(callee: ESTree.Node): string {
  if (callee.type === "CallExpression") return calleeName(callee.callee);
  if (callee.type === "TaggedTemplateExpression") return calleeName(callee.tag);
  if (callee.type !== "MemberExpression") return keyName(callee) ?? "anonymous";
  const property = keyName(callee.property) ?? "anonymous";
  const object = calleeName(callee.object);
  return testKind(object) === undefined ? property : `${object}.${property}`;
}

function testKind(callee: string): OpenFunction["callback"] {
  const [root] = callee.split(".");
  if (root === "describe") return "group";
  return root === "it" || root === "test" ? "test" : undefined;
}
