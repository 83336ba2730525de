// The page of finished results: choose a comparison, and everything about it follows; then the round, and ledger and plays follow.
"use strict";
(function (S) {
  const MOST_NAMED = 30, MOST_PLAYED = 3;
  const FAR_APART = 15; // as in report/figures/ledger.py

  /** Which share of its plays a policy spent on each arm, up to some rounds and to the end. */
  class Plays {
    constructor(comparison, { plays, plays_over: over }) {
      this.end = S.floats(plays);
      this.rounds = [...(over ? comparison.rounds[over.rounds] : []), comparison.horizon];
      this.shades = over ? S.integers(over.shares, 2) : null;
    }

    /** The least share of all rounds that is some, and the largest: a colour means the same in each of them. */
    get range() {
      if (!this.ends) {
        let low = Infinity, high = 0;
        const take = (share) => {
          if (share > 0 && share < low) low = share;
          if (share > high) high = share;
        };
        this.end.forEach(take);
        if (this.shades) {
          let [least, most] = [Infinity, 0];
          for (const shade of this.shades) {
            if (shade && shade < least) least = shade;
            if (shade > most) most = shade;
          }
          S.shares([least, most]).forEach(take);
        }
        this.ends = [low, high];
      }
      return this.ends;
    }

    /** By the last of these rounds that is not after `round`. */
    at(round) {
      const k = S.before(this.rounds, round), n = this.end.length;
      if (k !== this.known?.k) this.known = { k, round: this.rounds[k], shares: k === this.rounds.length - 1 ? this.end : S.shares(this.shades.subarray(k * n, (k + 1) * n)) };
      return this.known;
    }
  }

  /** The arms with the largest shares, from the largest. */
  function largest(shares, count) {
    const found = [];
    shares.forEach((share, arm) => {
      if (!(share > 0) || (found.length === count && share <= found[count - 1][1])) return;
      const place = found.findIndex(([, other]) => other < share);
      found.splice(place < 0 ? found.length : place, 0, [arm, share]);
      found.length = Math.min(found.length, count);
    });
    return found;
  }

  S.Explorer = class {
    constructor(data) {
      this.data = data;
      this.redraw = S.framed(() => this.#redraw());
      this.redrawStrips = S.framed(() => this.#drawStrips());
      this.hidden = new Set();
      this.pinned = new Set();
      for (const element of document.querySelectorAll("[data-script]")) element.hidden = false;
      this.#board();
      if (data.comparisons.length) {
        // a table of sixty rows takes as long to lay out as several frames: it is shown as often as they can spare
        const values = S.paced(() => 5 * this.rows.length, (x, curve) => this.#values(x, curve));
        const ledger = S.paced(() => 12 * this.ledgers.length, (x) => this.#ledger(x));
        const plays = S.paced(() => 12 * this.played.length, (x) => this.#playsAt(x));
        const shade = S.paced(() => this.graph.n / 100, (x) => this.#follow(x));
        const moved = (x, curve) => {
          values(x, curve);
          ledger(x);
          plays(x);
          if (this.graph) shade(x);
        };
        this.chart = new S.Chart(S.id("regret-plot"), { moved });
        this.#controls();
      }
      if (S.id("graph-canvas")) this.#graphs();
      if (S.id("growth-plot")) this.#growths();
      if (data.comparisons.length) {
        this.#show(this.#linked() ?? 0);
        addEventListener("hashchange", () => {
          const at = this.#linked();
          if (at !== null) this.#show(at);
          if (at !== null) S.id("explore").scrollIntoView();
        });
      } else if (this.graph) this.#showGraph(Object.keys(data.graphs)[0]);
      S.onTheme(() => this.redraw());
      addEventListener("resize", this.redraw);
    }

    #linked() {
      const found = /^#comparison-(\d+)$/.exec(location.hash);
      return found && this.data.comparisons[found[1] - 1] ? found[1] - 1 : null;
    }

    // -- leaderboard ----------------------------------------------------------------------------------

    #board() {
      const { table, latex } = this.data;
      S.id("table-csv")?.addEventListener("click", () => S.download("results.csv", S.csv(table.columns, table.rows)));
      S.id("copy-latex")?.addEventListener("click", async () => {
        await S.copy(latex);
        S.id("copied").textContent = "Copied.";
        setTimeout(() => { S.id("copied").textContent = ""; }, 3000);
      });
    }

    // -- which comparison -----------------------------------------------------------------------------

    #controls() {
      for (const field of ["graph", "environment", "horizon"]) {
        S.id(`choose-${field}`).addEventListener("change", (event) => this.#choose(field, event.target.value));
      }
      for (const [id, option] of [["log-x", "logX"], ["log-y", "logY"], ["show-bands", "bands"], ["show-bounds", "bounds"], ["show-certificates", "certificates"]]) {
        S.toggle(S.id(id), (on) => this.chart.set(option, on));
      }
      S.id("zoom-in").addEventListener("click", () => this.chart.zoom(0.5));
      S.id("zoom-out").addEventListener("click", () => this.chart.zoom(2));
      S.id("zoom-reset").addEventListener("click", () => this.chart.all());
      for (const slider of this.#sliders()) slider.addEventListener("input", () => this.chart.go(this.chart.grid.x[slider.value]));
      S.id("round-number").addEventListener("change", (event) => this.chart.go(Math.max(1, Number(event.target.value) || 1)));
      S.id("show-all").addEventListener("click", () => this.#hideAll(() => false));
      S.id("show-pinned").addEventListener("click", () => this.#hideAll((name) => this.pinned.size > 0 && !this.pinned.has(name)));
      const named = (kind) => `${kind}-${this.comparison.graph}-${this.comparison.environment}-${this.comparison.horizon}.csv`;
      S.id("regret-csv").addEventListener("click", () => S.download(named("regret"), S.csv(...this.chart.table())));
      S.id("ledger-csv").addEventListener("click", () => S.download(named("ledger"), S.csv(...this.#ledgerTable())));
      S.id("plays-csv").addEventListener("click", () => S.download(named("plays"), S.csv(...this.#playsTable())));
      S.id("promises-csv").addEventListener("click", () => S.download(named("promises"), S.csv(...this.#promisesTable())));
    }

    /** The comparison with this value, and as much as possible of what was chosen before. */
    #choose(field, value) {
      const now = this.comparison;
      const alike = (one) => ["graph", "environment", "horizon"].filter((name) => one[name] === now[name]).length;
      let best = null;
      this.data.comparisons.forEach((one, k) => {
        if (String(one[field]) === value && (best === null || alike(one) > alike(this.data.comparisons[best]))) best = k;
      });
      this.#show(best);
      history.replaceState(null, "", `#comparison-${best + 1}`);
    }

    #show(at) {
      const comparison = this.data.comparisons[at];
      this.comparison = comparison;
      this.round = comparison.horizon;
      for (const field of ["graph", "environment", "horizon"]) {
        const values = [...new Set(this.data.comparisons.map((one) => one[field]))];
        S.options(S.id(`choose-${field}`), values.map((v) => [v, field === "horizon" ? S.whole(v) : v]), comparison[field]);
      }
      const anchor = `comparison-${at + 1}`;
      for (const element of document.querySelectorAll(".comparison")) element.hidden = element.id !== anchor;
      for (const element of document.querySelectorAll(".comparison-table")) element.hidden = element.dataset.of !== anchor;
      for (const element of document.querySelectorAll(".bounds")) {
        element.hidden = element.dataset.graph !== comparison.graph || Number(element.dataset.horizon) !== comparison.horizon;
      }
      const section = S.id("bounds");
      if (section) section.hidden = ![...section.querySelectorAll(".bounds")].some((element) => !element.hidden);
      this.curves = comparison.cells.map((cell) => this.#curve(comparison, cell));
      S.id("panels").hidden = !comparison.rounds.length;
      this.#readout();
      if (comparison.rounds.length) {
        this.chart.hidden = this.hidden;
        this.chart.pinned = this.pinned;
        const end = comparison.horizon;
        this.chart.show({
          x: "round t", y: "regret", column: "round", curves: this.curves, since: true, guide: true, longRun: comparison.long_run,
          floor: comparison.floor > 0 ? { at: end, value: comparison.floor } : null,
        });
        for (const slider of this.#sliders()) {
          slider.max = this.chart.grid.x.length - 1;
          slider.value = slider.max;
        }
        S.id("round-number").max = end;
      }
      this.#plays();
      this.#promises();
      if (this.graph && this.data.graphs[comparison.graph]) this.#showGraph(comparison.graph);
      if (this.growth) {
        const fitting = this.data.growth.findIndex((one) => one.graphs.includes(comparison.graph) && one.environment === comparison.environment);
        this.#showGrowth(Math.max(0, fitting));
      }
    }

    #curve(comparison, cell) {
      const policy = this.data.policies[cell.policy];
      const common = { name: policy.name, colour: policy.colour, dash: policy.dash, cell, plays: cell.plays && new Plays(comparison, cell) };
      if (!cell.mean) return common;
      const x = comparison.rounds[cell.rounds];
      const { stride } = this.data;
      const kept = x.filter((_, k) => (x.length - 1 - k) % stride === 0);
      const regret = S.floats(cell.regret);
      return {
        ...common, x, kept,
        mean: S.floats(cell.mean),
        half: cell.half && S.floats(cell.half),
        certificate: cell.certificate && S.floats(cell.certificate),
        ledger: cell.ledger && S.floats(cell.ledger),
        bound: cell.bound && { at: comparison.horizon, value: cell.bound.value, certified: cell.bound.certified },
        seeds: cell.seeds.map((name, k) => ({ name, x: kept, y: regret.subarray(k * kept.length, (k + 1) * kept.length) })),
      };
    }

    // -- at the round ---------------------------------------------------------------------------------

    #sliders() { return ["round-slider", "graph-slider"].map(S.id).filter(Boolean); }

    #readout() {
      const body = S.id("readout").tBodies[0];
      this.rows = this.curves.map((curve) => {
        const box = S.make("input", { type: "checkbox", checked: !this.hidden.has(curve.name) });
        box.addEventListener("change", () => this.#hide(curve.name, !box.checked));
        const pin = S.make("button", { type: "button", textContent: "pin", "aria-pressed": String(this.pinned.has(curve.name)), "aria-label": `Pin ${curve.name}` });
        S.toggle(pin, (on) => {
          if (on) this.pinned.add(curve.name); else this.pinned.delete(curve.name);
          this.chart.follow();
        });
        const swatch = S.make("span", { className: `swatch c${curve.colour} d${curve.dash}`, "aria-hidden": "true" });
        const [mean, half] = [S.make("td", { className: "n" }), S.make("td", { className: "n" })];
        const row = S.make("tr", {}, S.make("th", { scope: "row" }, S.make("label", {}, box, swatch, curve.name)), mean, half, S.make("td", {}, pin));
        row.addEventListener("pointerenter", () => this.chart.point(curve.name));
        row.addEventListener("pointerleave", () => this.chart.point(null));
        return { curve, row, box, mean, half };
      });
      body.replaceChildren(...this.rows.map(({ row }) => row));
      this.#dim();
      this.#ledgerRows();
    }

    #hide(name, hidden) {
      if (hidden) this.hidden.add(name); else this.hidden.delete(name);
      this.chart.hide(name, hidden);
      this.#dim();
    }

    #hideAll(which) {
      for (const { curve, box } of this.rows) {
        box.checked = !which(curve.name);
        this.#hide(curve.name, !box.checked);
      }
    }

    #dim() { for (const { curve, row } of this.rows) row.classList.toggle("off", this.hidden.has(curve.name)); }

    #values(round, focus) {
      if (!this.comparison.rounds.length) return; // a comparison whose curves the page does not hold
      const text = S.whole(round);
      S.say(S.id("round-shown"), text);
      for (const slider of this.#sliders()) {
        slider.value = this.chart.at;
        slider.setAttribute("aria-valuetext", `round ${text}`);
      }
      if (document.activeElement !== S.id("round-number")) S.id("round-number").value = round;
      for (const { curve, row, mean, half } of this.rows) {
        const k = S.before(curve.x, round);
        S.say(mean, S.number(curve.mean[k]));
        S.say(half, curve.half ? S.number(curve.half[k]) : "–");
        row.classList.toggle("focus", curve === focus || this.pinned.has(curve.name));
      }
      this.#seeds(round, focus);
    }

    /** Every seed of the curve that is pointed at or pinned, else of the one with the least regret. */
    #seeds(round, focus) {
      const shown = this.curves.filter((curve) => !this.hidden.has(curve.name));
      const least = shown.reduce((best, curve) => (!best || curve.cell.final.mean < best.cell.final.mean ? curve : best), null);
      const curve = focus || shown.find((one) => this.pinned.has(one.name)) || least;
      S.say(S.id("seeds-title"), curve ? `Seeds of ${curve.name}` : "Seeds");
      if (!curve) { S.id("seeds").tBodies[0].replaceChildren(); S.id("seeds-note").textContent = ""; return; }
      const kept = curve.seeds[0].x, k = S.before(kept, round);
      const note = kept[k] === round ? "" : `At round ${S.whole(kept[k])}: this page keeps single seeds at every ${this.data.stride}th checkpoint.`;
      S.id("seeds-note").textContent = note;
      S.id("seeds-note").hidden = !note;
      const body = S.id("seeds").tBodies[0];
      while (body.rows.length > curve.seeds.length) body.deleteRow(-1);
      while (body.rows.length < curve.seeds.length) body.append(S.make("tr", {}, S.make("th", { scope: "row", className: "n" }), S.make("td", { className: "n" })));
      curve.seeds.forEach((seed, row) => {
        S.say(body.rows[row].cells[0], String(seed.name));
        S.say(body.rows[row].cells[1], S.number(seed.y[k]));
      });
    }

    // -- ledger ---------------------------------------------------------------------------------------

    #ledgerRows() {
      const kept = this.curves.filter((curve) => curve.ledger);
      const host = S.id("ledger");
      if (!kept.length) {
        host.replaceChildren(S.make("p", { className: "soft", textContent: "No policy of this comparison keeps a ledger." }));
        this.ledgers = [];
        return;
      }
      const keys = S.make("ul", { className: "keys", "aria-hidden": "true" }, ...this.data.ledger.map((name, part) => S.make("li", {}, S.make("i", { className: `p${part}` }), name)));
      const head = ["policy", "parts", ...this.data.ledger, "regret"];
      const rows = kept.map((curve) => {
        const parts = this.data.ledger.map((_, part) => S.make("i", { className: `p${part}` }));
        const total = S.make("b");
        const stack = S.make("div", { className: "stack", "aria-hidden": "true" }, ...parts, total);
        const texts = [...this.data.ledger, "regret"].map(() => S.make("td", { className: "n" }));
        const row = S.make("tr", {}, S.make("th", { scope: "row", textContent: curve.name, title: curve.name }), S.make("td", {}, stack), ...texts);
        return { curve, parts, total, texts, row };
      });
      this.ledgers = rows;
      const table = S.make("table", {}, S.make("thead", {}, S.make("tr", {}, ...head.map((name, k) => S.make("th", { scope: "col", className: k > 1 ? "n" : "", textContent: name })))),
        S.make("tbody", {}, ...rows.map(({ row }) => row)));
      host.replaceChildren(keys, S.make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Ledger" }, table));
    }

    #ledger(round) {
      if (!this.comparison.rounds.length) return;
      const found = this.ledgers.map(({ curve }) => {
        const k = S.before(curve.kept, round);
        const regret = curve.mean[S.before(curve.x, curve.kept[k])];
        return { at: curve.kept[k], values: Array.from(curve.ledger.subarray(4 * k, 4 * k + 4)), regret };
      });
      S.id("ledger-round").textContent = found.length ? S.whole(found[0].at) : "–";
      const totals = found.map(({ regret }) => regret);
      const apart = Math.min(...totals) > 0 && Math.max(...totals) > FAR_APART * Math.min(...totals);
      S.id("ledger-note").hidden = !apart;
      const bars = found.map(({ values, regret }) => (apart ? { values: values.map((v) => v / regret), regret: 1 } : { values, regret }));
      let low = 0, high = 0;
      for (const { values, regret } of bars) {
        low = Math.min(low, values.reduce((sum, v) => sum + Math.min(v, 0), 0));
        high = Math.max(high, values.reduce((sum, v) => sum + Math.max(v, 0), 0), regret);
      }
      const width = high - low || 1;
      found.forEach(({ values, regret }, at) => {
        const { parts, total, texts } = this.ledgers[at];
        let up = 0, down = 0;
        bars[at].values.forEach((value, part) => {
          const start = value >= 0 ? up : down + value;
          if (value >= 0) up += value; else down += value;
          parts[part].style.left = `${(100 * (start - low)) / width}%`;
          parts[part].style.width = `${(100 * Math.abs(value)) / width}%`;
        });
        total.style.left = `${(100 * (Math.max(bars[at].regret, low) - low)) / width}%`;
        [...values, regret].forEach((value, k) => S.say(texts[k], S.number(value)));
      });
    }

    #ledgerTable() {
      const rows = [];
      for (const { curve } of this.ledgers) {
        curve.kept.forEach((x, k) => rows.push([curve.name, x, ...curve.ledger.subarray(4 * k, 4 * k + 4), curve.mean[S.before(curve.x, x)]]));
      }
      return [["policy", "round", ...this.data.ledger.map((name) => name.replaceAll(" ", "_")), "regret"], rows];
    }

    // -- plays ----------------------------------------------------------------------------------------

    #plays() {
      const counted = this.curves.filter((curve) => curve.cell.most_played);
      const { labels } = this.data.graphs[this.comparison.graph] ?? {};
      this.played = counted.map((curve) => {
        const strip = S.make("canvas");
        strip.setAttribute("aria-hidden", "true");
        const when = S.make("span"), most = Array.from({ length: MOST_PLAYED }, () => S.make("span"));
        const said = S.make("td", { className: labels ? "most lines" : "most" }, when, ...most);
        const row = S.make("tr", {}, S.make("th", { scope: "row", textContent: curve.name }), S.make("td", {}, curve.plays ? S.make("div", { className: "drawn" }, strip) : ""), said);
        return { curve, strip, when, most, row };
      });
      if (!counted.length) {
        S.id("plays").replaceChildren(S.make("p", { className: "soft", textContent: "Plays were not counted." }));
      } else {
        const table = S.make("table", {}, S.make("thead", {}, S.make("tr", {}, ...["policy", "share of each arm", "arms played most"].map((name) => S.make("th", { scope: "col", textContent: name })))), S.make("tbody", {}, ...this.played.map(({ row }) => row)));
        S.id("plays").replaceChildren(S.make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Plays" }, table));
      }
      this.#playsAt(this.round);
    }

    #playsAt(round) {
      const { horizon } = this.comparison;
      const { labels } = this.data.graphs[this.comparison.graph] ?? {};
      this.played.forEach((one) => {
        const { round: at, shares } = one.curve.plays?.at(round) ?? { round: horizon };
        Object.assign(one, { at, shares });
      });
      const shown = this.played.find(({ curve }) => curve.plays)?.at ?? (this.played.length ? horizon : null);
      S.say(S.id("plays-round"), shown === null ? "–" : S.whole(shown));
      for (const { curve, at, shares, when, most } of this.played) {
        const arms = at === horizon ? curve.cell.most_played.slice(0, MOST_PLAYED) : largest(shares, MOST_PLAYED);
        S.say(when, at === shown ? "" : `up to round ${S.whole(at)}: `); // of results that have fewer rounds than others
        const texts = arms.map(([arm, share], k) => (labels ? `${S.percent(share)}: ${arm} (${labels[arm]})` : `${arm} ${S.percent(share)}${k + 1 < arms.length ? ", " : ""}`));
        most.forEach((span, k) => { S.say(span, texts[k] ?? ""); if (labels) span.title = texts[k] ?? ""; });
      }
      this.redrawStrips();
    }

    /** Darker is played more, on a log scale; arms from left to right, block by block, the most played one of each pixel. */
    #drawStrips() {
      const graph = this.data.graphs[this.comparison.graph];
      const blocks = graph?.block ? S.integers(graph.block, 4) : null;
      const palette = Array.from({ length: 65 }, (_, k) => S.mix(S.colour("from"), S.colour("to"), k / 64));
      const drawn = this.played.filter(({ shares }) => shares).map((one) => ({ ...one, width: one.strip.clientWidth || 160, height: one.strip.clientHeight || 17 }));
      let order = null;
      for (const { strip, shares, width, height } of drawn) {
        const n = shares.length, least = Math.min(1e-4, 0.3 / n);
        if (order?.length !== n) {
          order = Array.from(shares.keys());
          if (blocks) order.sort((a, b) => blocks[a] - blocks[b] || a - b);
        }
        const ctx = S.sharp(strip, width, height);
        const columns = Math.min(n, Math.ceil(width));
        const gap = width / columns > 6 ? 1 : 0;
        for (let column = 0; column < columns; column++) {
          let share = 0;
          for (let k = Math.floor((column * n) / columns); k < Math.floor(((column + 1) * n) / columns); k++) share = Math.max(share, shares[order[k]]);
          ctx.fillStyle = palette[share > 0 ? Math.round(64 * (1 - Math.log(Math.max(share, least)) / Math.log(least))) : 0];
          ctx.fillRect((column * width) / columns, 0, width / columns - gap, height);
        }
      }
    }

    #playsTable() {
      const labels = this.data.graphs[this.comparison.graph]?.labels;
      const rows = [];
      const add = (curve, round, shares) => { for (const [arm, share] of shares) rows.push([curve.name, round, arm, labels?.[arm] ?? null, share]); };
      for (const { curve } of this.played) {
        if (curve.plays) for (const round of curve.plays.rounds) add(curve, round, curve.plays.at(round).shares.entries());
        else add(curve, this.comparison.horizon, curve.cell.most_played);
      }
      return [["policy", "round", "arm", "label", "share"], rows];
    }

    // -- regret, certificate, bound -------------------------------------------------------------------

    #promises() {
      const { floor } = this.comparison;
      const values = this.curves.flatMap(({ cell }) => [cell.final.mean, cell.final.certificate, cell.bound?.value]).concat([floor]).filter((v) => v > 0);
      const [low, high] = [Math.min(...values) / 1.3, Math.max(...values) * 1.3];
      this.ranges = [];
      const rows = this.curves.map((curve) => {
        const { final, bound } = curve.cell;
        const canvas = S.make("canvas");
        canvas.setAttribute("aria-hidden", "true");
        this.ranges.push({ canvas, curve, low, high });
        const used = (of) => (of > 0 && final.mean > 0 ? S.percent(final.mean / of) : "–");
        const cells = [S.number(final.mean), S.number(final.certificate), used(final.certificate), S.number(bound?.value), used(bound?.value), bound ? bound.status : "no bound"];
        return S.make("tr", {}, S.make("th", { scope: "row", textContent: curve.name }), S.make("td", {}, S.make("div", { className: "drawn tall" }, canvas)), ...cells.map((text, k) => S.make("td", { className: k < 5 ? "n" : "", textContent: text })));
      });
      const head = ["policy", "on one scale", "regret", "certificate", "used", "bound", "used", "bound is"];
      const table = S.make("table", {}, S.make("thead", {}, S.make("tr", {}, ...head.map((name, k) => S.make("th", { scope: "col", className: k > 1 && k < 7 ? "n" : "", textContent: name })))), S.make("tbody", {}, ...rows));
      S.id("promises").replaceChildren(S.make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Regret, certificate and bound" }, table));
      this.redraw();
    }

    #drawRanges() {
      for (const { canvas, curve, low, high } of this.ranges) {
        const width = canvas.clientWidth || 220, height = canvas.clientHeight || 22;
        const ctx = S.sharp(canvas, width, height);
        const at = (v) => 8 + ((width - 16) * Math.log(v / low)) / Math.log(high / low);
        const middle = height / 2;
        const { final, bound } = curve.cell;
        const marks = [final.mean, final.certificate, bound?.value].filter((v) => v > 0);
        if (marks.length > 1) {
          ctx.strokeStyle = S.colour("line");
          ctx.lineWidth = 3;
          ctx.beginPath();
          ctx.moveTo(at(Math.min(...marks)), middle);
          ctx.lineTo(at(Math.max(...marks)), middle);
          ctx.stroke();
        }
        const colour = S.colour(`c${curve.colour}`);
        const shape = (value, points, filled, ink = colour) => {
          if (!(value > 0)) return;
          ctx.beginPath();
          points.forEach(([x, y]) => ctx.lineTo(at(value) + x, middle + y));
          ctx.closePath();
          ctx.fillStyle = filled ? ink : S.colour("panel");
          ctx.strokeStyle = ink;
          ctx.lineWidth = 1.5;
          ctx.fill();
          ctx.stroke();
        };
        shape(this.comparison.floor, [[0, -5], [5, 4], [-5, 4]], true, S.colour("soft"));
        shape(bound?.value, [[-6, -5], [6, -5], [0, 5]], bound?.certified);
        shape(final.certificate, [[0, -6], [6, 0], [0, 6], [-6, 0]], true);
        if (final.mean > 0) {
          ctx.beginPath();
          ctx.arc(at(final.mean), middle, 5, 0, 7);
          ctx.fillStyle = colour;
          ctx.strokeStyle = S.colour("panel");
          ctx.fill();
          ctx.stroke();
        }
      }
    }

    #promisesTable() {
      return [["policy", "regret", "half_interval", "certificate", "bound", "bound_certified", "bound_is", "lower_bound"],
        this.curves.map(({ name, cell: { final, bound } }) => [name, final.mean, final.half, final.certificate, bound?.value, bound?.certified, bound?.status ?? "none", this.comparison.floor])];
    }

    // -- the graph ------------------------------------------------------------------------------------

    #graphs() {
      this.graph = new S.Graph(S.id("graph-canvas"), { chosen: (arm) => this.#arm(arm) });
      S.id("graph-choose").addEventListener("change", (event) => this.#showGraph(event.target.value));
      S.id("graph-colour").addEventListener("change", () => this.#shade());
      S.id("graph-in").addEventListener("click", () => this.graph.zoom(1.5));
      S.id("graph-out").addEventListener("click", () => this.graph.zoom(1 / 1.5));
      S.id("graph-reset").addEventListener("click", () => this.graph.reset());
      S.id("graph-csv").addEventListener("click", () => S.download(`graph-${this.shownGraph}.csv`, S.csv(...this.#graphTable())));
      S.id("graph-arm").addEventListener("change", (event) => {
        const text = event.target.value.trim();
        const labels = this.data.graphs[this.shownGraph].labels;
        const arm = /^\d+$/.test(text) ? Number(text) : labels ? labels.findIndex((label) => label.toLowerCase().includes(text.toLowerCase())) : -1;
        this.graph.choose(text && arm >= 0 && arm < this.graph.n ? arm : null);
      });
    }

    #showGraph(name) {
      const graph = this.data.graphs[name];
      this.shownGraph = name;
      S.options(S.id("graph-choose"), Object.keys(this.data.graphs).map((one) => [one, one]), name);
      for (const element of document.querySelectorAll(".graph-facts")) element.hidden = element.dataset.graph !== name;
      const played = this.comparison?.graph === name ? this.curves.filter((curve) => curve.plays) : [];
      const before = S.id("graph-colour").value;
      const choices = [
        ...(graph.block && graph.blocks > 1 ? [["block", "blocks of the plan"]] : []),
        ...played.map((curve) => [`plays:${curve.name}`, `plays of ${curve.name}`]),
        ...(graph.exploration ? [["exploration", "exploration in round 1"]] : []),
        ["none", "one colour"],
      ];
      S.options(S.id("graph-colour"), choices, choices.some(([value]) => value === before) ? before : choices[0][0]);
      this.graph.show(graph);
      this.#shade();
      this.#arm(null);
    }

    #shade() {
      const graph = this.data.graphs[this.shownGraph];
      const chosen = S.id("graph-colour").value;
      const legend = S.id("graph-legend");
      const plays = chosen.startsWith("plays:");
      S.id("graph-rounds").hidden = !plays || !this.comparison.rounds.length;
      this.values = null;
      if (chosen === "block") {
        const blocks = S.integers(graph.block, 4);
        const count = new Map();
        for (const block of blocks) count.set(block, (count.get(block) || 0) + 1);
        this.graph.colour({ blocks, sizes: Array.from(blocks, (block) => count.get(block)) });
        legend.textContent = `${S.whole(graph.blocks)} blocks; an arm on its own is hollow.`;
      } else if (chosen === "exploration") {
        this.values = S.floats(graph.exploration);
        this.graph.colour({ values: this.values, log: false });
        legend.textContent = "How likely the plan explores with each arm in round 1: stronger is more, hollow is never.";
      } else if (plays) {
        this.#shadePlays();
      } else {
        this.graph.colour({});
        legend.textContent = "";
      }
    }

    /** The colours of the policy whose plays are chosen, by the round. */
    #shadePlays() {
      const chosen = S.id("graph-colour").value;
      const curve = this.curves.find((one) => `plays:${one.name}` === chosen);
      const { round, shares } = curve.plays.at(this.round);
      S.say(S.id("graph-round"), S.whole(round));
      if (shares === this.values) return;
      this.values = shares;
      this.graph.colour({ values: shares, log: true, range: curve.plays.range });
      S.say(S.id("graph-legend"), `Share of the plays of ${curve.name} up to round ${S.whole(round)}, over all seeds, on a log scale: stronger is more.`);
    }

    /** What the graph says about a round. */
    #follow(round) {
      this.round = round;
      if (S.id("graph-colour").value.startsWith("plays:")) this.#shadePlays();
      for (const { curve, arm, share } of this.armPlays) S.say(share, S.percent(curve.plays.at(round).shares[arm]));
    }

    #arm(arm) {
      const graph = this.data.graphs[this.shownGraph];
      const title = S.id("graph-arm-title"), text = S.id("graph-readout");
      this.armPlays = [];
      if (arm === null || arm === undefined) {
        title.textContent = "No arm chosen";
        const size = `${S.whole(graph.arms)} arms, ${S.number(graph.edges)} edges.`;
        text.replaceChildren(S.make("p", { textContent: `${size} Point at an arm, choose it with a click, or name it above.` }));
        return;
      }
      title.textContent = `Arm ${this.graph.name(arm)}`;
      const around = this.graph.around(arm);
      const listed = (arms) => {
        const names = arms.slice(0, MOST_NAMED).map((other) => this.graph.name(other)).join(", ");
        const more = arms.length - MOST_NAMED;
        return `${S.whole(arms.length)}: ${names || "none"}${more > 0 ? ` and ${S.whole(more)} more` : ""}`;
      };
      const facts = around
        ? [["reveals", listed(around.out)], ["is revealed by", listed(around.into)]]
        : [["edges", "too many to be kept on this page"]];
      facts.push(["reveals itself", this.graph.loop?.[arm] ? "yes" : "no"]);
      if (graph.block) facts.push(["block", String(S.integers(graph.block, 4)[arm])]);
      if (graph.exploration) facts.push(["exploration in round 1", S.percent(S.floats(graph.exploration)[arm])]);
      for (const curve of this.comparison?.graph === this.shownGraph ? this.curves : []) {
        if (!curve.plays || facts.length >= 16) continue;
        const share = S.make("span", { textContent: S.percent(curve.plays.at(this.round).shares[arm]) });
        this.armPlays.push({ curve, arm, share });
        facts.push([`plays of ${curve.name}`, share]);
      }
      text.replaceChildren(S.make("dl", {}, ...facts.flatMap(([name, value]) => [S.make("dt", { textContent: name }), S.make("dd", {}, value)])));
    }

    #graphTable() {
      const graph = this.data.graphs[this.shownGraph];
      if (!graph.x) return [["arms", "edges"], [[graph.arms, graph.edges]]];
      const blocks = graph.block ? S.integers(graph.block, 4) : null;
      const exploration = graph.exploration ? S.floats(graph.exploration) : null;
      const rows = Array.from({ length: graph.arms }, (_, arm) => [arm, graph.labels?.[arm] ?? null, blocks?.[arm], exploration?.[arm], this.values?.[arm],
        graph.arms <= 2000 && this.graph.edges ? this.graph.edges.out(arm).join(" ") : null]);
      return [["arm", "label", "block", "exploration", "shown", "reveals"], rows];
    }

    // -- growth ---------------------------------------------------------------------------------------

    #growths() {
      this.growth = new S.Chart(S.id("growth-plot"), { height: 0.42 });
      S.options(S.id("growth-choose"), this.data.growth.map((one, k) => [k, this.#growthTitle(one)]), 0);
      S.id("growth-choose").addEventListener("change", (event) => this.#showGrowth(Number(event.target.value)));
      for (const [id, option] of [["growth-log-x", "logX"], ["growth-log-y", "logY"], ["growth-bounds", "bounds"]]) S.toggle(S.id(id), (on) => this.growth.set(option, on));
      S.id("growth-csv").addEventListener("click", () => S.download("growth.csv", S.csv(...this.#growthTable())));
      if (!this.data.comparisons.length) this.#showGrowth(0);
    }

    #growthTitle(one) {
      const shared = one.horizon === null ? "" : `, T = ${S.whole(one.horizon)}`;
      return `with ${one.variable}: ${one.graph}, ${one.environment}${shared}`;
    }

    #showGrowth(at) {
      const one = this.data.growth[at];
      this.shownGrowth = one;
      S.id("growth-choose").value = String(at);
      const what = one.variable === "T" ? "runs of different length, each planned for its own T" : "graphs of different size";
      S.id("growth-note").textContent = `Mean regret at the end of ${what}, with 95 % intervals; ${one.variable}^a is fitted to all of them. ▼ certified bounds.`;
      const curves = one.curves.map((curve) => {
        const policy = this.data.policies[curve.policy];
        return { name: policy.name, colour: policy.colour, dash: policy.dash, x: curve.x, mean: curve.mean, half: curve.half.some((v) => v === null) ? null : curve.half, bounds: curve.bounds, label: curve.label, points: true };
      });
      this.growth.show({ x: one.variable === "T" ? "horizon T" : "arms N", y: "regret at T", column: one.variable, curves, points: true });
      const xs = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
      const head = S.make("tr", {}, S.make("th", { scope: "col", textContent: "policy" }), ...xs.map((x) => S.make("th", { scope: "col", className: "n", textContent: `${one.variable} = ${S.whole(x)}` })), S.make("th", { scope: "col", className: "n", textContent: "grows as" }));
      const rows = curves.map((curve) => S.make("tr", {},
        S.make("th", { scope: "row" }, S.make("span", { className: `swatch c${curve.colour} d${curve.dash}`, "aria-hidden": "true" }), curve.name),
        ...xs.map((x) => {
          const k = curve.x.indexOf(x);
          const half = k >= 0 && curve.half ? ` ± ${S.number(curve.half[k])}` : "";
          return S.make("td", { className: "n", textContent: k < 0 ? "–" : S.number(curve.mean[k]) + half });
        }),
        S.make("td", { className: "n", textContent: curve.label.split("  ")[1] || "–" })));
      S.id("growth-table").tHead.replaceChildren(head);
      S.id("growth-table").tBodies[0].replaceChildren(...rows);
    }

    #growthTable() {
      const rows = this.shownGrowth.curves.flatMap((curve) => {
        const bounds = new Map(curve.bounds);
        return curve.x.map((x, k) => [this.data.policies[curve.policy].name, x, curve.mean[k], curve.half[k], bounds.get(x) ?? null]);
      });
      return [["policy", this.shownGrowth.variable, "mean", "half_interval", "certified_bound"], rows];
    }

    #redraw() {
      if (!this.comparison) return;
      this.#drawStrips();
      this.#drawRanges();
    }
  };

  S.terms();
  const found = document.getElementById("data");
  if (found) S.explorer = new S.Explorer(JSON.parse(found.textContent));
  document.documentElement.dataset.ready = "true"; // the page can be used from here on
  performance.mark("ready");
})(globalThis.Sidelight);
