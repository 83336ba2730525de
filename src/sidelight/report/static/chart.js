// Curves over rounds or sizes: means with bands, bounds and certificates, on log or linear axes (drawn by uPlot).
// What follows the pointer is drawn on a layer of its own, so that sixty curves stay as they are while it moves.
"use strict";
(function (S) {
  const DASHES = [undefined, [10, 3], [2.5, 2.5], [10, 2.5, 2.5, 2.5]];
  const DECADES_SHOWN = 4;

  /** Where a log axis has its lines: every digit of every decade, or decades only where there are many. */
  function logSplits(min, max) {
    const [first, last] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
    const digits = last - first > 8 ? [1] : [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const splits = [];
    for (let k = first; k <= last; k++) for (const digit of digits) splits.push(digit * 10 ** k);
    return splits.filter((v) => v >= min * (1 - 1e-9) && v <= max * (1 + 1e-9));
  }

  /** Which of these lines have a number beside them, as few as tell the scale. */
  function logNamed(splits) {
    const digit = (v) => Math.round(v / 10 ** Math.floor(Math.log10(v) + 1e-9));
    for (const digits of [[1], [1, 3], [1, 2, 5]]) {
      const named = splits.map((v) => digits.includes(digit(v)));
      if (named.filter(Boolean).length > 2) return named;
    }
    return splits.map(() => splits.length < 8);
  }

  const nice = (value, round) => {
    const unit = 10 ** Math.floor(Math.log10(value));
    return round(value / unit) * unit;
  };

  const positive = (values) => Array.from(values, (v) => (v > 0 ? v : null));
  const finite = (values) => Array.from(values, (v) => (Number.isFinite(v) ? v : null));

  /** One grid for all curves: their own where they share it, else all of their points. */
  function joined(curves) {
    const first = curves.length ? curves[0].x : [];
    const same = curves.every(({ x }) => x === first || (x.length === first.length && first.every((v, k) => v === x[k])));
    if (same) return { x: Array.from(first), place: (curve, values) => values };
    const x = [...new Set(curves.flatMap((curve) => Array.from(curve.x)))].sort((a, b) => a - b);
    const at = new Map(x.map((value, k) => [value, k]));
    const place = (curve, values) => {
      const placed = new Array(x.length).fill(null);
      curve.x.forEach((value, k) => { placed[at.get(value)] = values[k]; });
      return placed;
    };
    return { x, place };
  }

  /**
   * A chart in `host`. `show({x: label, y: label, curves, floor, guide, longRun, since})` draws; a curve is
   *   {name, colour, dash, x, mean, half?, certificate?, bound?: {at, value, certified}, bounds?: [[x, value]], seeds?: [{x, y}], points?}
   * with `colour` and `dash` the numbers of report/style.py. `moved(x, curve)` is called once a frame while the
   * round or the nearest curve changes.
   */
  S.Chart = class {
    constructor(host, { moved = () => {}, height = 0.55 } = {}) {
      this.host = host;
      this.moved = moved;
      this.shape = height;
      this.options = { logX: true, logY: true, bands: true, bounds: true, certificates: false };
      this.hidden = new Set();
      this.pinned = new Set();
      this.spec = null;
      this.plot = null;
      this.at = 0;
      this.focus = null;
      this.follow = S.framed(() => this.#followed());
      S.onTheme(() => this.draw());
      new ResizeObserver(S.framed(() => this.#resize())).observe(host);
      host.addEventListener("keydown", (event) => this.#key(event));
    }

    show(spec) {
      this.spec = spec;
      this.grid = joined(spec.curves);
      this.at = Math.max(0, this.grid.x.length - 1);
      this.focus = null;
      this.draw();
    }

    set(name, value) {
      this.options[name] = value;
      this.draw();
    }

    /** Which curves are drawn, by name. */
    hide(name, hidden) {
      if (hidden) this.hidden.add(name); else this.hidden.delete(name);
      this.#visibility();
    }

    pin(name, pinned) {
      if (pinned) this.pinned.add(name); else this.pinned.delete(name);
      this.follow();
    }

    point(name) {
      this.focus = this.spec.curves.find((curve) => curve.name === name) || null;
      this.follow();
    }

    /** Go to the point of the grid that is nearest to x. */
    go(x) {
      this.at = S.nearest(this.grid.x, x);
      this.follow();
    }

    step(count) {
      this.at = Math.max(0, Math.min(this.grid.x.length - 1, this.at + count));
      this.follow();
    }

    get round() { return this.grid.x[this.at]; }

    zoom(factor) {
      const { min, max } = this.plot.scales.x;
      const log = this.options.logX;
      const [low, high, centre] = [min, max, Math.min(max, Math.max(min, this.round))].map((v) => (log ? Math.log(v) : v));
      const back = (v) => (log ? Math.exp(v) : v);
      const [first, last] = this.#span();
      const left = Math.max(first, back(centre - (centre - low) * factor));
      const right = Math.min(last, back(centre + (high - centre) * factor));
      if (right > left) this.plot.batch(() => { this.plot.setScale("x", { min: left, max: right }); });
    }

    all() { if (this.plot) this.plot.setData(this.plot.data); }

    /** The columns and rows of what is drawn. */
    table() {
      const seeds = [...new Set(this.spec.curves.flatMap((curve) => (curve.seeds || []).map((seed) => seed.name)))];
      const columns = ["policy", this.spec.column, "mean", "half_interval", "certificate", ...seeds.map((name) => `seed_${name}`)];
      const rows = [];
      for (const curve of this.spec.curves) {
        const own = new Map((curve.seeds || []).map((seed) => [seed.name, new Map(Array.from(seed.x, (x, k) => [x, seed.y[k]]))]));
        curve.x.forEach((x, k) => rows.push([curve.name, x, curve.mean[k], curve.half ? curve.half[k] : null,
          curve.certificate ? curve.certificate[k] : null, ...seeds.map((name) => own.get(name)?.get(x) ?? null)]));
      }
      return [columns, rows];
    }

    // -- drawing --------------------------------------------------------------------------------------

    draw() {
      if (!this.spec || !this.host.isConnected) return;
      const kept = this.plot ? { ...this.plot.scales.x } : null;
      if (this.plot) this.plot.destroy();
      this.plot = null;
      const { curves } = this.spec;
      const { logX, logY } = this.options;
      const shown = logY ? positive : finite;
      const series = [{}];
      const data = [this.grid.x];
      this.slots = [];
      for (const curve of curves) {
        this.slots.push({ curve, certificate: false });
        data.push(this.grid.place(curve, shown(curve.mean)));
        series.push({
          stroke: S.colour(`c${curve.colour}`), width: 2, dash: DASHES[curve.dash], spanGaps: true,
          show: !this.hidden.has(curve.name), points: { show: Boolean(curve.points), size: 6, fill: S.colour(`c${curve.colour}`) },
        });
      }
      for (const curve of curves) {
        if (!this.options.certificates || !curve.certificate) continue;
        this.slots.push({ curve, certificate: true });
        data.push(this.grid.place(curve, shown(curve.certificate)));
        series.push({
          stroke: S.colour(`c${curve.colour}`), width: 1.2, dash: [2, 3], spanGaps: true,
          show: !this.hidden.has(curve.name), points: { show: false },
        });
      }
      const axis = {
        stroke: S.colour("soft"), grid: { stroke: S.colour("grid"), width: 1 }, ticks: { stroke: S.colour("grid"), width: 1, size: 5 },
        font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 22,
      };
      const named = (v) => (v >= 1e5 && Number.isInteger(Math.log10(v)) ? S.power(Math.log10(v)) : S.number(v));
      const scaled = (log) => (log ? {
        splits: (_, __, min, max) => logSplits(min, max),
        filter: (_, splits) => splits,
        values: (_, splits) => { const shown = logNamed(splits); return splits.map((v, k) => (shown[k] ? named(v) : "")); },
      } : { values: (_, splits) => splits.map(named) });
      this.plot = new uPlot({
        ...this.#size(),
        legend: { show: false },
        scales: {
          x: { time: false, distr: logX ? 3 : 1, range: (_, min, max) => this.#span(min, max) },
          y: { distr: logY ? 3 : 1, range: (plot) => this.#heights(plot) },
        },
        axes: [{ ...axis, ...scaled(logX), label: this.spec.x, space: 60, size: 34 }, { ...axis, ...scaled(logY), label: this.spec.y, size: 62 }],
        series,
        padding: [10, 26, 0, 0],
        cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: true, uni: 30 }, focus: { prox: -1 } },
        hooks: {
          drawAxes: [() => this.#bands()],
          draw: [() => this.#marks()],
          setCursor: [(plot) => this.#pointer(plot)],
          setScale: [() => this.follow()],
          setSize: [() => this.follow()],
        },
      }, data, this.host);
      this.plot.root.setAttribute("aria-hidden", "true");
      this.layer = S.make("canvas", { className: "overlay" });
      this.plot.over.append(this.layer);
      if (kept && this.kept === this.spec && kept.min !== null && kept.min < kept.max) this.plot.setScale("x", { min: kept.min, max: kept.max });
      this.kept = this.spec;
      this.follow();
    }

    #size() {
      const width = Math.max(240, this.host.clientWidth);
      const least = parseFloat(getComputedStyle(this.host).minHeight) || 260;
      return { width, height: Math.round(Math.max(least, Math.min(this.shape * width, 460))) };
    }

    #resize() {
      if (this.plot && Math.abs(this.host.clientWidth - this.plot.width) > 1) this.plot.setSize(this.#size());
    }

    /** The range of x: what was asked for, or all of it with some room. */
    #span(min = -Infinity, max = Infinity) {
      const x = this.grid.x;
      if (!x.length) return [1, 10];
      const last = x[x.length - 1], log = this.options.logX;
      if (min > x[0] || max < last) return [min, max];
      const first = this.spec.since && log ? Math.max(x[0], last / 10 ** DECADES_SHOWN) : x[0];
      if (first < last) return this.spec.points ? (log ? [first / 1.15, last * 1.15] : [0, last * 1.05]) : [first, last];
      return log ? [last / 2, last * 2] : [0, 2 * last];
    }

    #visible() { return this.spec.curves.filter((curve) => !this.hidden.has(curve.name)); }

    /** The range of y: whatever is drawn between the ends of x. */
    #heights(plot) {
      const [left, right] = (plot.series[0].idxs || []).map((k) => this.grid.x[k] ?? 1);
      const log = this.options.logY;
      let low = Infinity, high = -Infinity;
      const take = (value) => {
        if (!Number.isFinite(value) || (log && value <= 0)) return;
        if (value < low) low = value;
        if (value > high) high = value;
      };
      for (const curve of this.#visible()) {
        for (let k = S.before(curve.x, left); k < curve.x.length && curve.x[k] <= right; k++) {
          take(curve.mean[k]);
          if (this.options.bands && curve.half) take(curve.mean[k] + curve.half[k]);
          if (this.options.certificates && curve.certificate) take(curve.certificate[k]);
        }
        if (this.options.bounds) {
          if (curve.bound && curve.bound.at <= right) take(curve.bound.value);
          for (const [x, value] of curve.bounds || []) if (x >= left && x <= right) take(value);
        }
      }
      if (this.options.bounds && this.spec.floor && this.spec.floor.at <= right) take(this.spec.floor.value);
      if (low > high) return log ? [1, 10] : [0, 1];
      if (log) {
        low = Math.max(low, high * 1e-6);
        return [nice(low / 1.25, Math.floor), nice(high * 1.25, Math.ceil)];
      }
      const room = 0.06 * (high - Math.min(low, 0)) || 1;
      return [low < 0 ? low - room : 0, high + room];
    }

    #visibility() {
      if (!this.plot) return;
      this.plot.batch(() => {
        this.slots.forEach(({ curve }, k) => {
          const show = !this.hidden.has(curve.name);
          if (this.plot.series[k + 1].show !== show) this.plot.setSeries(k + 1, { show });
        });
      });
      this.follow();
    }

    #clipped(work) {
      const { ctx, bbox } = this.plot;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      work(ctx, (v) => this.plot.valToPos(v, "x", true), (v) => this.plot.valToPos(v, "y", true));
      ctx.restore();
    }

    #bands() {
      if (!this.options.bands) return;
      this.#clipped((ctx, x, y) => {
        const { min: bottom } = this.plot.scales.y;
        const { min: left, max: right } = this.plot.scales.x;
        const many = this.#visible().length > 12;
        for (const curve of this.#visible()) {
          if (!curve.half) continue;
          ctx.globalAlpha = many ? 0.08 : 0.15;
          ctx.fillStyle = ctx.strokeStyle = S.colour(`c${curve.colour}`);
          const ends = (k) => [Math.max(curve.mean[k] - curve.half[k], bottom), Math.max(curve.mean[k] + curve.half[k], bottom)];
          if (curve.points) {
            ctx.globalAlpha = 1;
            ctx.lineWidth = 1.5 * devicePixelRatio;
            for (let k = 0; k < curve.x.length; k++) {
              const [low, high] = ends(k);
              ctx.beginPath();
              ctx.moveTo(x(curve.x[k]), y(low));
              ctx.lineTo(x(curve.x[k]), y(high));
              ctx.stroke();
            }
            continue;
          }
          const from = Math.max(0, S.before(curve.x, left));
          const to = Math.min(curve.x.length - 1, S.before(curve.x, right) + 1);
          ctx.beginPath();
          for (let k = from; k <= to; k++) ctx.lineTo(x(curve.x[k]), y(ends(k)[1]));
          for (let k = to; k >= from; k--) ctx.lineTo(x(curve.x[k]), y(ends(k)[0]));
          ctx.fill();
        }
      });
    }

    #marks() {
      const { ctx, bbox } = this.plot;
      const ratio = devicePixelRatio || 1;
      const dashed = (dash, height) => this.#clipped((context, x, y) => {
        const { min, max } = this.plot.scales.x;
        context.strokeStyle = S.colour("soft");
        context.lineWidth = ratio;
        context.setLineDash(dash.map((length) => length * ratio));
        context.beginPath();
        for (let k = 0; k <= 40; k++) { // a straight line only where both axes are alike
          const t = this.options.logX ? min * (max / min) ** (k / 40) : min + ((max - min) * k) / 40;
          context.lineTo(x(t), y(Math.max(height(t), this.plot.scales.y.min)));
        }
        context.stroke();
      });
      if (this.spec.guide) dashed([6, 4], (t) => t);
      if (this.spec.longRun) dashed([8, 3, 2, 3], (t) => this.spec.longRun * Math.log(Math.max(t, 1)));
      if (!this.options.bounds) return;
      const { min: bottom, max: top } = this.plot.scales.y;
      const triangle = (at, value, colour, filled, up) => {
        const { min, max } = this.plot.scales.x;
        if (at < min || at > max || value < bottom || value > top) return;
        const [px, py, size] = [this.plot.valToPos(at, "x", true), this.plot.valToPos(value, "y", true), 6 * ratio];
        ctx.beginPath();
        ctx.moveTo(px, py);
        ctx.lineTo(px - size, py + (up ? size * 1.5 : -size * 1.5));
        ctx.lineTo(px + size, py + (up ? size * 1.5 : -size * 1.5));
        ctx.closePath();
        ctx.lineWidth = 1.5 * ratio;
        ctx.strokeStyle = colour;
        ctx.fillStyle = filled ? colour : S.colour("panel");
        ctx.fill();
        ctx.stroke();
      };
      ctx.save();
      for (const curve of this.#visible()) {
        const colour = S.colour(`c${curve.colour}`);
        if (curve.bound) triangle(curve.bound.at, curve.bound.value, colour, curve.bound.certified, false);
        for (const [x, value] of curve.bounds || []) triangle(x, value, colour, true, false);
      }
      if (this.spec.floor) triangle(this.spec.floor.at, this.spec.floor.value, S.colour("ink"), true, true);
      ctx.restore();
    }

    // -- following the pointer --------------------------------------------------------------------------

    #pointer(plot) {
      const { left, top, idx } = plot.cursor;
      if (left < 0 || idx === null || idx === undefined) {
        if (this.focus) { this.focus = null; this.follow(); }
        return;
      }
      this.at = idx;
      let nearest = null, best = 40;
      for (const curve of this.#visible()) {
        const value = curve.mean[S.before(curve.x, this.round)];
        if (this.options.logY && !(value > 0)) continue;
        const away = Math.abs(plot.valToPos(value, "y") - top);
        if (away < best) { best = away; nearest = curve; }
      }
      this.focus = nearest;
      this.follow();
    }

    #followed() {
      if (!this.plot || !this.spec || !this.grid.x.length) return;
      const ratio = devicePixelRatio || 1;
      const [width, height] = [this.plot.bbox.width / ratio, this.plot.bbox.height / ratio];
      if (this.layer.width !== Math.round(width * ratio) || this.layer.height !== Math.round(height * ratio)) {
        this.layer.style.width = `${width}px`;
        this.layer.style.height = `${height}px`;
        this.context = S.sharp(this.layer, width, height);
      }
      const ctx = this.context;
      const x = (v) => this.plot.valToPos(v, "x"), y = (v) => this.plot.valToPos(v, "y");
      const log = this.options.logY;
      ctx.clearRect(0, 0, width, height);
      const line = (xs, ys) => {
        const { min, max } = this.plot.scales.x;
        ctx.beginPath();
        let down = false;
        for (let k = Math.max(0, S.before(xs, min)); k < xs.length && xs[k] <= max * 1.2; k++) {
          if (log && !(ys[k] > 0)) { down = false; continue; }
          if (down) ctx.lineTo(x(xs[k]), y(ys[k])); else ctx.moveTo(x(xs[k]), y(ys[k]));
          down = true;
        }
        ctx.stroke();
      };
      const strong = this.#visible().filter((curve) => curve === this.focus || this.pinned.has(curve.name));
      const single = this.focus || strong[0];
      if (single && single.seeds && !this.hidden.has(single.name)) {
        ctx.strokeStyle = S.colour(`c${single.colour}`);
        ctx.globalAlpha = 0.45;
        ctx.lineWidth = 0.8;
        single.seeds.forEach((seed) => line(seed.x, seed.y));
        ctx.globalAlpha = 1;
      }
      for (const curve of strong) {
        ctx.strokeStyle = S.colour(`c${curve.colour}`);
        ctx.lineWidth = 3.5;
        line(curve.x, curve.mean);
      }
      const at = x(this.round);
      ctx.strokeStyle = S.colour("soft");
      ctx.lineWidth = 1;
      ctx.globalAlpha = 0.7;
      ctx.beginPath();
      ctx.moveTo(at, 0);
      ctx.lineTo(at, height);
      ctx.stroke();
      ctx.globalAlpha = 1;
      const paper = S.colour("panel");
      for (const curve of this.#visible()) {
        const value = curve.mean[S.before(curve.x, this.round)];
        if (log && !(value > 0)) continue;
        ctx.beginPath();
        ctx.arc(at, y(value), 3.5, 0, 7);
        ctx.fillStyle = S.colour(`c${curve.colour}`);
        ctx.strokeStyle = paper;
        ctx.fill();
        ctx.stroke();
      }
      this.moved(this.round, this.focus);
    }

    #key(event) {
      if (event.target !== this.host || event.ctrlKey || event.metaKey || event.altKey) return;
      const keys = {
        ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), PageUp: () => this.step(10), PageDown: () => this.step(-10),
        Home: () => this.step(-this.grid.x.length), End: () => this.step(this.grid.x.length),
        "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.all(),
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    }
  };
})(globalThis.Sidelight);
