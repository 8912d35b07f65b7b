import {
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type Ref,
} from "react";
import { limits } from "#lang/limits.ts";
import { accept, completeQuery, type Option } from "#lang/query/draft/completion.ts";
import { piecesOf } from "#lang/query/draft/pieces.ts";
import { Failure } from "#sdk/failure.ts";
import { SentTexts } from "../../widgets/fields/sent-texts.ts";
import { cutText, visibleLines, visibleText } from "../../prepare/visible-text.ts";
import type { KnownKeys } from "../../data/runs/known-keys.ts";
import { X } from "../../widgets/icons/icons.ts";
import styles from "./query-bar.module.css";

interface QueryBarProps {
  ref?: Ref<{ focus: () => void }>;
  /** The one in the address. */
  query: string;
  known: KnownKeys | undefined;
  failure: unknown;
  onSubmit: (query: string) => void;
  /** On to the table. */
  onLeave: () => void;
}

const OPTION_LENGTH_MAX = 120;
const NONE: readonly Option[] = [];

/** A query field. Enter runs the query; errors are shown below, at their column. */
export function QueryBar({ ref, query, known, failure, onSubmit, onLeave }: QueryBarProps) {
  const input = useRef<HTMLInputElement>(null);
  const paint = useRef<HTMLDivElement>(null);
  const id = useId();
  const { typed, type, options, chosen, close, put, submit, onKeyDown } = useQueryText(
    { query, known, onSubmit, onLeave },
    input,
  );
  useImperativeHandle(ref, () => ({
    focus: () => {
      input.current?.focus();
      input.current?.select();
    },
  }));

  const listId = `${id}-options`;
  return (
    <div className={styles.bar} role="search">
      <div className={failure === undefined ? styles.field : `${styles.field} ${styles.wrong}`}>
        <div className={styles.paint} ref={paint} aria-hidden>
          <Painted query={typed} />
        </div>
        <input
          ref={input}
          className={styles.input}
          value={typed}
          maxLength={limits.queryBytesMax}
          placeholder='Find runs: params.lr <= 1e-3 and status = "finished"'
          aria-label="Query"
          role="combobox"
          aria-expanded={options.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={chosen >= 0 ? `${listId}-${chosen}` : undefined}
          aria-invalid={failure !== undefined || undefined}
          aria-describedby={failure === undefined ? undefined : `${id}-wrong`}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => type(target.value, target.selectionStart ?? target.value.length)}
          onScroll={(event) => {
            if (paint.current) paint.current.scrollLeft = event.currentTarget.scrollLeft;
          }}
          onKeyDown={onKeyDown}
          onBlur={close}
        />
        {typed !== "" && (
          <button
            type="button"
            className={styles.clear}
            aria-label="Clear the query"
            onClick={() => submit("")}
          >
            <X size={14} aria-hidden />
          </button>
        )}
      </div>
      <Completions id={listId} options={options} chosen={chosen} onPut={put} />
      {failure !== undefined && <QueryFault id={`${id}-wrong`} failure={failure} />}
    </div>
  );
}

/** State of the text and its completions, and the handling of keys. */
function useQueryText(
  { query, known, onSubmit, onLeave }: Omit<QueryBarProps, "ref" | "failure">,
  input: { current: HTMLInputElement | null },
) {
  const [typed, setTyped] = useState(query);
  const [cursor, setCursor] = useState<number>();
  const [chosen, setChosen] = useState(-1);
  const [sent] = useState(() => new SentTexts());
  const [caret, setCaret] = useState<{ at: number }>();
  // Back, a header or a link has changed it. The address is updated late: by then more may have been typed.
  useLayoutEffect(() => {
    if (!sent.takeBack(query)) setTyped(query);
  }, [query, sent]);
  // Set before the next letter, which belongs after the completion.
  useLayoutEffect(() => {
    if (caret !== undefined) input.current?.setSelectionRange(caret.at, caret.at);
  }, [caret]);

  const completion =
    cursor === undefined || known === undefined ? undefined : completeQuery(typed, cursor, known);
  const options = completion?.options ?? NONE;
  const close = () => {
    setCursor(undefined);
    setChosen(-1);
  };
  const put = (option: Option) => {
    const next = accept(typed, completion!, option);
    setTyped(next.query);
    setCursor(next.cursor);
    setChosen(-1);
    setCaret({ at: next.cursor });
  };
  const submit = (text: string) => {
    const asked = text.trim();
    close();
    setTyped(asked);
    if (asked !== sent.latest(query)) sent.send(asked);
    onSubmit(asked);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key } = event;
    if ((key === "ArrowDown" || key === "ArrowUp") && options.length > 0) {
      const step = key === "ArrowDown" ? 1 : -1;
      // One place more than there are options: none of them.
      setChosen(((chosen + 1 + step + options.length + 1) % (options.length + 1)) - 1);
    } else if (key === "ArrowDown") setCursor(event.currentTarget.selectionStart ?? typed.length);
    else if (key === "Tab" && !event.shiftKey && options.length > 0) put(options[Math.max(0, chosen)]!);
    else if (key === "Enter" && chosen >= 0) put(options[chosen]!);
    else if (key === "Enter") submit(typed);
    else if (key === "Escape" && options.length > 0) close();
    else if (key === "Escape" && typed !== query) setTyped(query);
    else if (key === "Escape") onLeave();
    else return;
    event.preventDefault();
  };
  const type = (text: string, at: number) => {
    setTyped(text);
    setCursor(at);
    setChosen(-1);
  };
  return { typed, type, options, chosen, close, put, submit, onKeyDown };
}

function Painted({ query }: { query: string }) {
  return piecesOf(query).map(({ kind, text, at }) => (
    <span key={at} className={styles[`as-${kind}`]}>
      {text}
    </span>
  ));
}

function Completions({
  id,
  options,
  chosen,
  onPut,
}: {
  id: string;
  options: readonly Option[];
  chosen: number;
  onPut: (option: Option) => void;
}) {
  return (
    <ul
      id={id}
      role="listbox"
      aria-label="Completions"
      className={options.length > 0 ? styles.options : styles.none}
    >
      {options.map((option, i) => (
        <li
          key={option.text}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === chosen}
          className={styles.option}
          // Before the field loses the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onPut(option);
          }}
        >
          <span className={styles.optionText}>{visibleText(cutText(option.text, OPTION_LENGTH_MAX))}</span>
          <span className={styles.hint}>{option.hint}</span>
        </li>
      ))}
    </ul>
  );
}

/** The message of the server, which quotes the query and points at the column. */
function QueryFault({ id, failure }: { id: string; failure: unknown }) {
  const { message, hint } = Failure.from(failure, location.origin);
  const said = visibleLines(message);
  const end = `${said}\n`.indexOf("\n");
  return (
    <div id={id} className={styles.fault} role="alert">
      <p className={styles.said}>{said.slice(0, end)}</p>
      {/* Not wrapped: the mark must be below its column. */}
      <pre>{said.slice(end + 1)}</pre>
      {hint !== "" && <p>{visibleText(hint)}</p>}
    </div>
  );
}
