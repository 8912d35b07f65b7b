/**
 * Runs inside a page before anything of it, and measures there: a clock on the other side of a debugger's connection would
 * measure that connection. Everything is in milliseconds of the page's own clock, 0 at its navigation.
 */
// oxlint-disable no-undef
globalThis.probe = (() => {
  const nextTask = (call) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener("message", () => call(performance.now()), { once: true });
    port1.start();
    port2.postMessage(0);
  };
  /** Calls back when what is in the document now has been painted: in the task after the next frame. */
  const afterPaint = (call) => requestAnimationFrame(() => nextTask(call));

  const table = () => document.querySelector('[aria-label="Runs"][aria-rowcount]');
  const rows = () => [...(table()?.querySelectorAll('[role="row"][aria-selected]') ?? [])];
  const firstRows = () =>
    rows()
      .slice(0, 3)
      .map((row) => row.querySelector("a")?.getAttribute("href") ?? "")
      .join(" ");

  /** The next key or click, until other rows have been painted. */
  const rowsChange = () =>
    new Promise((resolve) => {
      const begin = (event) => {
        removeEventListener("keydown", begin, true);
        removeEventListener("click", begin, true);
        const before = firstRows();
        const look = () => {
          const now = firstRows();
          if (now === before || now.trim() === "") return;
          observer.disconnect();
          afterPaint((atMs) => resolve(atMs - event.timeStamp));
        };
        const observer = new MutationObserver(look);
        observer.observe(document.body, { subtree: true, childList: true, attributes: true });
      };
      addEventListener("keydown", begin, true);
      addEventListener("click", begin, true);
    });

  /** Whether a row in sight is missing, or has not come. */
  const isBlank = () => {
    const scroller = table();
    if (scroller === null) return true;
    const from = scroller.scrollTop;
    const end = Math.min(from + scroller.clientHeight - 28, (Number(scroller.ariaRowCount) - 1) * 28);
    let seen = 0;
    for (const row of rows()) {
      const top = Number(/translateY\(([\d.]+)px\)/.exec(row.style.transform)?.[1]);
      if (top + 28 <= from || top >= end) continue;
      if (row.querySelector("a") === null) return true;
      seen += Math.min(top + 28, end) - Math.max(top, from);
    }
    return seen < end - from - 1;
  };

  const longTasks = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) longTasks.push({ startTime, duration });
  }).observe({ type: "longtask" });

  /** Looks after each frame until it is stopped: how long frames take, and how long rows stay blank. */
  const watchFrames = (look = false) => {
    const startMs = performance.now();
    const frames = [];
    const blanks = [];
    let [last, blankSince, isOn] = [0, undefined, true];
    const frame = (atMs) => {
      if (!isOn) return;
      if (last !== 0) frames.push(atMs - last);
      last = atMs;
      requestAnimationFrame(frame);
      if (look) nextTask(() => lookFor(atMs));
    };
    const lookFor = (atMs) => {
      if (isBlank()) blankSince ??= atMs;
      else if (blankSince !== undefined) {
        blanks.push(atMs - blankSince);
        blankSince = undefined;
      }
    };
    requestAnimationFrame(frame);
    return () => {
      isOn = false;
      if (blankSince !== undefined) blanks.push(performance.now() - blankSince);
      const long = longTasks.filter(({ startTime }) => startTime >= startMs).map(({ duration }) => duration);
      return { frames, blanks, long };
    };
  };

  /** From a jump of the scroll bar to rows without a gap. */
  const jump = (part) =>
    new Promise((resolve) => {
      const scroller = table();
      const startMs = performance.now();
      scroller.scrollTop = part * (scroller.scrollHeight - scroller.clientHeight);
      const look = () => (isBlank() ? afterPaint(look) : resolve(performance.now() - startMs));
      afterPaint(look);
    });

  const until = (isThere) =>
    new Promise((resolve) => {
      const look = () => {
        if (!isThere()) return;
        observer.disconnect();
        afterPaint(resolve);
      };
      const observer = new MutationObserver(look);
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      look();
    });

  const charts = () => [...document.querySelectorAll('[role="img"][aria-label*=" by step, "]')];
  /** Lines are drawn in the same commit as their number. */
  const chartsOf = (count, lines) =>
    until(() => charts().filter(({ ariaLabel }) => ariaLabel.includes(`, ${lines} lines`)).length >= count);
  /** How many charts hold a pixel of a line. */
  const paintedCharts = () =>
    charts().filter((chart) => {
      const canvas = chart.querySelectorAll("canvas")[1];
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.some((part) => part !== 0);
    }).length;

  /** When each number was painted that a chart or a cell shows as the last of a metric, by the clock of the machine. */
  const watchNumbers = () => {
    const drawn = { chart: [], table: [] };
    const note = (place, value) => {
      const times = drawn[place];
      if (!(value >= times.length)) return;
      const first = times.length;
      times.length = value + 1;
      afterPaint(() => times.fill(Date.now(), first));
    };
    const look = () => {
      for (const { ariaLabel } of charts())
        note("chart", Number(/ last ([\d,]+)/.exec(ariaLabel)?.[1].replaceAll(",", "")));
      for (const cell of table()?.querySelectorAll('[role="gridcell"]:last-child') ?? [])
        if (/^[\d,]+$/.test(cell.textContent)) note("table", Number(cell.textContent.replaceAll(",", "")));
    };
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
    look();
    return drawn;
  };

  /** Until what was painted so far is at least this number, in both places. */
  const numbersPainted = (drawn, value) =>
    new Promise((resolve) => {
      const look = () =>
        drawn.chart[value] > 0 && drawn.table[value] > 0 ? resolve() : requestAnimationFrame(look);
      look();
    });

  return {
    numbersPainted,
    rowsChange,
    firstRows,
    watchFrames,
    jump,
    until,
    chartsOf,
    paintedCharts,
    watchNumbers,
    isBlank,
  };
})();
