// The page looks at /state once a second and fetches the parts of experiments that have changed.
"use strict";

const run = document.body.dataset.run;
const seen = new Map(); // experiment -> how many of its points had ended when it was fetched
const one = (id) => document.getElementById(id);
const COLOURS = ["#3b78d8", "#e08214", "#3a9a6a", "#c2497f", "#7b61c9", "#8c6d31", "#2aa3b3", "#b23b3b"];

function say(text) {
  one("message").textContent = text;
  one("message").hidden = !text;
}

async function post(address, what) {
  const answer = await fetch(address, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(what),
  });
  if (!answer.ok) {
    say(await answer.text());
    return null;
  }
  say("");
  return answer.json();
}

async function refresh(name, ended) {
  if (seen.get(name) === ended) return;
  const answer = await fetch(`/runs/${run}/experiments/${name}`);
  if (!answer.ok) return;
  document.querySelector(`[data-experiment="${name}"]`).innerHTML = await answer.text();
  seen.set(name, ended);
}

function part(kind, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function draw(samples) { // each: [seconds, loads of the cores, share of the experiment, memory in MB]
  one("live").hidden = samples.length < 2;
  if (samples.length < 2) return;
  const first = samples[0][0], span = samples[samples.length - 1][0] - first;
  const place = (sample, load) => `${(600 * (sample[0] - first)) / span},${118 - 116 * load}`;
  const own = samples.map((s) => place(s, s[2])).join(" ");
  const lines = [part("polygon", { points: `0,118 ${own} 600,118`, fill: "#2aa3b3", "fill-opacity": 0.3 })];
  samples[0][1].forEach((_, core) => lines.push(part("polyline", {
    points: samples.map((s) => place(s, s[1][core])).join(" "), fill: "none", "stroke-width": 1.5,
    stroke: COLOURS[core % COLOURS.length], "vector-effect": "non-scaling-stroke",
  })));
  document.querySelector("#live svg").replaceChildren(...lines);
  const last = samples[samples.length - 1];
  const loads = last[1].map((load) => `${Math.round(100 * load)}%`).join(", ");
  one("legend").textContent = `cores ${loads}; this experiment ${Math.round(100 * last[2])}% of all; ${Math.round(last[3])} MB`;
}

function show(state) {
  const { busy, present } = state, left = state.points - state.done;
  one("headline").textContent = `Run ${run}: ${state.done} of ${state.points} points${busy ? "" : left ? ", stopped" : ""}`;
  one("points").max = state.points;
  one("points").value = state.done + (present ? present.share : 0);
  one("points").hidden = !left;
  one("present").textContent = present ? `${present.experiment}: ${present.point} ${present.what}` : "";
  one("stop").hidden = !busy;
  one("resume").hidden = busy || !left;
  one("start").disabled = busy;
  draw(state.samples);
  if (state.trouble !== trouble) say((trouble = state.trouble));
}

let tally = null, trouble = "";
async function look() {
  try {
    const answer = await fetch(run ? `/state?run=${run}` : "/state");
    const state = await answer.json();
    if (run) {
      show(state);
      for (const [name, ended] of Object.entries(state.experiments)) await refresh(name, ended);
      if (tally !== null && tally !== state.done) await recount();
      tally = state.done;
    }
    document.body.dataset.busy = state.busy;
  } catch (failure) {
    say(`The lab does not answer (${failure.message}).`);
  }
  setTimeout(look, 1000);
}

async function recount() { // the tally of claims is part of the page itself
  const text = await (await fetch(`/?run=${run}`)).text();
  const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("#status .tally");
  const old = document.querySelector("#status .tally");
  if (old) old.remove();
  if (fresh) one("status").append(fresh);
}

one("choose").addEventListener("submit", async (event) => {
  event.preventDefault();
  const chosen = [...document.querySelectorAll("[name=experiment]:checked")].map((box) => box.value);
  if (!chosen.length) return say("Choose at least one experiment.");
  const begun = await post("/start", { experiments: chosen, quick: one("quick").checked });
  if (begun) location.href = `/?run=${begun.run}`;
});

document.querySelectorAll(".group").forEach((box) => box.addEventListener("change", () => {
  box.closest("fieldset").querySelectorAll("[name=experiment]").forEach((other) => { other.checked = box.checked; });
}));

if (run) {
  one("stop").addEventListener("click", () => post("/stop", {}));
  one("resume").addEventListener("click", () => post("/resume", { run: Number(run) }));
  one("run").addEventListener("change", (event) => { location.href = `/?run=${event.target.value}`; });
}
look();
