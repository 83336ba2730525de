// Policies as they stand: all of them in a table, and one with its graph, probabilities, certificate and events.
// Who tells it is another script's business: live.js (the streams of a service) or stored.js (what the page holds).
"use strict";
(function (S) {
  const MOST_BARS = 20, MOST_POINTS = 600;

  /**
   * `list(told)` fills the table. `begin(name)` clears the place of one policy; `drawn(graph)` and `moved(state)` fill it,
   * with what service/telling.py tells. The script that tells sets `open`, called with a name that was chosen, and `now`.
   */
  const page = {
    name: null, // of the policy that is open
    now: () => Date.now() / 1000, // by the clock that times are told by
    open: () => {},
    list, begin, drawn, moved, ages, show, say, chosen,
    forget() {
      page.name = null;
      known.clear();
    },
  };
  S.policies = page;

  function show(id, on) { S.id(id).hidden = !on; }
  function say(id, text) {
    S.id(id).textContent = text;
    show(id, Boolean(text));
  }

  // -- all policies -----------------------------------------------------------------------------------------

  const plural = (count, one, many) => `${S.number(count)} ${count === 1 ? one : many}`;
  const spread = (entropy) => plural(+Math.exp(entropy).toPrecision(3), "arm", "arms");

  const known = new Map();

  /** Policies that are new or have moved on, names of those that are gone, and whether there are more than are told. */
  function list({ policies, gone = [], more = false }) {
    for (const name of gone) known.delete(name);
    for (const policy of policies) known.set(policy.name, policy);
    const all = [...known.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const sum = (key) => all.reduce((total, policy) => total + policy[key], 0);
    say("summary", all.length ? `${plural(all.length, "policy has", "policies have")} made ${plural(sum("decided"), "decision", "decisions")}; ${plural(sum("open"), "waits", "wait")} for an answer.` : "");
    show("empty", all.length === 0);
    show("more", more);
    S.id("policies").hidden = all.length === 0;
    const body = S.id("policies").tBodies[0];
    const rows = new Map([...body.rows].map((row) => [row.dataset.name, row]));
    all.forEach((policy, at) => {
      let row = rows.get(policy.name);
      rows.delete(policy.name);
      if (!row) {
        const link = S.make("a", { href: `#policy=${encodeURIComponent(policy.name)}`, textContent: policy.name });
        row = S.make("tr", { "data-name": policy.name }, S.make("th", { scope: "row" }, link), ...Array.from({ length: 6 }, () => S.make("td", { className: "n" }, S.make("span"))));
        row.cells[4].prepend(S.make("span", { className: "gauge", "aria-hidden": "true" }, S.make("i")));
      }
      if (body.rows[at] !== row) body.insertBefore(row, body.rows[at] || null);
      const { certificate, bound } = policy;
      const texts = [policy.arms, policy.decided, policy.open].map((value) => value.toLocaleString("en-US"));
      texts.push(S.number(certificate.value), S.number(bound.value), spread(policy.entropy));
      texts.forEach((text, k) => {
        const place = row.cells[k + 1].lastChild;
        if (place.textContent !== text) place.textContent = text;
      });
      row.cells[4].firstChild.firstChild.style.width = `${bound.value > 0 ? Math.min(100, (100 * (certificate.value || 0)) / bound.value) : 0}%`;
    });
    for (const row of rows.values()) row.remove();
    mark();
    if (page.name === null && all.length && !location.hash) page.open(all[0].name);
  }

  function mark() {
    for (const row of S.id("policies").tBodies[0].rows) {
      const on = row.dataset.name === page.name;
      row.classList.toggle("chosen", on);
      const link = row.cells[0].firstChild;
      if (on) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    }
  }

  // -- one policy -------------------------------------------------------------------------------------------

  /** Open the policy that the address names, if it does. */
  function chosen() {
    const found = location.hash.match(/^#policy=(.+)$/);
    if (!found) return;
    try { page.open(decodeURIComponent(found[1])); } catch { /* no name */ }
  }

  let points = null, drawing = null, state = null, paused = false;

  function begin(name) {
    page.name = name;
    points = { x: [], certificate: [], promised: [] };
    state = drawing = null;
    newest = 0;
    say("lost", "");
    S.id("policy-title").textContent = name;
    show("policy", true);
    mark();
  }

  const graph = new S.Graph(S.id("graph-canvas"), { chosen: around });
  const chart = new S.Chart(S.id("certificate-plot"), { moved: pointed, height: 0.32 });
  Object.assign(chart.options, { logX: false, logY: false });
  let logarithmic = false;

  /** The graph of the policy that is open, and [round, certificate] of the rounds before now, where they are known. */
  function drawn(data, certificates = []) {
    drawing = data;
    graph.show(data);
    points.x = certificates.map(([round]) => round);
    points.certificate = certificates.map(([, value]) => value);
    points.promised = [...(data.promised || [])];
    around(null);
  }

  /** The policy that is open, as it stands now. */
  function moved(data) {
    state = data;
    const { policy } = data;
    if (data.probabilities) data.chances = S.floats(data.probabilities);
    say("lost", "");
    about(policy);
    counts(policy);
    bars();
    if (data.chances) graph.colour({ values: data.chances, log: logarithmic });
    around(graph.pointed ?? graph.arm ?? null);
    curve(policy);
    ages();
    if (!paused) recent(data.recent);
  }

  function nameOf(arm) {
    const label = drawing?.labels ? drawing.labels[arm] : state?.names?.[arm];
    return label === undefined || label === null || label === String(arm) ? String(arm) : `${arm} ${label}`;
  }

  function about({ arms, edges, horizon, realization, unit, created }) {
    const length = horizon === null ? "any number of rounds" : plural(horizon, "round", "rounds");
    const told = `${unit.kind} from ${S.number(unit.low)} to ${S.number(unit.high)}`;
    S.id("about").textContent = `${plural(arms, "arm", "arms")}, ${plural(edges, "edge", "edges")} · ${realization} plan for ${length} · ${told} · made ${new Date(created * 1000).toLocaleString("en-GB")}`;
  }

  function counts(policy) {
    const { certificate, bound } = policy;
    const share = certificate.value !== null && bound.value > 0 ? `${S.percent(certificate.value / bound.value)} of the bound` : "";
    const rounds = plural(bound.rounds, "round", "rounds");
    const told = [
      ["decided", policy.decided.toLocaleString("en-US"), ""],
      ["open", policy.open.toLocaleString("en-US"), ""],
      ["cancelled", policy.cancelled.toLocaleString("en-US"), policy.expired ? `and ${policy.expired.toLocaleString("en-US")} expired` : ""],
      ["certificate", S.number(certificate.value), share],
      ["bound", S.number(bound.value), `for ${rounds}${bound.certified ? "" : ", not certified"}`],
      ["plays like", spread(policy.entropy), "chosen uniformly"],
    ];
    const host = S.id("counts");
    host.dataset.decided = policy.decided;
    host.dataset.round = policy.round;
    if (!host.childElementCount) host.replaceChildren(...told.map(([name]) => S.make("div", {}, S.make("dt", { textContent: name }), S.make("dd"))));
    told.forEach(([, value, note], k) => {
      const place = host.children[k].lastChild, text = value + note;
      if (place.dataset.text === text) return;
      place.dataset.text = text;
      place.replaceChildren(value, note ? S.make("small", { textContent: note }) : "");
    });
  }

  /** Arms in their order where all fit, else the most probable ones. */
  function bars() {
    const { likely, policy } = state;
    const few = policy.arms <= MOST_BARS;
    const shown = few ? [...likely].sort((a, b) => a[0] - b[0]) : likely.slice(0, MOST_BARS);
    const most = Math.max(...likely.map(([, chance]) => chance), 1e-300);
    const body = S.id("bars").tBodies[0];
    while (body.rows.length > shown.length) body.lastChild.remove();
    while (body.rows.length < shown.length) body.append(S.make("tr", {}, S.make("th", { scope: "row" }), S.make("td", {}, S.make("i")), S.make("td", { className: "n" })));
    shown.forEach(([arm, chance], k) => {
      const [name, bar, number] = body.rows[k].cells;
      const text = nameOf(arm);
      if (name.textContent !== text) name.textContent = name.title = text;
      bar.firstChild.style.width = `${(100 * chance) / most}%`;
      number.textContent = S.percent(chance);
      body.rows[k].classList.toggle("chosen", arm === graph.arm);
    });
    const rest = 1 - shown.reduce((total, [, chance]) => total + chance, 0);
    S.id("others").textContent = few ? "" : `${plural(policy.arms - shown.length, "other arm", "other arms")}: ${S.percent(Math.max(0, rest))} together.`;
  }

  function around(arm) {
    const place = S.id("arm-readout");
    if (arm === null || arm === undefined || !drawing) { place.textContent = ""; return; }
    const near = graph.around(arm);
    const chance = state?.chances ? `, played next with probability ${S.percent(state.chances[arm])}` : "";
    const names = (arms) => (arms.length ? arms.slice(0, 8).map(nameOf).join(", ") + (arms.length > 8 ? ` and ${arms.length - 8} more` : "") : "nothing");
    place.textContent = `Arm ${nameOf(arm)}${chance}. ` + (near ? `It reveals ${names(near.out)}; ${near.into.length ? names(near.into) : "no arm"} reveal${near.into.length === 1 ? "s" : ""} it.` : "");
    if (state) bars();
  }

  // -- certificate against bound ----------------------------------------------------------------------------

  function curve({ certificate, bound, horizon }) {
    const { x, certificate: values, promised } = points;
    if (certificate.value !== null && (!x.length || certificate.round > x[x.length - 1])) {
      x.push(Math.max(certificate.round, 1));
      values.push(certificate.value);
    } else if (certificate.value !== null) values[values.length - 1] = certificate.value;
    if (bound.value !== null) {
      if (horizon !== null) points.promised = [[1, bound.value], [horizon, bound.value]];
      else if (!promised.length || bound.rounds > promised[promised.length - 1][0]) promised.push([bound.rounds, bound.value]);
    }
    for (const thinned of [[x, values], [promised]]) if (thinned[0].length > MOST_POINTS) thinned.forEach(thin);
    if (!S.id("certificate-plot").matches(":hover") && !S.id("certificate-plot").contains(document.activeElement)) plot(); // whoever reads is not disturbed
  }

  /** Every other point of the older half: the newest stay as they are. */
  function thin(list) {
    const half = list.length >> 1;
    list.splice(0, half, ...list.slice(0, half).filter((_, k) => k % 2 === 0));
  }

  function plot() {
    const { x, certificate, promised } = points;
    const curves = [];
    if (x.length) curves.push({ name: "certificate", colour: 0, dash: 0, x: [...x], mean: [...certificate], points: x.length < 3 });
    if (promised.length) curves.push({ name: "bound", colour: 1, dash: 1, x: promised.map(([t]) => t), mean: promised.map(([, value]) => value), points: promised.length < 2 });
    if (curves.length) chart.show({ x: "round t", y: "regret at most", column: "round", curves });
  }

  function pointed(round) {
    const at = (curve) => curve && S.number(curve.mean[S.before(curve.x, round)]);
    const [first, second] = ["certificate", "bound"].map((name) => chart.spec?.curves.find((curve) => curve.name === name));
    S.id("certificate-readout").textContent = `Round ${S.number(round)}: ` + [first && first.x[0] <= round ? `certificate ${at(first)}` : "", second ? `bound ${at(second)}` : ""].filter(Boolean).join(", ");
  }

  // -- what waits and what happened ---------------------------------------------------------------------------

  function age(since) {
    const seconds = Math.max(0, page.now() - since);
    for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60]]) if (seconds >= length) return `${Math.floor(seconds / length)} ${unit}`;
    return `${Math.floor(seconds)} s`;
  }

  function ages() {
    if (!state) return;
    const cell = (text, name) => S.make("td", { textContent: text, className: name || "" });
    S.id("waiting").replaceChildren(...state.waiting.map(({ decision, arm, time }) =>
      S.make("tr", {}, cell(decision.toLocaleString("en-US"), "n"), cell(nameOf(arm)), cell(age(time), "n"))));
    const left = state.policy.open - state.waiting.length;
    const expires = state.policy.expires === null ? "" : ` An answer is waited for ${age(page.now() - state.policy.expires)}.`;
    S.id("waiting-note").textContent = (state.policy.open ? (left ? `The oldest; ${plural(left, "more is", "more are")} open.` : "") : "Every decision has been answered or given up.") + expires;
  }

  /** The time of day, and the day where it is another one. */
  function moment(time) {
    const [then, now] = [time, page.now()].map((seconds) => new Date(seconds * 1000));
    const day = then.toDateString() === now.toDateString() ? "" : `${then.toLocaleDateString("en-GB")} `;
    return day + then.toLocaleTimeString("en-GB");
  }

  let newest = 0;
  function recent(events) {
    const cell = (text, name) => S.make("td", { textContent: text, className: name || "" });
    S.id("recent").replaceChildren(...events.map(({ seq, what, time, decision, arm, values, revealed }) => {
      const told = values ? values.map((value) => (value === null ? "failed" : S.number(value))).join(", ") + (revealed > values.length ? ", …" : "") : "";
      const word = S.make("span", { className: `what ${what}`, textContent: what });
      return S.make("tr", { className: seq > newest && newest ? "fresh" : "" }, cell(moment(time)), S.make("td", {}, word),
        cell(decision ? decision.toLocaleString("en-US") : "", "n"), cell(arm === undefined ? "" : nameOf(arm)), cell(told));
    }));
    newest = events.length ? events[0].seq : 0;
  }

  // -- hands --------------------------------------------------------------------------------------------------

  addEventListener("hashchange", () => {
    chosen();
    if (page.name !== null) S.id("policy-title").focus({ preventScroll: false });
  });
  S.toggle(S.id("graph-log"), (on) => {
    logarithmic = on;
    if (state?.chances) graph.colour({ values: state.chances, log: on });
  });
  S.id("graph-in").addEventListener("click", () => graph.zoom(1.4));
  S.id("graph-out").addEventListener("click", () => graph.zoom(1 / 1.4));
  S.id("graph-reset").addEventListener("click", () => graph.reset());
  S.toggle(S.id("log-x"), (on) => { if (chart.spec) chart.set("logX", on); else chart.options.logX = on; });
  S.toggle(S.id("log-y"), (on) => { if (chart.spec) chart.set("logY", on); else chart.options.logY = on; });
  S.id("certificate-csv").addEventListener("click", () => {
    if (chart.spec) S.download(`${page.name}-certificate.csv`, S.csv(...chart.table()));
  });
  if (S.id("pause")) {
    S.toggle(S.id("pause"), (on) => {
      paused = on;
      if (!on && state) recent(state.recent);
    });
  }
})(globalThis.Sidelight);
