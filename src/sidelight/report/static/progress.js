// How far a sweep is, above its page: told by the server of `sidelight look --live`; new results are shown on request.
"use strict";
(function (S) {
  const bar = S.make("progress", { max: 1, value: 0 });
  bar.setAttribute("aria-label", "Rounds of the sweep that are played");
  const text = S.make("span", { textContent: "…" });
  const again = S.make("button", { type: "button", hidden: true });
  again.addEventListener("click", () => location.reload());
  const strip = S.make("p", { className: "progress", role: "status" }, bar, text, again);
  document.querySelector("main").prepend(strip);
  const duration = (seconds) => (seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${+(seconds / 3600).toPrecision(2)} h`);
  let first = null;
  const source = new EventSource("events");
  source.addEventListener("progress", (event) => {
    const { done, total, share, rate, left } = JSON.parse(event.data);
    first ??= done;
    bar.value = share;
    const pace = rate === null || done === total ? "" : ` · ${S.number(rate)} rounds a second · about ${duration(left)} left`;
    text.textContent = done === total ? `All ${total} cells are finished.` : `${done} of ${total} cells are finished${pace}`;
    strip.dataset.done = done;
    again.hidden = done === first;
    again.textContent = `Show ${done - first} more`;
    if (done === total) source.close();
  });
  source.addEventListener("error", () => { text.textContent = "The server has ended; what is below stays."; });
})(globalThis.Sidelight);
