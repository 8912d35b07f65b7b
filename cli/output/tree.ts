/** A thing with things below it. */
export interface Branch {
  text: string;
  children: readonly Branch[];
}

/** Lines with box characters, such as "├─ asr"; the roots are at the margin. */
export function treeLines(roots: readonly Branch[]): string[] {
  return roots.flatMap((root) => [root.text, ...below(root, "")]);
}

function below({ children }: Branch, indent: string): string[] {
  return children.flatMap((child, i) => {
    const isLast = i === children.length - 1;
    const line = `${indent}${isLast ? "└─ " : "├─ "}${child.text}`;
    return [line, ...below(child, `${indent}${isLast ? "   " : "│  "}`)];
  });
}
