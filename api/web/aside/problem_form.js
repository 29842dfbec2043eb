// The problem and options to plan: pasted, dropped, chosen or made up; sent as a job.

import { PROBLEM, asJson, asText, token } from "../service/requests.js";
import { bytes, element, name, part, showError } from "../text.js";

const SHOWN = 200_000; // longer texts are kept aside, since a text field is slow with them
const PLAN = /^\s*\{\s*"format"\s*:\s*"memplan-plan\//;
const OTHER_ANSWER = /^\s*\{\s*"format"\s*:\s*"memplan-(frontier|nested|proved|shapes|sharing|sweep)\//;

// Requests besides one plan: the path, and which problems and capacities allow it, or files that are models.
const ASKED = {
  frontier: { path: "pareto", makesSense: (problem) => /"variants"\s*:|"memplan-cascade\//.test(problem) },
  sweep: { path: "sweep", makesSense: (_, capacity) => capacity.includes("..") },
  shapes: { path: "shapes", makesSense: (problem) => /"symbols"\s*:/.test(problem) },
  nested: {
    path: "jobs?arenas=nested",
    makesSense: (problem, _, isModel) => isModel || (/"functions"\s*:/.test(problem) && /"memplan-graph\//.test(problem)),
  },
};

// Models are binary, with zero bytes.
const isText = (text) => !text.includes("\0");

export class ProblemForm extends EventTarget {
  constructor(form) {
    super();
    this.form = form;
    this.text = form.querySelector("textarea");
    this.file = form.querySelector("#file");
    this.kept = form.querySelector("#kept");
    this.examples = form.querySelector("#example");
    this.error = form.querySelector(".error");
    this.send = form.querySelector("#plan");
    this.others = Object.keys(ASKED).map((id) => form.querySelector(`#${id}`));
    this.large = null;
    this.models = []; // the endings of files that are programs, and no text
    this.title = ""; // of the text's file
    this.#listen();
  }

  // Fills the choices: examples, solvers, files of readable formats.
  async load() {
    const [{ examples }, { solvers }, { formats }] = await Promise.all(["examples", "solvers", "formats"].map((what) => asJson(`v1/${what}`)));
    this.file.accept = formats.flatMap((format) => [...format.endings, ...format.media_types]).join();
    this.models = formats.filter((format) => format.is_program && !format.is_text).flatMap((format) => format.endings);
    this.text.placeholder = `Paste a problem here, or drop a file anywhere: ${formats.map((format) => format.title).join(", ")}`;
    const options = examples.map((each) => element("option", { value: each.name }, each.title));
    this.examples.replaceChildren(element("option", { value: "" }, "Examples…"), ...options);
    const usable = solvers.filter((solver) => solver.available);
    const chosen = this.form.elements.solver.value;
    this.form.elements.solver.replaceChildren(...usable.map(({ name, summary }) => element("option", { title: summary }, name)));
    this.form.elements.solver.value = usable.some(({ name }) => name === chosen) ? chosen : "auto";
    return examples;
  }

  get problem() {
    return this.large?.text ?? this.text.value;
  }

  // The problem as sent.
  get sent() {
    return this.large?.body ?? this.text.value;
  }

  // Takes a text from anywhere; plans are handled elsewhere. Binary files are kept as they are.
  take(title, text, file = null) {
    if (PLAN.test(text)) {
      this.dispatchEvent(new CustomEvent("plan-file", { detail: { title, text } }));
      return;
    }
    const answer = OTHER_ANSWER.exec(text);
    if (answer) {
      showError(this.error, new Error(`This is an answer (${answer[1]}), not a problem. Drop the problem that it is of.`));
      return;
    }
    this.title = title;
    this.large = text.length > SHOWN || file ? { title, text, body: file ?? text } : null;
    this.text.value = this.large ? "" : text;
    this.text.hidden = this.large !== null;
    this.kept.hidden = this.large === null;
    if (this.large) this.#showKept();
    this.#offer();
    showError(this.error, null);
  }

  async takeExample(name_) {
    await this.#trying(async () => {
      this.take(`${name_}.json`, await asText(`v1/examples/${encodeURIComponent(name_)}`));
      await this.#post(this.others.find((button) => !button.hidden)?.id);
    });
  }

  async takeFile(file) {
    if (!file) return;
    await this.#trying(async () => {
      const text = await file.text();
      this.take(file.name, text, isText(text) ? null : file);
    });
  }

  #listen() {
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#trying(() => this.#post(event.submitter?.id));
    });
    for (const field of [this.text, this.form.elements.capacity]) field.addEventListener("input", () => this.#offer());
    this.file.addEventListener("change", () => {
      this.takeFile(this.file.files[0]);
      this.file.value = "";
    });
    this.examples.addEventListener("change", () => {
      const chosen = this.examples.value;
      this.examples.value = "";
      if (chosen) this.takeExample(chosen);
    });
    this.text.addEventListener("paste", (event) => {
      const text = event.clipboardData.getData("text/plain");
      this.title = "";
      if (text.length <= SHOWN && !PLAN.test(text) && !OTHER_ANSWER.test(text)) return;
      event.preventDefault();
      this.take("", text);
    });
    this.form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.form.requestSubmit();
    });
  }

  #offer() {
    const isModel = this.models.some((ending) => this.title.toLowerCase().endsWith(ending));
    for (const button of this.others) button.hidden = !ASKED[button.id].makesSense(this.problem, this.form.elements.capacity.value, isModel);
  }

  #showKept() {
    const away = element("button", { type: "button", onclick: () => this.take("", "") }, "Remove");
    const size = bytes(new Blob([this.large.body]).size);
    this.kept.replaceChildren(name(this.large.title || "pasted text"), element("span", { className: "soft" }, size), away);
  }

  async #post(id) {
    const problem = this.problem;
    if (!problem.trim()) {
      this.text.focus();
      throw new Error("Paste a problem, drop a file, or choose an example first.");
    }
    const path = ASKED[id]?.path ?? "jobs";
    const said = `${path.includes("?") ? "&" : "?"}${this.#options(id === "sweep" ? /[\s;]+/ : /[\s,;]+/)}`;
    const headers = { Prefer: "respond-async" };
    const job = await asJson(`v1/${path}${said}`, { method: "POST", body: this.sent, type: PROBLEM, headers });
    this.dispatchEvent(new CustomEvent("job", { detail: job }));
  }

  // A sweep's sizes may be lists with commas.
  #options(between) {
    const said = new URLSearchParams();
    for (const field of ["time_limit", "solver", "goal", "prefer", "format", "seed", "work_limit", "warm"]) {
      const value = this.form.elements[field].value.trim();
      if (value) said.set(field, value);
    }
    for (const size of this.form.elements.capacity.value.split(between)) if (size) said.append("capacity", size);
    if (this.form.elements.explain.checked) said.set("explain", "true");
    if (this.title) said.set("name", part(this.title, 0, 200));
    return said;
  }

  async #trying(act) {
    showError(this.error, null);
    for (const button of [this.send, ...this.others]) button.disabled = true;
    try {
      await act();
    } catch (error) {
      showError(this.error, error.status === 401 && !token.get() ? new Error("This service wants a token.") : error);
    } finally {
      for (const button of [this.send, ...this.others]) button.disabled = false;
    }
  }
}
