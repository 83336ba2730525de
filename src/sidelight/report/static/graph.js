// A feedback graph on a canvas: every arm a dot, edges of the arm that is pointed at; all edges where they are few.
// Ten thousand arms are ten thousand small squares, drawn colour by colour; what is pointed at has its own layer.
"use strict";
(function (S) {
  const MOST_EDGES_DRAWN = 3000, MOST_ARMS_WITH_EDGES = 400, MOST_EDGES_OF_ONE = 3000, MOST_NAMED = 60;
  const SHADES = 32;

  /** Who reveals whom, from runs of consecutive arms; null where a page does not hold the edges. */
  class Edges {
    constructor(data) {
      this.n = data.arms;
      this.loop = S.integers(data.loop, 1);
      this.universal = new Uint8Array(this.n);
      for (const arm of data.universal) this.universal[arm] = 1;
      this.everyone = data.universal;
      const { bytes, offsets, starts, lengths } = data.runs;
      this.offsets = S.integers(offsets, 4);
      this.starts = S.integers(starts, bytes);
      this.lengths = S.integers(lengths, bytes);
    }

    /** The arms that playing `arm` reveals, from the least. */
    out(arm) {
      const found = this.everyone.filter((other) => other !== arm || this.loop[arm]);
      for (let k = this.offsets[arm]; k < this.offsets[arm + 1]; k++) {
        for (let j = 0; j < this.lengths[k]; j++) found.push(this.starts[k] + j);
      }
      return found.sort((a, b) => a - b);
    }

    /** The arms that reveal `arm`: a look through all runs, which takes no longer than a frame. */
    into(arm) {
      const found = [];
      if (this.universal[arm]) {
        for (let other = 0; other < this.n; other++) if (other !== arm || this.loop[arm]) found.push(other);
        return found;
      }
      for (let other = 0; other < this.n; other++) {
        for (let k = this.offsets[other]; k < this.offsets[other + 1]; k++) {
          if (this.starts[k] <= arm && arm < this.starts[k] + this.lengths[k]) { found.push(other); break; }
        }
      }
      return found;
    }
  }

  /**
   * A graph in `host`. `show(data)` takes what report/data.py has for a graph, `colour({blocks})`,
   * `colour({values, log, range})` or `colour({})` shades the arms, `choose(arm)` marks one. The range of values is their own
   * unless given. `chosen(arm)` is called when another is pointed at, with null for none.
   */
  S.Graph = class {
    constructor(host, { chosen = () => {} } = {}) {
      this.host = host;
      this.chosen = chosen;
      this.base = S.make("canvas");
      this.layer = S.make("canvas");
      for (const canvas of [this.base, this.layer]) {
        canvas.setAttribute("aria-hidden", "true");
        host.append(canvas);
      }
      this.data = null;
      this.shading = {};
      this.redraw = S.framed(() => this.#draw());
      this.remark = S.framed(() => this.#mark());
      S.onTheme(() => this.redraw());
      new ResizeObserver(this.redraw).observe(host);
      this.#listen();
    }

    show(data) {
      this.data = data.x ? data : null;
      this.n = data.arms;
      this.arm = this.pointed = null;
      if (this.data) {
        this.x = S.floats(data.x);
        this.y = S.floats(data.y);
        this.loop = S.integers(data.loop, 1);
        this.edges = data.runs ? new Edges(data) : null;
        this.labels = data.labels;
        this.box = [Math.min(...this.x), Math.max(...this.x), Math.min(...this.y), Math.max(...this.y)];
        this.#index();
      }
      this.reset();
    }

    colour(shading) {
      this.shading = shading;
      this.redraw();
    }

    reset() {
      this.scale = 1;
      this.shift = [0, 0];
      this.redraw();
    }

    zoom(factor, centre = [this.host.clientWidth / 2, this.host.clientHeight / 2]) {
      const next = Math.min(60, Math.max(0.5, this.scale * factor));
      const by = next / this.scale;
      this.shift = this.shift.map((s, k) => centre[k] - (centre[k] - s) * by);
      this.scale = next;
      this.redraw();
    }

    /** Mark an arm, or none. */
    choose(arm) {
      this.arm = arm;
      this.remark();
      this.chosen(arm);
    }

    name(arm) { return this.labels ? `${arm} ${this.labels[arm]}` : String(arm); }

    /** What an arm reveals and what reveals it; null where the edges are not on the page. */
    around(arm) { return this.edges ? { out: this.edges.out(arm), into: this.edges.into(arm) } : null; }

    // -- places ---------------------------------------------------------------------------------------

    #fit() {
      const [left, right, top, bottom] = this.box;
      const width = this.host.clientWidth, height = this.host.clientHeight;
      const unit = Math.min((width - 50) / Math.max(right - left, 1), (height - 50) / Math.max(bottom - top, 1), 130);
      this.unit = unit * this.scale;
      this.place = [
        (width - unit * (left + right)) / 2 * this.scale + this.shift[0],
        (height - unit * (top + bottom)) / 2 * this.scale + this.shift[1],
      ];
    }

    #at(arm) { return [this.x[arm] * this.unit + this.place[0], this.y[arm] * this.unit + this.place[1]]; }

    get radius() { return Math.max(1.1, Math.min(15, 0.26 * this.unit)); }

    /** Squares of a grid with their arms, so that the nearest one is found at once. */
    #index() {
      const [left, right, top, bottom] = this.box;
      this.side = Math.max(Math.sqrt(((right - left) * (bottom - top) || 1) / this.n), (right - left) / 400, (bottom - top) / 400, 1e-6);
      this.cells = new Map();
      for (let arm = 0; arm < this.n; arm++) {
        const key = this.#key(this.x[arm], this.y[arm]);
        if (!this.cells.has(key)) this.cells.set(key, []);
        this.cells.get(key).push(arm);
      }
    }

    #key(x, y, dx = 0, dy = 0) { return `${Math.floor(x / this.side) + dx},${Math.floor(y / this.side) + dy}`; }

    #nearest(px, py) {
      const x = (px - this.place[0]) / this.unit, y = (py - this.place[1]) / this.unit;
      let found = null, best = Math.max(this.radius + 4, 9) / this.unit;
      const reach = Math.min(4, Math.ceil(best / this.side));
      for (let dx = -reach; dx <= reach; dx++) {
        for (let dy = -reach; dy <= reach; dy++) {
          for (const arm of this.cells.get(this.#key(x, y, dx, dy)) || []) {
            const away = Math.hypot(this.x[arm] - x, this.y[arm] - y);
            if (away < best) { best = away; found = arm; }
          }
        }
      }
      return found;
    }

    // -- drawing --------------------------------------------------------------------------------------

    /** A colour for each arm, as a number into a list: arms are drawn colour by colour. */
    #shades() {
      const { blocks, sizes, values, log, range } = this.shading;
      const shade = new Uint16Array(this.n);
      if (blocks) {
        const palette = [S.colour("paper"), ...[0, 1, 2, 3, 4, 5, 6].map((k) => S.colour(`c${k}`))];
        for (let arm = 0; arm < this.n; arm++) shade[arm] = sizes[arm] > 1 ? 1 + (blocks[arm] % 7) : 0;
        return { shade, palette };
      }
      if (!values) return { shade, palette: [S.colour("c0")] };
      let [low, high] = range ?? [Infinity, 0];
      for (const value of range ? [] : values) {
        if (value > high) high = value;
        if (value > 0 && value < low) low = value;
      }
      const least = Math.max(low, high * 1e-5);
      const palette = [S.colour("paper")];
      for (let k = 0; k < SHADES; k++) palette.push(S.mix(S.colour("from"), S.colour("to"), k / (SHADES - 1)));
      for (let arm = 0; arm < this.n; arm++) {
        const value = values[arm];
        if (!(value > 0)) continue;
        const share = log ? (high > least ? Math.log(Math.max(value, least) / least) / Math.log(high / least) : 1) : value / high;
        shade[arm] = 1 + Math.round(share * (SHADES - 1));
      }
      return { shade, palette };
    }

    #draw() {
      const width = this.host.clientWidth, height = this.host.clientHeight;
      const ctx = S.sharp(this.base, width, height);
      if (!this.data) {
        ctx.fillStyle = S.colour("soft");
        ctx.font = "14px system-ui, sans-serif";
        ctx.fillText("Too large to be drawn here; the figures have its matrix.", 12, 28);
        S.sharp(this.layer, width, height);
        return;
      }
      this.#fit();
      const radius = this.radius;
      if (this.edges && this.data.edges <= MOST_EDGES_DRAWN && this.n <= MOST_ARMS_WITH_EDGES) this.#allEdges(ctx, radius);
      const { shade, palette } = this.#shades();
      this.shown = { shade, palette };
      const members = palette.map(() => []);
      for (let arm = 0; arm < this.n; arm++) members[shade[arm]].push(arm);
      const outline = radius >= 3, ringed = radius >= 5;
      ctx.strokeStyle = S.colour("soft");
      if (ringed) {
        ctx.lineWidth = 1;
        ctx.beginPath();
        for (let arm = 0; arm < this.n; arm++) {
          if (!this.loop[arm]) continue;
          const [x, y] = this.#at(arm);
          ctx.moveTo(x + radius + 3.5, y);
          ctx.arc(x, y, radius + 3.5, 0, 7);
        }
        ctx.stroke();
      }
      members.forEach((arms, k) => {
        if (!arms.length) return;
        ctx.fillStyle = palette[k];
        ctx.beginPath();
        for (const arm of arms) {
          const [x, y] = this.#at(arm);
          if (x < -20 || y < -20 || x > width + 20 || y > height + 20) continue;
          if (radius < 2.5) ctx.rect(x - radius, y - radius, 2 * radius, 2 * radius);
          else { ctx.moveTo(x + radius, y); ctx.arc(x, y, radius, 0, 7); }
        }
        ctx.fill();
        if (outline || k === 0) { ctx.lineWidth = outline ? 0.8 : 0.4; ctx.stroke(); }
      });
      if (this.n <= MOST_NAMED && radius >= 8) {
        ctx.font = `${Math.round(radius * 0.95)}px system-ui, sans-serif`;
        ctx.textAlign = "center";
        ctx.textBaseline = "middle";
        for (let arm = 0; arm < this.n; arm++) {
          ctx.fillStyle = this.#readable(palette[shade[arm]]);
          ctx.fillText(String(arm), ...this.#at(arm));
        }
      }
      this.#mark();
    }

    /** Black or white, whichever can be read on a colour. */
    #readable(colour) {
      const [r, g, b] = colour.startsWith("#") ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)) : colour.match(/\d+/g).map(Number);
      return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111" : "#fff";
    }

    #allEdges(ctx, radius) {
      ctx.strokeStyle = S.colour("soft");
      ctx.fillStyle = S.colour("soft");
      ctx.globalAlpha = Math.min(0.6, Math.max(0.18, 40 / Math.max(this.data.edges, 1)));
      ctx.lineWidth = 1;
      const seen = new Set();
      for (let arm = 0; arm < this.n; arm++) for (const other of this.edges.out(arm)) seen.add(arm * this.n + other);
      ctx.beginPath();
      const heads = [];
      for (const key of seen) {
        const arm = Math.floor(key / this.n), other = key % this.n;
        if (arm === other) continue;
        const mutual = seen.has(other * this.n + arm);
        if (mutual && arm > other) continue;
        ctx.moveTo(...this.#at(arm));
        ctx.lineTo(...this.#at(other));
        if (!mutual) heads.push([arm, other]);
      }
      ctx.stroke();
      for (const [arm, other] of heads) this.#head(ctx, this.#at(arm), this.#at(other), radius + (this.loop[other] && radius >= 5 ? 5 : 1));
      ctx.globalAlpha = 1;
    }

    #head(ctx, [x0, y0], [x1, y1], away) {
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
      const [tx, ty] = [x1 - ux * away, y1 - uy * away];
      ctx.beginPath();
      ctx.moveTo(tx, ty);
      ctx.lineTo(tx - 7 * ux - 3.2 * uy, ty - 7 * uy + 3.2 * ux);
      ctx.lineTo(tx - 7 * ux + 3.2 * uy, ty - 7 * uy - 3.2 * ux);
      ctx.fill();
    }

    #mark() {
      const ctx = S.sharp(this.layer, this.host.clientWidth, this.host.clientHeight);
      const arm = this.pointed ?? this.arm;
      if (!this.data || arm === null || arm === undefined) return;
      const radius = this.radius;
      const around = this.around(arm);
      const side = (others, colour, towards) => {
        ctx.strokeStyle = ctx.fillStyle = S.colour(colour);
        ctx.lineWidth = others.length > 300 ? 0.6 : 1.6;
        ctx.globalAlpha = others.length > 300 ? 0.35 : 0.9;
        ctx.beginPath();
        if (others.length <= MOST_EDGES_OF_ONE) {
          for (const other of others) {
            if (other === arm) continue;
            ctx.moveTo(...this.#at(arm));
            ctx.lineTo(...this.#at(other));
          }
        }
        ctx.stroke();
        ctx.globalAlpha = 1;
        if (others.length <= 300) for (const other of others) if (other !== arm) this.#head(ctx, ...(towards ? [this.#at(arm), this.#at(other)] : [this.#at(other), this.#at(arm)]), radius + 2);
        ctx.lineWidth = 2;
        ctx.beginPath();
        for (const other of others) {
          const [x, y] = this.#at(other);
          ctx.moveTo(x + radius + (towards ? 2 : 4.5), y);
          ctx.arc(x, y, radius + (towards ? 2 : 4.5), 0, 7);
        }
        ctx.stroke();
      };
      if (around) {
        side(around.into, "in", false);
        side(around.out, "out", true);
      }
      const [x, y] = this.#at(arm);
      ctx.beginPath();
      ctx.arc(x, y, radius + 1.5, 0, 7);
      ctx.lineWidth = 3;
      ctx.strokeStyle = S.colour("ink");
      ctx.stroke();
      const text = this.name(arm);
      ctx.font = "600 13px system-ui, sans-serif";
      const width = ctx.measureText(text).width + 12;
      const [bx, by] = [Math.min(Math.max(4, x + radius + 8), this.host.clientWidth - width - 4), Math.max(4, y - radius - 28)];
      ctx.fillStyle = S.colour("ink");
      ctx.beginPath();
      ctx.roundRect(bx, by, width, 22, 5);
      ctx.fill();
      ctx.fillStyle = S.colour("paper");
      ctx.textBaseline = "middle";
      ctx.fillText(text, bx + 6, by + 11.5);
    }

    // -- hands ----------------------------------------------------------------------------------------

    #listen() {
      let dragged = null;
      const local = (event) => {
        const box = this.host.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
      };
      this.host.addEventListener("pointerdown", (event) => {
        dragged = { at: local(event), shift: [...this.shift], far: false };
        if (event.pointerType === "mouse") this.host.setPointerCapture(event.pointerId);
      });
      this.host.addEventListener("pointermove", (event) => {
        if (!this.data) return;
        const at = local(event);
        if (dragged && event.buttons && event.pointerType === "mouse") {
          const by = [at[0] - dragged.at[0], at[1] - dragged.at[1]];
          if (Math.hypot(...by) > 4) dragged.far = true;
          if (dragged.far) {
            this.shift = dragged.shift.map((s, k) => s + by[k]);
            this.redraw();
          }
          return;
        }
        const arm = this.#nearest(...at);
        if (arm !== this.pointed) {
          this.pointed = arm;
          this.remark();
          this.chosen(arm ?? this.arm);
        }
      });
      this.host.addEventListener("pointerup", (event) => {
        if (this.data && dragged && !dragged.far) this.choose(this.#nearest(...local(event)));
        dragged = null;
      });
      this.host.addEventListener("pointerleave", () => {
        if (this.pointed === null || this.pointed === undefined) return;
        this.pointed = null;
        this.remark();
        this.chosen(this.arm);
      });
      this.host.addEventListener("wheel", (event) => {
        if (!this.data || document.activeElement !== this.host) return; // a page that is scrolled by stays a page
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, local(event));
      }, { passive: false });
      this.host.addEventListener("keydown", (event) => {
        if (!this.data || event.target !== this.host || event.ctrlKey || event.metaKey || event.altKey) return;
        const go = (by) => this.choose(this.arm === null ? 0 : (this.arm + by + this.n) % this.n);
        const keys = {
          ArrowRight: () => go(1), ArrowLeft: () => go(-1), "+": () => this.zoom(1.4), "=": () => this.zoom(1.4), "-": () => this.zoom(1 / 1.4),
          0: () => this.reset(), Escape: () => this.choose(null),
        };
        if (!keys[event.key]) return;
        event.preventDefault();
        this.pointed = null;
        keys[event.key]();
      });
    }
  };
})(globalThis.Sidelight);
