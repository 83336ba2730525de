"use strict";

const token = document.getElementById("token");
const message = document.getElementById("message");
const table = document.getElementById("policies");

function number(value) {
  return value === null ? "–" : value.toLocaleString(undefined, { maximumFractionDigits: 2 });
}

async function show() {
  message.textContent = "";
  const rows = [];
  let after = "";
  do {
    const answer = await fetch(`v1/policies?limit=100&after=${encodeURIComponent(after)}`, {
      headers: { Authorization: `Bearer ${token.value}` },
    });
    const body = await answer.json();
    if (!answer.ok) {
      message.textContent = body.error.message;
      return;
    }
    rows.push(...body.policies);
    after = body.next;
  } while (after);
  const lines = rows.map((policy) => {
    const line = document.createElement("tr");
    const cells = [policy.name, number(policy.arms), number(policy.decided), number(policy.open),
      number(policy.certificate.value), number(policy.bound.value), number(policy.entropy)];
    for (const text of cells) {
      const cell = document.createElement("td");
      cell.textContent = text;
      line.append(cell);
    }
    return line;
  });
  table.tBodies[0].replaceChildren(...lines);
  table.hidden = rows.length === 0;
  message.textContent = rows.length === 0 ? "There are no policies yet." : "";
}

document.getElementById("show").addEventListener("click", () => {
  show().catch((error) => { message.textContent = String(error); });
});
token.addEventListener("keydown", (event) => {
  if (event.key === "Enter") document.getElementById("show").click();
});
