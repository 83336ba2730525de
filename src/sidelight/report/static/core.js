// What all scripts of a page share: numbers as a reader wants them, packed arrays, files, colours, terms.
"use strict";
globalThis.Sidelight = globalThis.Sidelight || {};
(function (S) {
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

  /** Ten to the exponent in plain characters. */
  S.power = (exponent) =>
    "10" + String(exponent).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : SUPERSCRIPTS[+c]));

  const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  /** Thousands apart. */
  S.whole = (value) => whole.format(value);

  /** Thousands apart, four digits or so: the same as report/text.py. */
  S.number = (value) => {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    if (size >= 1e7) {
      const exponent = Math.floor(Math.log10(size));
      return `${+(value / 10 ** exponent).toPrecision(3)}·${S.power(exponent)}`;
    }
    return size >= 100 ? S.whole(value) : String(+value.toPrecision(3));
  };

  S.percent = (share) => (share >= 0.0995 ? `${Math.round(100 * share)} %` : `${+(100 * share).toPrecision(2)} %`);

  // -- packed arrays ----------------------------------------------------------------------------------

  function bytes(text) {
    const binary = atob(text);
    const found = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) found[i] = binary.charCodeAt(i);
    return found.buffer;
  }

  /** Arrays are little-endian, as is every machine with a browser. */
  S.floats = (text) => new Float32Array(bytes(text));
  S.integers = (text, size) => new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[size](bytes(text));

  /** Shares as report/data.py packs them, on a log scale. */
  const SHADES_PER_OCTAVE = 2048, LARGEST_SHADE = 65535;
  S.shares = (shades) => Float32Array.from(shades, (shade) => (shade ? 2 ** ((shade - LARGEST_SHADE) / SHADES_PER_OCTAVE) : 0));

  /** The position of the last entry of an increasing array that is at most `value`, 0 if there is none. */
  S.before = (sorted, value) => {
    let low = 0, high = sorted.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (sorted[middle] <= value) low = middle; else high = middle - 1;
    }
    return low;
  };

  /** The position of the entry that is nearest to `value` as a ratio. */
  S.nearest = (sorted, value) => {
    const at = S.before(sorted, value);
    return at + 1 < sorted.length && sorted[at + 1] * sorted[at] < value * value ? at + 1 : at;
  };

  // -- elements ---------------------------------------------------------------------------------------

  /** An element with properties and children; text becomes text, never markup. */
  S.make = (tag, properties, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
      if (name.startsWith("aria") || name.startsWith("data-") || name === "scope" || name === "role" || name === "for") element.setAttribute(name, value);
      else element[name] = value;
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  };

  S.id = (name) => document.getElementById(name);

  S.options = (select, names, chosen) => {
    select.replaceChildren(...names.map(([value, text]) => S.make("option", { value: String(value), textContent: text, selected: value === chosen })));
  };

  // -- files ------------------------------------------------------------------------------------------

  function field(value) {
    if (value === null || value === undefined) return "";
    let text = String(value);
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = "'" + text; // no formula for a spreadsheet
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  S.csv = (columns, rows) => [columns, ...rows].map((row) => row.map(field).join(",")).join("\n") + "\n";

  S.download = (name, text, type) => {
    const url = URL.createObjectURL(new Blob([text], { type: type || "text/csv" }));
    const link = S.make("a", { href: url, download: name.replace(/[^\w.-]+/g, "-") });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };

  S.copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = S.make("textarea", { value: text, className: "hidden" });
      document.body.append(area);
      area.select();
      document.execCommand("copy"); // where the clipboard is not allowed: a page opened from disk
      area.remove();
    }
  };

  // -- colours ----------------------------------------------------------------------------------------

  const themed = new Set();
  const known = new Map();
  /** The value of a colour of the style sheet. */
  S.colour = (name) => {
    if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
    return known.get(name);
  };
  /** Call `redraw` whenever colours change: dark and light, screen and paper. */
  S.onTheme = (redraw) => themed.add(redraw);
  const retheme = () => {
    known.clear();
    themed.forEach((redraw) => redraw());
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", retheme);
  matchMedia("print").addEventListener("change", retheme);

  /** A colour between two of the style sheet, as rgb. */
  S.mix = (from, to, share) => {
    const parse = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    const [a, b] = [parse(from), parse(to)];
    return `rgb(${a.map((value, k) => Math.round(value + (b[k] - value) * share)).join(",")})`;
  };

  /** A canvas as sharp as the screen; returns its context in units of the page. */
  S.sharp = (canvas, width, height) => {
    const ratio = globalThis.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  };

  /** At most once for each frame. */
  S.framed = (work) => {
    let waiting = false;
    return () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; work(); });
    };
  };

  S.pending = 0;
  /** At once, then at most once in `pause()` milliseconds, the last call never lost: for tables beside a moving pointer. */
  S.paced = (pause, work) => {
    let timer = null, last = -Infinity, latest = null;
    const run = () => { timer = null; last = performance.now(); work(...latest); };
    return (...values) => {
      latest = values;
      if (timer !== null) return;
      const wait = last + pause() - performance.now();
      if (wait <= 0) { run(); return; }
      S.pending++;
      timer = setTimeout(() => { S.pending--; run(); }, wait);
    };
  };

  /** Set a text only where it is another: a page whose layout stays is a page that moves. */
  S.say = (element, text) => { if (element.textContent !== text) element.textContent = text; };

  // -- buttons and terms ------------------------------------------------------------------------------

  /** A button that is on or off. */
  S.toggle = (button, change) => {
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      change(on);
    });
  };

  /** Terms are explained where they stand: the entry of the glossary beside the word. */
  S.terms = () => {
    const popover = S.id("term-popover");
    if (!popover || !popover.showPopover) return; // their links lead to the glossary
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a.term");
      if (!link) return;
      const entry = S.id(link.hash.slice(1));
      if (!entry) return;
      event.preventDefault();
      const close = S.make("button", { type: "button", textContent: "Close" });
      close.addEventListener("click", () => { popover.hidePopover(); link.focus(); });
      const title = S.make("strong", { textContent: entry.textContent });
      popover.replaceChildren(title, ...[...entry.nextElementSibling.children].map((child) => child.cloneNode(true)), close);
      popover.showPopover();
      const word = link.getBoundingClientRect(), box = popover.getBoundingClientRect();
      const below = word.bottom + 8 + box.height < innerHeight || word.top < box.height + 8;
      popover.style.left = `${Math.max(8, Math.min(word.left, innerWidth - box.width - 8))}px`;
      popover.style.top = `${Math.max(8, below ? Math.min(word.bottom + 8, innerHeight - box.height - 8) : word.top - box.height - 8)}px`;
      popover.focus({ preventScroll: true });
    });
  };
})(globalThis.Sidelight);
