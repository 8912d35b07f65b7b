import { type ESTree, Visitor } from "vite";

import { lineOf, parseSource } from "../parse-source.ts";

export interface PortSize {
  name: string;
  path: string;
  line: number;
  /** Its own and inherited ones. A capability, which is a property, is a port of its own. */
  methods: number;
}

interface Port {
  path: string;
  line: number;
  methods: Set<string>;
  parents: string[];
}

/** The methods of each interface in these files, which may inherit from each other. */
export function measurePorts(files: readonly { path: string; text: string }[]): PortSize[] {
  const ports = new Map<string, Port>();
  for (const { path, text } of files) {
    new Visitor({
      TSInterfaceDeclaration: (node) => {
        const methods = new Set(node.body.body.filter(isMethod).map(nameOf));
        ports.set(node.id.name, {
          path,
          line: lineOf(text, node.start),
          methods,
          parents: node.extends.flatMap(({ expression }) =>
            expression.type === "Identifier" ? [expression.name] : [],
          ),
        });
      },
    }).visit(parseSource(path, text));
  }
  const methodsOf = (name: string): string[] => {
    const port = ports.get(name);
    return port === undefined ? [] : [...port.methods, ...port.parents.flatMap(methodsOf)];
  };
  return [...ports].map(([name, { path, line }]) => ({
    name,
    path,
    line,
    methods: new Set(methodsOf(name)).size,
  }));
}

function isMethod(member: ESTree.TSSignature): boolean {
  if (member.type === "TSMethodSignature") return true;
  return (
    member.type === "TSPropertySignature" && member.typeAnnotation?.typeAnnotation.type === "TSFunctionType"
  );
}

function nameOf(member: ESTree.TSSignature): string {
  const isNamed = member.type === "TSMethodSignature" || member.type === "TSPropertySignature";
  return isNamed && member.key.type === "Identifier" ? member.key.name : "";
}
