// The page: its form, its list of jobs, and one or two plans; the address holds what is shown, so that it can be shared.

import { Comparison } from "./pane/comparison.js";
import { JobList } from "./aside/job_list.js";
import { Pane } from "./pane/pane.js";
import { ProblemForm } from "./aside/problem_form.js";
import { notices, Refused, token } from "./service/requests.js";
import { FileSource, JobSource } from "./service/sources.js";
import { element, showError } from "./text.js";
import { setUpTheme } from "./theme.js";

const place = (id) => document.getElementById(id);
const workspace = place("workspace");
const form = new ProblemForm(place("problem"));
const jobs = new JobList(place("jobs"));
let panes = [];
let comparison = null;

// Show these, left to right; the browser's Back returns to what was shown before, unless `step` is "replaceState".
function show(sources, step = "pushState") {
  comparison?.close();
  comparison = null;
  const kept = sources.map((source) => panes.find((pane) => source.address !== null && pane.source.address === source.address));
  for (const pane of panes) if (!kept.includes(pane)) pane.close();
  panes = sources.map((source, i) => kept[i] ?? newPane(source));
  place("welcome").hidden = panes.length > 0;
  place("panes").replaceChildren(...panes.map((pane) => pane.root));
  workspace.classList.toggle("two", panes.length === 2);
  panes.forEach((pane, i) => pane.mark(panes.length === 2 ? "AB"[i] : ""));
  if (panes.length === 2) {
    comparison = new Comparison(...panes);
    workspace.prepend(comparison.root);
  }
  const last = panes.at(-1);
  if (last && last !== kept.at(-1)) {
    bringUp(last);
    for (const there of ["loaded", "refused"]) last.addEventListener(there, () => bringUp(last), { once: true });
  }
  jobs.mark(panes.map((pane) => pane.source.id));
  address(step);
}

// Scrolls the latest request into view if everything is in one column: on a phone, or two plans in a narrow window.
function bringUp(pane) {
  if (!panes.includes(pane)) return;
  const isPhone = matchMedia("(max-width: 780px)").matches;
  if (panes.length === 2 && matchMedia("(max-width: 1180px)").matches) pane.root.scrollIntoView();
  else if (isPhone) workspace.scrollIntoView();
}

// What is shown, in the browser's address.
function address(step) {
  const shown = panes.map((pane) => pane.source.address).filter((each) => each !== null);
  const wanted = shown.length ? `#${shown.join("+")}` : "";
  if (location.hash !== wanted) history[step](null, "", wanted || location.pathname);
}

function newPane(source) {
  const pane = new Pane(source);
  pane.addEventListener("away", () => {
    show(panes.filter((each) => each !== pane).map((each) => each.source));
    place("workspace").focus();
  });
  pane.addEventListener("ended", () => jobs.refresh());
  pane.addEventListener("part", () => address("replaceState"));
  pane.start();
  return pane;
}

// `anew`: load everything again, possibly as another user.
function showAddressed(anew = false) {
  const shown = new Set(location.hash.slice(1).split("+").filter((each) => /^[0-9a-f]{1,40}(@[\w.~%!*'()-]{1,300})?$/.test(each)));
  if (anew) show([], "replaceState");
  show([...shown].slice(0, 2).map(JobSource.at), "replaceState");
}

// A plan from a file is drawn beside the displayed job, for its problem, otherwise for the problem in the form.
async function showPlanFile({ title, text }) {
  try {
    const job = panes.find((pane) => pane.source.id !== null);
    if (!job && !form.problem.trim()) throw new Error("This is a plan. Open a job or enter the problem first, then drop its plan.");
    const problem = job ? await job.source.problem() : form.sent;
    const source = new FileSource(title, problem, text);
    show(job ? [job.source, source] : [source]);
  } catch (error) {
    if (!(error instanceof Refused)) console.warn(error);
    showError(form.error, error);
  }
}

async function load() {
  try {
    const examples = await form.load();
    const buttons = examples.map(({ name, title }) =>
      element("button", { type: "button", onclick: () => form.takeExample(name) }, title),
    );
    place("first-steps").replaceChildren(...buttons);
  } catch (error) {
    if (error.status !== 401) showError(form.error, error);
  }
  await jobs.refresh();
}

function setUpToken() {
  const dialog = place("token");
  const field = dialog.querySelector("input");
  place("token-button").addEventListener("click", () => dialog.showModal());
  notices.addEventListener("token-needed", () => {
    dialog.querySelector(".error").hidden = !token.get();
    if (!dialog.open) dialog.showModal();
  });
  dialog.addEventListener("close", () => {
    if (dialog.returnValue !== "use") return;
    token.set(field.value.trim());
    field.value = "";
    load();
    showAddressed(true);
  });
}

function setUpDrop() {
  const veil = place("veil");
  let depth = 0; // a drag enters each element separately
  const hasFile = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragenter", (event) => {
    if (!hasFile(event)) return;
    depth += 1;
    veil.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (!hasFile(event)) return;
    depth -= 1;
    veil.hidden = depth <= 0;
  });
  addEventListener("dragover", (event) => hasFile(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    depth = 0;
    veil.hidden = true;
    form.takeFile(event.dataTransfer.files[0]);
  });
}

form.addEventListener("job", ({ detail }) => {
  show([new JobSource(detail.id)]);
  jobs.refresh();
});
form.addEventListener("plan-file", ({ detail }) => showPlanFile(detail));
jobs.addEventListener("open", ({ detail }) => show([new JobSource(detail)]));
jobs.addEventListener("compare", ({ detail }) => show([panes[0].source, new JobSource(detail)]));
addEventListener("hashchange", () => showAddressed());
setUpTheme((atOnce) => panes.forEach((pane) => pane.redraw(atOnce)));
setUpToken();
setUpDrop();
showAddressed();
load();
