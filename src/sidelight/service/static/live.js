// The page of the service: reads two streams of server-sent events, all policies and one of them, and shows what they tell.
// EventSource cannot send a token, so streams are fetched and taken apart here; the token stays in this tab.
"use strict";
(function (S) {
  const KEY = "sidelight-token", MOST_BARS = 20, MOST_POINTS = 600;
  const RETRIES = [500, 1000, 2000, 5000];

  // -- streams --------------------------------------------------------------------------------------------

  class Refused extends Error {}

  /** Events of a stream until it ends, each as (name, data); throws `Refused` where the service says no. */
  async function follow(path, token, signal, take) {
    const answer = await fetch(path, { headers: { Authorization: `Bearer ${token}`, Accept: "text/event-stream" }, cache: "no-store", signal });
    if (!answer.ok) {
      const told = await answer.json().catch(() => null);
      const why = new Refused(told?.error?.message || `the service answers ${answer.status}`);
      why.status = answer.status;
      throw why;
    }
    const reader = answer.body.getReader(), decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const pieces = text.split("\n\n");
      text = pieces.pop();
      for (const piece of pieces) {
        let name = "message", data = "";
        for (const line of piece.split("\n")) {
          if (line.startsWith("event: ")) name = line.slice(7);
          else if (line.startsWith("data: ")) data += line.slice(6);
        }
        if (data) take(name, JSON.parse(data));
      }
    }
  }

  /** A stream that is asked for again whenever it breaks off; `stop()` ends it. */
  class Stream {
    constructor(path, { take, refused, state = () => {} }) {
      this.abort = new AbortController();
      this.#run(path, take, refused, state);
    }

    async #run(path, take, refused, state) {
      let failures = 0;
      while (!this.abort.signal.aborted) {
        try {
          await follow(path, session.token, this.abort.signal, (name, data) => {
            if (this.abort.signal.aborted) return;
            failures = 0;
            state(true);
            take(name, data);
          });
        } catch (error) {
          if (this.abort.signal.aborted) return;
          if (error instanceof Refused && error.status < 500 && error.status !== 429) return refused(error);
        }
        if (this.abort.signal.aborted) return;
        state(false);
        await new Promise((done) => setTimeout(done, RETRIES[Math.min(failures++, RETRIES.length - 1)]));
      }
    }

    stop() { this.abort.abort(); }
  }

  // -- signing in -------------------------------------------------------------------------------------------

  const session = {
    token: sessionStorage.getItem(KEY) || "",
    list: null,
    one: null,
    known: new Map(),
    skew: 0, // the clock of the service minus ours, in seconds
  };

  function show(id, on) { S.id(id).hidden = !on; }
  function say(id, text) {
    S.id(id).textContent = text;
    show(id, Boolean(text));
  }

  function signIn(token) {
    session.token = token;
    say("refused", "");
    session.list = new Stream("v1/stream", {
      take: (name, data) => {
        sessionStorage.setItem(KEY, token);
        health(data);
        if (name === "policies") listed(data);
      },
      refused: (error) => signOut(error.message),
      state: connected,
    });
  }

  function signOut(why = "") {
    sessionStorage.removeItem(KEY);
    session.list?.stop();
    session.one?.stop();
    session.list = session.one = session.name = null;
    session.known.clear();
    for (const id of ["list", "policy", "sign-out", "summary"]) show(id, false);
    S.id("status").textContent = "";
    say("problems", "");
    say("refused", why);
    show("door", true);
    S.id("token").value = "";
    S.id("token").focus();
  }

  function connected(on) {
    const status = S.id("status"), text = on ? "live" : "connecting again …";
    status.className = `status ${on ? "on" : "off"}`;
    if (status.textContent !== text) status.textContent = text;
    if (!on || !S.id("list").hidden) return;
    show("door", false);
    show("list", true);
    show("sign-out", true);
    chosen();
  }

  function health({ time, problems }) {
    session.skew = time - Date.now() / 1000;
    say("problems", problems.length ? `The service is not well: ${problems.join("; ")}.` : "");
  }

  // -- all policies -----------------------------------------------------------------------------------------

  const plural = (count, one, many) => `${S.number(count)} ${count === 1 ? one : many}`;
  const spread = (entropy) => plural(+Math.exp(entropy).toPrecision(3), "arm", "arms");

  function listed({ policies, gone, more }) {
    for (const name of gone) session.known.delete(name);
    for (const policy of policies) session.known.set(policy.name, policy);
    const all = [...session.known.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
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
    if (!session.name && all.length && !location.hash) open(all[0].name);
  }

  function mark() {
    for (const row of S.id("policies").tBodies[0].rows) {
      const on = row.dataset.name === session.name;
      row.classList.toggle("chosen", on);
      const link = row.cells[0].firstChild;
      if (on) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    }
  }

  // -- one policy -------------------------------------------------------------------------------------------

  function chosen() {
    const found = location.hash.match(/^#policy=(.+)$/);
    if (!found) return;
    try { open(decodeURIComponent(found[1])); } catch { /* no name */ }
  }

  let points = null, drawing = null, state = null, paused = false;

  function open(name) {
    if (!session.list || session.name === name) return;
    session.one?.stop();
    session.name = name;
    points = { x: [], certificate: [], promised: [], bound: null };
    state = drawing = null;
    say("lost", "");
    S.id("policy-title").textContent = name;
    show("policy", true);
    mark();
    session.one = new Stream(`v1/policies/${encodeURIComponent(name)}/stream`, {
      take: (event, data) => {
        if (event === "graph") drawn(data);
        else if (event === "policy") moved(data);
        else if (event === "alive") { health(data); ages(); }
        else if (event === "gone" && data.removed) {
          say("lost", "This policy has been removed; what is shown is the last that was known.");
          session.one.stop();
        }
      },
      refused: (error) => say("lost", error.message),
    });
  }

  const graph = new S.Graph(S.id("graph-canvas"), { chosen: around });
  const chart = new S.Chart(S.id("certificate-plot"), { moved: pointed, height: 0.32 });
  Object.assign(chart.options, { logX: false, logY: false });
  let logarithmic = false;

  function drawn(data) {
    drawing = data;
    graph.show(data);
    points.promised = data.promised || [];
    around(null);
  }

  function moved(data) {
    state = data;
    health(data);
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
    const seconds = Math.max(0, Date.now() / 1000 + session.skew - since);
    for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60]]) if (seconds >= length) return `${Math.floor(seconds / length)} ${unit}`;
    return `${Math.floor(seconds)} s`;
  }

  function ages() {
    if (!state) return;
    const cell = (text, name) => S.make("td", { textContent: text, className: name || "" });
    S.id("waiting").replaceChildren(...state.waiting.map(({ decision, arm, time }) =>
      S.make("tr", {}, cell(decision.toLocaleString("en-US"), "n"), cell(nameOf(arm)), cell(age(time), "n"))));
    const left = state.policy.open - state.waiting.length;
    const expires = state.policy.expires === null ? "" : ` An answer is waited for ${age(Date.now() / 1000 + session.skew - state.policy.expires)}.`;
    S.id("waiting-note").textContent = (state.policy.open ? (left ? `The oldest; ${plural(left, "more is", "more are")} open.` : "") : "Every decision has been answered or given up.") + expires;
  }

  let newest = 0;
  function recent(events) {
    const cell = (text, name) => S.make("td", { textContent: text, className: name || "" });
    S.id("recent").replaceChildren(...events.map(({ seq, what, time, decision, arm, values, revealed }) => {
      const told = values ? values.map((value) => (value === null ? "failed" : S.number(value))).join(", ") + (revealed > values.length ? ", …" : "") : "";
      const word = S.make("span", { className: `what ${what}`, textContent: what });
      return S.make("tr", { className: seq > newest && newest ? "fresh" : "" }, cell(new Date(time * 1000).toLocaleTimeString("en-GB")), S.make("td", {}, word),
        cell(decision ? decision.toLocaleString("en-US") : "", "n"), cell(arm === undefined ? "" : nameOf(arm)), cell(told));
    }));
    newest = events.length ? events[0].seq : 0;
  }

  // -- hands --------------------------------------------------------------------------------------------------

  S.id("sign-in").addEventListener("submit", (event) => {
    event.preventDefault();
    signIn(S.id("token").value.trim());
  });
  S.id("sign-out").addEventListener("click", () => signOut());
  addEventListener("hashchange", () => {
    chosen();
    if (session.name) S.id("policy-title").focus({ preventScroll: false });
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
    if (chart.spec) S.download(`${session.name}-certificate.csv`, S.csv(...chart.table()));
  });
  S.toggle(S.id("pause"), (on) => {
    paused = on;
    if (!on && state) recent(state.recent);
  });
  setInterval(() => { if (!document.hidden) ages(); }, 1000);

  if (session.token) signIn(session.token); else { show("door", true); S.id("token").focus(); }
  document.documentElement.dataset.ready = "";
})(globalThis.Sidelight);
