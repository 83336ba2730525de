// Plans side by side on a small graph, in the browser's own time.
"use strict";
(function (S) {
  const MOST_POINTS = 500, FRAME = 12, PICTURES = 8;
  const state = { running: false, game: null, curves: [], owed: 0, last: 0, drawn: 0, watched: "self-tuning" };
  const chart = new S.Chart(S.id("regret-plot"), { moved: readout, height: 0.6 });
  Object.assign(chart.options, { logX: false, logY: false, bounds: false, bands: false });
  const graph = new S.Graph(S.id("graph-canvas"), { chosen: around });
  const value = (id) => S.id(id).value;
  const gap = () => +value("gap") / 100;
  const speed = () => Math.round(10 ** (+value("speed") / 100));

  // -- the graph ------------------------------------------------------------------------------------------------

  const packed = (Kind, values) => btoa(String.fromCharCode(...new Uint8Array(Kind.from(values).buffer)));

  function placed({ name, n }) {
    const turn = (k, m, radius, phase = -Math.PI / 2) => [radius * Math.cos(phase + (2 * Math.PI * k) / m), radius * Math.sin(phase + (2 * Math.PI * k) / m)];
    const ring = Math.max(1.2, n / 5);
    if (name === "star" || name === "revealing") return Array.from({ length: n }, (_, i) => (i === 0 ? [0, 0] : turn(i - 1, n - 1, ring)));
    if (name !== "teams") return Array.from({ length: n }, (_, i) => turn(i, n, ring));
    return Array.from({ length: n }, (_, i) => {
      const [x, y] = turn(Math.floor(i / 3), n / 3, Math.max(1.6, n / 5)), [dx, dy] = turn(i % 3, 3, 0.75);
      return [x + dx, y + dy];
    });
  }

  function show(found) {
    const at = placed(found), edges = found.A.map((row) => row.flatMap((on, j) => (on ? [j] : [])));
    const offsets = [0];
    for (const out of edges) offsets.push(offsets[offsets.length - 1] + out.length);
    const starts = edges.flat();
    graph.show({
      arms: found.n, edges: starts.length, labels: null, universal: [],
      x: packed(Float32Array, at.map(([x]) => x)), y: packed(Float32Array, at.map(([, y]) => y)),
      loop: packed(Uint8Array, found.A.map((row, i) => row[i])),
      runs: { bytes: 2, offsets: packed(Uint32Array, offsets), starts: packed(Uint16Array, starts), lengths: packed(Uint16Array, starts.map(() => 1)) },
    });
  }

  function around(arm) {
    if (!state.game || arm === null || arm === undefined) { S.id("arm-readout").textContent = ""; return; }
    const chance = watched().plan.probabilities[arm], { out, into } = graph.around(arm);
    const names = (arms) => (arms.length ? arms.join(", ") : "nothing");
    S.id("arm-readout").textContent = `Arm ${arm}${arm === state.game.best ? ", the best" : ""}: ${state.watched} plays it next with probability ${S.percent(chance)}. It reveals ${names(out)}; revealed by ${names(into)}.`;
  }

  // -- the game -------------------------------------------------------------------------------------------------

  const watched = () => state.game.players.find((player) => player.name === state.watched) || state.game.players[0];

  function reset() {
    const family = S.FAMILIES[value("family")], arms = S.id("arms");
    arms.min = family.least;
    arms.step = family.step || 1;
    S.id("arms-shown").textContent = arms.value;
    const found = S.family(value("family"), +arms.value);
    const seed = Math.max(0, Math.floor(+value("seed") || 0));
    state.game = new S.Game(found, { T: +value("horizon"), seed, gap: gap() });
    state.curves = state.game.players.map(({ name, colour }) => ({ name, colour, dash: 0, x: [1], mean: [0] }));
    state.owed = 0;
    show(found);
    S.options(S.id("watched"), state.game.players.map(({ name }) => [name, name]), watched().name);
    state.watched = watched().name;
    S.id("absent").textContent = state.game.players.length < S.PLANS.length ? "EXP3 and UCB-N are not here: they need arms that reveal themselves." : "";
    picture();
  }

  function run(on) {
    if (on && state.game.over) reset();
    state.running = on;
    S.id("run").textContent = on ? "Pause" : "Play";
    state.last = performance.now();
    if (on) requestAnimationFrame(frame);
  }

  function advance() {
    const { game, curves } = state;
    game.step();
    const every = Math.max(1, Math.floor(game.T / MOST_POINTS));
    if (game.t % every && !game.over) return;
    game.players.forEach((player, k) => {
      curves[k].x.push(game.t);
      curves[k].mean.push(player.regret);
    });
  }

  function frame(now) {
    if (!state.running) return;
    state.owed = Math.min(state.owed + ((now - state.last) / 1000) * speed(), speed());
    state.last = now;
    const until = performance.now() + FRAME;
    while (state.owed >= 1 && !state.game.over && performance.now() < until) {
      advance();
      state.owed -= 1;
    }
    if (now - state.drawn > 1000 / PICTURES || state.game.over) { state.drawn = now; picture(); }
    if (state.game.over) { run(false); return; }
    requestAnimationFrame(frame);
  }

  function picture() {
    const { game, curves } = state;
    document.documentElement.dataset.round = game.t;
    S.id("round").textContent = game.t.toLocaleString("en-US");
    if (!S.id("regret-plot").matches(":hover")) chart.show({ x: "round t", y: "regret", column: "round", curves: curves.map((curve) => ({ ...curve, x: [...curve.x], mean: [...curve.mean] })) });
    graph.colour({ values: watched().plan.probabilities, log: false });
    around(graph.pointed ?? graph.arm ?? null);
    table();
  }

  function table() {
    const { game } = state, body = S.id("race").tBodies[0];
    while (body.rows.length > game.players.length) body.lastChild.remove();
    while (body.rows.length < game.players.length) {
      body.append(S.make("tr", {}, S.make("th", { scope: "row" }, S.make("i"), S.make("span")), S.make("td", { className: "n" }), S.make("td", {}, S.make("i")), S.make("td", { className: "n" })));
    }
    game.players.forEach((player, k) => {
      const [name, regret, bar, share] = body.rows[k].cells, colour = `c${state.curves[k].colour}`, chance = player.plan.probabilities[game.best];
      name.firstChild.className = `swatch ${colour}`;
      name.lastChild.textContent = ` ${player.name}`;
      regret.textContent = S.number(player.regret);
      bar.firstChild.className = `strip-bar ${colour}`;
      bar.firstChild.style.width = `${100 * chance}%`;
      share.textContent = S.percent(chance);
      body.rows[k].classList.toggle("focus", player.name === state.watched);
    });
    const tuned = game.players[0].plan;
    S.id("tuned").textContent = `Arm ${game.best} is the best. The self-tuning rule certifies a regret of at most ${S.number(tuned.certificate)} in expectation so far; its temperature is β = ${S.number(tuned.beta)}.`;
  }

  function readout(round) {
    const curves = chart.spec?.curves || [];
    S.id("readout").textContent = `Round ${S.number(round)}: ` + curves.map(({ name, x, mean }) => `${name} ${S.number(mean[S.before(x, round)])}`).join(", ");
  }

  // -- hands ------------------------------------------------------------------------------------------------------

  S.options(S.id("family"), Object.entries(S.FAMILIES).map(([name, { title }]) => [name, title]), "cycle");
  const shown = () => {
    S.id("gap-shown").textContent = gap().toFixed(2);
    S.id("speed-shown").textContent = `${S.number(speed())} rounds a second`;
  };
  S.id("gap").addEventListener("input", () => { shown(); state.game.gap = gap(); });
  S.id("speed").addEventListener("input", shown);
  for (const id of ["family", "horizon", "seed", "arms"]) S.id(id).addEventListener("input", () => { if (id === "family") S.id("arms").min = S.FAMILIES[value("family")].least; reset(); });
  S.id("watched").addEventListener("input", () => { state.watched = value("watched"); picture(); });
  S.id("run").addEventListener("click", () => run(!state.running));
  S.id("step").addEventListener("click", () => { run(false); if (!state.game.over) advance(); picture(); });
  S.id("reset").addEventListener("click", () => { run(false); reset(); });
  S.id("csv").addEventListener("click", () => S.download("playground.csv", S.csv(...chart.table())));
  S.toggle(S.id("log-x"), (on) => chart.set("logX", on));
  S.toggle(S.id("log-y"), (on) => chart.set("logY", on));
  shown();
  reset();
  document.documentElement.dataset.ready = "";
})(globalThis.Sidelight);
