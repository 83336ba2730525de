// A few algorithms on small graphs, dense and line by line: the twins of tests/support/self_tuning_twin.py and
// baseline_twins.py, with which tests/browser/test_playground.py compares them. A[j][i] = 1: playing j reveals i.
"use strict";
globalThis.Sidelight = globalThis.Sidelight || {};
(function (S) {
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const zeros = (n) => new Array(n).fill(0);
  const leader = (x) => x.reduce((best, value, i) => (value > x[best] ? i : best), 0);
  /** The probability of each arm to be seen: Aᵀz. */
  const seen = (A, z) => A.map((_, i) => sum(z.map((value, j) => A[j][i] * value)));

  // -- the self-tuning rule (docs/theory/self-tuning.md, section 4) -------------------------------------------

  const es = (y, s) => (s === 1 ? Math.exp(-y) : Math.exp(-Math.log1p((1 - s) * y) / (1 - s)));

  /** H(x), the Tsallis entropy of order s. */
  function entropy(x, s) {
    return sum(x.map((v) => (v <= 0 ? 0 : s === 1 ? -v * Math.log(v) : (v * Math.expm1((s - 1) * Math.log(v))) / (s * (1 - s)))));
  }

  /** X(L, β): the minimiser of ⟨L, x⟩ − βH(x), by Newton's method from the left. */
  function point(L, beta, s) {
    const least = Math.min(...L);
    const gap = L.map((v) => (v - least) / beta);
    let nu = 0;
    for (let k = 0; k < 200; k++) {
      const x = gap.map((v) => es(nu + v, s));
      const move = (sum(x) - 1) / sum(x.map((v) => v ** (2 - s)));
      nu += move;
      if (move <= 1e-16 * Math.max(1, nu)) break;
    }
    return gap.map((v) => es(nu + v, s));
  }

  /** W_L(β). */
  function money(L, beta, s) {
    const x = point(L, beta, s), least = Math.min(...L);
    return beta * entropy(x, s) - sum(x.map((v, i) => v * (L[i] - least)));
  }

  function psi(q, s) {
    if (q < 1e-5) return q / 2;
    if (q === Infinity) return 1;
    return s === 1 ? 1 + Math.expm1(-q) / q : 1 + Math.expm1((-s / (1 - s)) * Math.log1p((1 - s) * q)) / (s * q);
  }

  function psiMinus(r, s) {
    if (r < 1e-5) return r / 2;
    if ((1 - s) * r >= 1) return Infinity;
    return s === 1 ? Math.expm1(r) / r - 1 : Math.expm1((-s / (1 - s)) * Math.log1p(-(1 - s) * r)) / (s * r) - 1;
  }

  /** What a round costs at most that plays Z where the point is X (Lemma 1). */
  function cost(A, X, Z, beta, s) {
    const P = seen(A, Z), top = leader(X);
    const over = X.map((x, i) => Math.max((P[i] > 0 ? x * psi(x ** (1 - s) / (beta * P[i]), s) : x) + Z[i] - x, 0));
    const others = sum(over.filter((_, i) => i !== top));
    const shift = sum(X.map((x, i) => (i === top || x <= 0 ? 0 : P[top] > 0 ? x * psiMinus(x ** (1 - s) / (beta * P[top]), s) : Infinity)));
    return Math.min(sum(over), others + Math.max(shift + Z[top] - X[top], 0));
  }

  /** (cost, Z): the cheapest of no exploration and nine strengths of each direction. */
  function bestPlay(A, cover, X, beta, s) {
    const load = seen(A, cover), top = leader(X);
    const a = sum(X.filter((_, i) => i !== top));
    let best = { cost: cost(A, X, X, beta, s), Z: X };
    for (const near of a < 0.5 ? [false, true] : [false]) {
      const at = X.map((x, i) => (near && i === top ? Math.min(x, a) : x));
      const g = cover.map((weight, j) => weight * Math.max(0, ...at.map((x, i) => (A[j][i] && load[i] > 0 ? x ** (1 - s) / load[i] : 0))));
      const G = sum(g);
      if (G === 0) continue;
      const most = near ? Math.max(Math.sqrt(a / (2 * beta * G)), Math.max(1, 2 - 2 * s) / beta) : (2 * beta * G) ** -0.5;
      for (let k = 0; k < 9; k++) {
        const b = Math.min(most * 2 ** ((2 - k) / 2), 1 / (2 * G));
        const Z = X.map((x, j) => (1 - b * G) * x + b * g[j]);
        const price = cost(A, X, Z, beta, s);
        if (price < best.cost) best = { cost: price, Z };
      }
    }
    return best;
  }

  /** The β' in [β, most] with W_L(β') = W_L(β) + pay. */
  function bought(L, beta, pay, most, s) {
    const target = money(L, beta, s) + pay;
    if (money(L, most, s) <= target) return most;
    let b = most;
    for (let k = 0; k < 100; k++) {
      const step = (money(L, b, s) - target) / entropy(point(L, b, s), s);
      b -= step;
      if (step <= 1e-15 * b) break;
    }
    return Math.max(b, beta);
  }

  class SelfTuning {
    constructor({ A, cover }, { s = 0.5, c = 0.5 } = {}) {
      const n = A.length;
      Object.assign(this, { A, cover, s, c, L: zeros(n), t: 1 });
      const D = entropy(new Array(n).fill(1 / n), s);
      this.first = this.beta = Math.max(sum(cover) ** s / 2, c / D);
      this.certificate = this.beta * D;
    }

    get probabilities() {
      if (!this.now) this.now = bestPlay(this.A, this.cover, point(this.L, this.beta, this.s), this.beta, this.s);
      return this.now.Z;
    }

    learn(arm, losses) {
      const P = seen(this.A, this.probabilities), paid = this.now.cost;
      this.L = this.L.map((v, i) => (this.A[arm][i] ? v + losses[i] / P[i] : v));
      const most = Math.min(2 * this.beta, this.first * (this.t + 1) ** 2);
      const beta = bought(this.L, this.beta, this.c * paid, most, this.s);
      this.certificate += paid + money(this.L, beta, this.s) - money(this.L, this.beta, this.s);
      this.beta = beta;
      this.t += 1;
      this.now = null;
    }
  }

  // -- known algorithms -----------------------------------------------------------------------------------------

  function softmax(x) {
    const most = Math.max(...x), weights = x.map((v) => Math.exp(v - most)), total = sum(weights);
    return weights.map((v) => v / total);
  }

  /** Estimates ℓ/P of whatever was revealed. */
  class Estimating {
    constructor({ A }) { Object.assign(this, { A, n: A.length, L: zeros(A.length), t: 1 }); }

    learn(arm, losses) {
      const P = seen(this.A, this.probabilities);
      this.L = this.L.map((v, i) => (this.A[arm][i] ? v + losses[i] / P[i] : v));
      this.t += 1;
    }
  }

  /** Exp3.G (Alon et al. 2015): exploration everywhere on strongly observable graphs, on a dominating set else. */
  class Exp3G extends Estimating {
    constructor(graph, { T }) {
      super(graph);
      const { strong, alpha, members } = graph;
      const size = members.length;
      this.gamma = Math.min(strong ? Math.sqrt(1 / (alpha * T)) : Math.cbrt((size * Math.log(this.n)) / T), 0.5);
      this.rate = strong ? 2 * this.gamma : this.gamma ** 2 / size;
      this.explored = strong ? new Array(this.n).fill(1 / this.n) : zeros(this.n).map((_, i) => (members.includes(i) ? 1 / size : 0));
    }

    get probabilities() {
      return softmax(this.L.map((v) => -this.rate * v)).map((v, i) => (1 - this.gamma) * v + this.gamma * this.explored[i]);
    }
  }

  /** EXP3: of everything that is revealed it uses the loss of its own arm. */
  class Exp3 extends Estimating {
    constructor({ A }, { T }) {
      super({ A: A.map((_, j) => A.map((__, i) => (i === j ? 1 : 0))) });
      this.rate = Math.sqrt((2 * Math.log(this.n)) / (this.n * T));
    }

    get probabilities() { return softmax(this.L.map((v) => -this.rate * v)); }
  }

  /** UCB-N (Caron et al. 2012): the least mean − √(2 log t/count). */
  class UcbN {
    constructor({ A }) { Object.assign(this, { A, n: A.length, L: zeros(A.length), O: zeros(A.length), t: 1 }); }

    get probabilities() {
      const index = this.L.map((v, i) => (this.O[i] ? v / this.O[i] - Math.sqrt((2 * Math.log(this.t)) / this.O[i]) : -Infinity));
      const best = index.indexOf(Math.min(...index));
      return index.map((_, i) => (i === best ? 1 : 0));
    }

    learn(arm, losses) {
      for (let i = 0; i < this.n; i++) if (this.A[arm][i]) { this.L[i] += losses[i]; this.O[i] += 1; }
      this.t += 1;
    }
  }

  class Uniform {
    constructor({ A }) { this.probabilities = new Array(A.length).fill(1 / A.length); }
    learn() {}
  }

  S.PLANS = [
    { name: "self-tuning", colour: 0, make: SelfTuning, applies: () => true },
    { name: "Exp3.G", colour: 1, make: Exp3G, applies: () => true },
    { name: "EXP3", colour: 2, make: Exp3, applies: ({ A }) => A.every((row, i) => row[i]) },
    { name: "UCB-N", colour: 3, make: UcbN, applies: ({ A }) => A.every((row, i) => row[i]) },
    { name: "uniform", colour: 7, make: Uniform, applies: () => true },
  ];

  // -- graphs ---------------------------------------------------------------------------------------------------

  const square = (n, reveals) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (__, j) => (reveals(i, j) ? 1 : 0)));
  const even = (n, weight) => new Array(n).fill(weight);
  const hub = (n) => [1, ...zeros(n - 1)];

  /** Each with its least cover x* in closed form (zero where every arm reveals itself), and its independence number α. */
  S.FAMILIES = {
    cycle: { title: "cycle: neighbours reveal each other", least: 4, make: (n) => ({ A: square(n, (i, j) => (i + 1) % n === j || (j + 1) % n === i), cover: even(n, 1 / 2), strong: false, alpha: n >> 1 }) },
    directed: { title: "directed cycle: each reveals the next", least: 3, make: (n) => ({ A: square(n, (i, j) => (i + 1) % n === j), cover: even(n, 1), strong: false, alpha: n >> 1 }) },
    teams: { title: "teams of three: members reveal the others", least: 6, step: 3, make: (n) => ({ A: square(n, (i, j) => i !== j && Math.floor(i / 3) === Math.floor(j / 3)), cover: even(n, 1 / 2), strong: false, alpha: n / 3 }) },
    revealing: { title: "revealing action: arm 0 reveals all, the others nothing", least: 3, make: (n) => ({ A: square(n, (i) => i === 0), cover: hub(n), strong: false, alpha: n - 1 }) },
    star: { title: "loopy star: arm 0 reveals all, the others themselves", least: 3, make: (n) => ({ A: square(n, (i, j) => i === 0 || i === j), cover: zeros(n), strong: true, alpha: n - 1 }) },
    bandit: { title: "bandit: each reveals itself", least: 2, make: (n) => ({ A: square(n, (i, j) => i === j), cover: zeros(n), strong: true, alpha: n }) },
    full: { title: "full feedback: each reveals all", least: 2, make: (n) => ({ A: square(n, () => true), cover: zeros(n), strong: true, alpha: 1 }) },
  };

  /** Arms that together reveal every arm, found greedily. */
  function dominating(A) {
    const left = new Set(A.keys()), found = [];
    while (left.size) {
      const gain = A.map((row) => sum(row.map((value, i) => (value && left.has(i) ? 1 : 0))));
      const best = leader(gain);
      found.push(best);
      A[best].forEach((value, i) => { if (value) left.delete(i); });
    }
    return found.sort((a, b) => a - b);
  }

  S.family = (name, n) => {
    const graph = S.FAMILIES[name].make(n);
    return { ...graph, name, n, members: dominating(graph.A) };
  };

  // -- chance -----------------------------------------------------------------------------------------------------

  /** A number in [0, 1) that depends on nothing but these. */
  S.uniform = (...keys) => {
    let h = 0x9e3779b9;
    for (const key of keys) {
      h = Math.imul(h ^ (key >>> 0), 0x85ebca6b);
      h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
      h ^= h >>> 16;
    }
    h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
    return ((h ^ (h >>> 12)) >>> 0) / 2 ** 32;
  };

  /** The arm that a number in [0, 1) draws. */
  S.drawn = (probabilities, u) => {
    let left = u * sum(probabilities);
    for (let j = 0; j < probabilities.length; j++) if ((left -= probabilities[j]) < 0) return j;
    return leader(probabilities);
  };

  /** One game: all plans against the same losses; the gap may change while they play. */
  S.Game = class {
    constructor(graph, { T, seed, gap }) {
      Object.assign(this, { graph, T, seed, gap, t: 0 });
      this.best = Math.floor(S.uniform(seed, 17) * graph.n);
      this.players = S.PLANS.filter((plan) => plan.applies(graph)).map((plan) => ({ name: plan.name, colour: plan.colour, plan: new plan.make(graph, { T }), regret: 0, arm: null }));
    }

    get over() { return this.t >= this.T; }

    step() {
      this.t += 1;
      const losses = zeros(this.graph.n).map((_, i) => (S.uniform(this.seed, this.t, i, 1) < 0.5 - (i === this.best ? this.gap : 0) ? 1 : 0));
      this.players.forEach((player, k) => {
        const arm = S.drawn(player.plan.probabilities, S.uniform(this.seed, this.t, k, 2));
        player.arm = arm;
        player.regret += arm === this.best ? 0 : this.gap;
        player.plan.learn(arm, losses);
      });
    }
  };
})(globalThis.Sidelight);
