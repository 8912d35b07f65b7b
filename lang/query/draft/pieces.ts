import { findKeyedField, findRunField } from "../fields.ts";
import { isKeyword } from "../keywords.ts";
import { isMe } from "../parse-literal.ts";
import { type DraftToken, tokenizeDraft } from "../lexer.ts";

/** A piece of a query, for highlighting and completion. */
export interface Piece {
  kind: "field" | "keyword" | "operator" | "text" | "number" | "space" | "other";
  text: string;
  at: number;
}

/** All pieces of a query, which may be incomplete. An invalid piece has the type that it began as. */
export function piecesOf(query: string): Piece[] {
  const pieces: Piece[] = [];
  let done = 0;
  for (const token of tokenizeDraft(query)) {
    if (token.at > done) pieces.push({ kind: "space", text: query.slice(done, token.at), at: done });
    const text = query.slice(token.at, token.end);
    if (text !== "") pieces.push({ kind: kindOf(token, text), text, at: token.at });
    done = token.end;
  }
  return pieces;
}

function kindOf(token: DraftToken, text: string): Piece["kind"] {
  switch (token.kind === "invalid" ? token.meant : token.kind) {
    case "path":
      return findKeyedField(text.slice(0, text.indexOf("."))) === undefined ? "other" : "field";
    case "word":
      if (isKeyword(text) || isMe(text)) return "keyword";
      return (findRunField(text) ?? findKeyedField(text)) === undefined ? "other" : "field";
    case "string":
      return "text";
    case "number":
    case "span":
      return "number";
    case "symbol":
      return token.kind === "invalid" ? "other" : "operator";
    case "end":
      return "other";
  }
}
