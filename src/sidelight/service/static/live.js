// The page of the service: reads two streams of server-sent events, all policies and one of them, and shows what they tell.
// EventSource cannot send a token, so streams are fetched and taken apart here; the token stays in this tab.
"use strict";
(function (S) {
  const KEY = "sidelight-token", page = S.policies, { show, say } = page;
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
    skew: 0, // the clock of the service minus ours, in seconds
  };
  page.now = () => Date.now() / 1000 + session.skew;

  function signIn(token) {
    session.token = token;
    say("refused", "");
    session.list = new Stream("v1/stream", {
      take: (name, data) => {
        sessionStorage.setItem(KEY, token);
        health(data);
        if (name === "policies") page.list(data);
      },
      refused: (error) => signOut(error.message),
      state: connected,
    });
  }

  function signOut(why = "") {
    sessionStorage.removeItem(KEY);
    session.list?.stop();
    session.one?.stop();
    session.list = session.one = null;
    page.forget();
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
    page.chosen();
  }

  function health({ time, problems }) {
    session.skew = time - Date.now() / 1000;
    say("problems", problems.length ? `The service is not well: ${problems.join("; ")}.` : "");
  }

  // -- one policy -------------------------------------------------------------------------------------------

  page.open = (name) => {
    if (!session.list || page.name === name) return;
    session.one?.stop();
    page.begin(name);
    session.one = new Stream(`v1/policies/${encodeURIComponent(name)}/stream`, {
      take: (event, data) => {
        if (event === "graph") page.drawn(data);
        else if (event === "policy") { health(data); page.moved(data); }
        else if (event === "alive") { health(data); page.ages(); }
        else if (event === "gone" && data.removed) {
          say("lost", "This policy has been removed; what is shown is the last that was known.");
          session.one.stop();
        }
      },
      refused: (error) => say("lost", error.message),
    });
  };

  // -- hands --------------------------------------------------------------------------------------------------

  S.id("sign-in").addEventListener("submit", (event) => {
    event.preventDefault();
    signIn(S.id("token").value.trim());
  });
  S.id("sign-out").addEventListener("click", () => signOut());
  setInterval(() => { if (!document.hidden) page.ages(); }, 1000);

  if (session.token) signIn(session.token); else { show("door", true); S.id("token").focus(); }
  document.documentElement.dataset.ready = "";
})(globalThis.Sidelight);
