// The service's jobs, newest first: their states, and buttons to look at them, compare them and stop them.

import { ask, asJson, Refused } from "../service/requests.js";
import { ago, element, grouped, name, plural, showError, visible } from "../text.js";

const SOON = 1500;
const LATER = 8000;
const PAGE = 40;

export class JobList extends EventTarget {
  constructor(section) {
    super();
    this.list = section.querySelector("ul");
    this.filter = section.querySelector("select");
    this.older = section.querySelector("#older");
    this.error = section.querySelector(".error");
    this.empty = section.querySelector(".empty");
    this.shown = [];
    this.more = [];
    this.rows = new Map();
    this.filter.addEventListener("change", () => {
      this.more = [];
      this.refresh();
    });
    this.older.addEventListener("click", () => this.#further());
    document.addEventListener("visibilitychange", () => this.refresh());
    this.list.addEventListener("keydown", (event) => this.#key(event));
  }

  // Marks the displayed ones.
  mark(ids) {
    this.shown = ids;
    for (const [id, row] of this.rows) this.#markRow(id, row);
  }

  // Loads now, and again in a while.
  async refresh() {
    clearTimeout(this.timer);
    let wait = LATER;
    if (!document.hidden) {
      try {
        const page = await asJson(`v1/jobs?${this.#query()}`);
        this.next = this.more.length ? this.next : page.next;
        const known = new Set(page.jobs.map((job) => job.id));
        this.#show([...page.jobs, ...this.more.filter((job) => !known.has(job.id))]);
        showError(this.error, null);
        if (page.jobs.some((job) => !job.finished)) wait = SOON;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (error.status !== 401) showError(this.error, error);
      }
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), wait);
  }

  async #further() {
    const page = await asJson(`v1/jobs?${this.#query()}&before=${this.next}`);
    this.more.push(...page.jobs);
    this.next = page.next;
    await this.refresh();
  }

  #query() {
    return `limit=${PAGE}${this.filter.value ? `&state=${this.filter.value}` : ""}`;
  }

  // Rows are changed in place, so that the focus stays where it is.
  #show(jobs) {
    const rows = new Map();
    for (const job of jobs) {
      const row = this.rows.get(job.id) ?? this.#row(job.id);
      this.#fill(row, job);
      rows.set(job.id, row);
    }
    for (const [id, row] of this.rows) if (!rows.has(id)) row.remove();
    let before = null;
    for (const row of rows.values()) {
      const wanted = before ? before.nextElementSibling : this.list.firstElementChild;
      if (wanted !== row) this.list.insertBefore(row, wanted);
      before = row;
    }
    this.rows = rows;
    this.older.hidden = !this.next;
    this.empty.hidden = rows.size > 0;
  }

  #row(id) {
    const tell = (kind) => () => this.dispatchEvent(new CustomEvent(kind, { detail: id }));
    const open = element("button", { className: "open", type: "button", onclick: tell("open") });
    const compare = element("button", { type: "button", className: "small", onclick: tell("compare") }, "Compare");
    const stop = element("button", { type: "button", className: "small", onclick: () => this.#stop(id) }, "Stop");
    const row = element("li", {}, open, element("span", { className: "acts" }, compare, stop));
    Object.assign(row, { open, compare, stop });
    return row;
  }

  #fill(row, job) {
    const state = job.cancelling ? "stopping" : job.state;
    const facts = [state === "succeeded" ? job.status : state, ...(job.kind === "plan" ? [] : [job.kind]), plural(job.buffers, "buffer")];
    // Bytes, unless something else is minimised; of a sweep, the smallest size.
    if (job.best !== null) facts.push(`${job.kind === "sweep" ? "smallest" : "best"} ${grouped(job.best)}`);
    facts.push(ago(job.created));
    const title = job.name === null ? element("bdi", { className: "soft" }, "unnamed") : name(job.name);
    title.classList.add("name");
    const signature = JSON.stringify([job.name, facts, state, job.status]);
    if (row.signature !== signature) {
      row.signature = signature;
      const dot = element("span", { className: `dot ${dotOf(job)}`, "aria-hidden": "true" });
      const about = element("span", { className: "soft facts" }, facts.join(" · "));
      row.open.replaceChildren(dot, title, about);
      row.open.title = job.name === null ? "" : visible(job.name);
      const called = job.name === null ? "unnamed job" : visible(job.name);
      row.compare.setAttribute("aria-label", `Compare ${called} with what is shown`);
      row.stop.setAttribute("aria-label", `Stop ${called}`);
    }
    row.stop.hidden = job.finished !== null;
    row.stop.disabled = job.cancelling;
    this.#markRow(job.id, row);
  }

  #markRow(id, row) {
    const isShown = this.shown.includes(id);
    row.classList.toggle("shown", isShown);
    if (isShown) row.open.setAttribute("aria-current", "true");
    else row.open.removeAttribute("aria-current");
    row.compare.hidden = isShown || !this.shown.length;
  }

  async #stop(id) {
    try {
      await ask(`v1/jobs/${id}`, { method: "DELETE" });
      showError(this.error, null);
    } catch (error) {
      showError(this.error, error);
    }
    await this.refresh();
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest("li");
    if (!step || !row) return;
    const other = step > 0 ? row.nextElementSibling : row.previousElementSibling;
    if (other) {
      event.preventDefault();
      other.open.focus();
    }
  }
}

function dotOf(job) {
  return job.state === "succeeded" ? job.status : job.state;
}
