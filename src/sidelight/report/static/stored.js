// The policies of a store as the page holds them: nothing is asked for, and nothing moves.
"use strict";
(function (S) {
  const page = S.policies, data = JSON.parse(S.id("data").textContent);
  const told = new Map(data.policies.map((each) => [each.state.policy.name, each]));
  page.now = () => data.time;
  page.open = (name) => {
    if (page.name === name || !told.has(name)) return;
    const { graph, certificates, state } = told.get(name);
    page.begin(name);
    page.drawn(graph, certificates);
    page.moved(state);
  };
  S.id("written").textContent = new Date(data.time * 1000).toLocaleString("en-GB");
  page.show("list", true);
  page.list({ policies: data.policies.map((each) => each.state.policy), more: data.more });
  page.chosen();
  if (page.name === null && data.policies.length) page.open(data.policies[0].state.policy.name);
  document.documentElement.dataset.ready = "";
})(globalThis.Sidelight);
