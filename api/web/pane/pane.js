// One plan on the page: its progress, its figures, its map, and its commands.

import { follow } from "../service/events.js";
import { Refused } from "../service/requests.js";
import { element, grouped, name, showError, visible } from "../text.js";
import { Convergence } from "./convergence.js";
import { MapData } from "../map/data.js";
import { PART } from "../map/picture.js";
import { partsOf } from "../answers/kinds.js";
import { figures, remarks } from "./figures.js";
import { PoolMaps } from "./pool_maps.js";
import { save } from "./downloads.js";

const REDRAW = 1000; // least milliseconds between maps of an improving plan
let numbers = 0;

export class Pane extends EventTarget {
  constructor(source) {
    super();
    this.source = source;
    this.number = numbers++;
    this.over = new AbortController();
    this.job = null;
    this.plan = null;
    this.#build();
  }

  // Runs until the plan is there, or the pane is closed.
  async start() {
    try {
      if (this.source.id === null) await this.#finish();
      else await this.#followJob();
    } catch (error) {
      if (!this.over.signal.aborted) this.#fail(error);
    }
  }

  close() {
    this.over.abort();
    clearTimeout(this.waiting);
    clearInterval(this.clock);
    this.maps.close();
    this.parts?.close();
    this.root.remove();
  }

  // Redraws in other colours.
  redraw(atOnce) {
    this.maps.redraw(atOnce);
    this.parts?.redraw(atOnce);
  }

  // The drawing, once there is one.
  get data() {
    return this.maps.data;
  }

  // True if it shows a plan that is wrong for its problem.
  get isWrong() {
    return Boolean(this.data?.document.wrong_count);
  }

  get title() {
    return this.source.name ?? this.job?.name ?? this.data?.document.problem ?? "unnamed";
  }

  // Tells which of two panes it is.
  mark(letter) {
    this.letter = letter;
    this.which.textContent = letter;
    this.which.hidden = !letter;
  }

  #build() {
    const button = (...what) => this.#button(...what);
    this.maps = new PoolMaps(button);
    this.convergence = new Convergence();
    this.parts = null; // for an answer with several plans
    this.whole = element("div", { className: "whole" });
    this.heading = element("h2", { id: `pane-${this.number}` });
    this.which = element("span", { className: "letter", hidden: true });
    this.badge = element("span", { className: "badge" });
    this.figures = element("dl", { className: "figures" });
    this.stop = button("Stop", () => this.source.stop());
    this.stop.hidden = true;
    this.savers = [
      button("Plan", async () => save(new Blob([await this.source.plan()]), this.title, "plan.json"), "Download the plan as JSON"),
      button("SVG", async () => save(await this.source.picture(), this.title, "svg"), "Download the map of all pools as SVG"),
      button("PNG", async () => save(await this.#png(), this.title, "png"), "Download what the map shows as PNG"),
    ];
    this.wholeSavers = [];
    this.away = element("button", { type: "button", className: "away", "aria-label": "Close this plan", title: "Close" }, "×");
    this.away.addEventListener("click", () => this.dispatchEvent(new Event("away")));
    this.error = element("div", { className: "error", role: "alert", hidden: true });
    this.alerts = element("div", { className: "remarks" });
    this.remarks = element("div", { className: "remarks" });
    this.busy = element("p", { className: "soft busy", role: "status", hidden: true });
    const acts = element("div", { className: "acts" }, this.stop, ...this.savers, this.away);
    const head = element("header", {}, element("div", { className: "title" }, this.which, this.heading, this.badge), acts);
    const parts = [head, this.figures, this.error, this.alerts, this.whole, this.busy, this.convergence.root, this.maps.root, this.remarks];
    this.root = element("section", { className: "pane", "aria-labelledby": `pane-${this.number}` }, ...parts);
    this.#show();
  }

  async #followJob() {
    const { signal } = this.over;
    this.job = await this.source.job(signal);
    this.#showParts();
    this.#show();
    if (!this.job.finished) {
      this.#run();
      await follow(this.source.id, (kind, data) => this.#hear(kind, data), signal);
      clearInterval(this.clock);
      if (signal.aborted) return;
      this.job = await this.source.job(signal);
    }
    this.dispatchEvent(new Event("ended"));
    await this.#finish();
  }

  #showParts() {
    this.parts = partsOf(this.job.kind, this.source);
    if (this.parts === null) return;
    this.isPicked = this.source.part !== null; // by the reader, or by the sender of the link
    this.parts.addEventListener("choose", ({ detail }) => {
      this.isPicked = true;
      this.#trying(() => this.#choosePart(detail));
    });
    this.whole.replaceChildren(this.parts.root);
    const [title, what] = this.parts.constructor.names;
    const kind = this.job.kind;
    this.wholeSavers = [
      this.#button(title, async () => save(new Blob([await this.source.whole()]), this.title, `${kind}.json`), `Download ${what} as JSON`),
      this.#button("Picture", async () => save(await this.source.curvePicture(), this.title, `${kind}.svg`), `Download the picture of ${what} as SVG`),
    ];
    this.savers[0].before(...this.wholeSavers);
  }

  #run() {
    this.convergence.reset();
    this.clock = setInterval(() => this.convergence.draw(this.#elapsed()), 250);
  }

  #elapsed() {
    return this.job.started === null ? null : Math.max((Date.now() - Date.parse(this.job.started)) / 1000, 0);
  }

  #hear(kind, data) {
    if (kind === "state") {
      this.job.state = data.state;
      if (data.state === "running") this.job.started ??= new Date().toISOString();
    } else if (kind === "incumbent" || kind === "bound") {
      Object.assign(this.job, { gap: data.gap }, kind === "bound" ? { bound: data.bound } : { best: data.best });
      this.convergence.add(data.seconds, { value: data.best, bound: data.bound });
      this.convergence.draw(this.#elapsed());
      if (kind === "incumbent" && this.#isMapped) this.#redrawSoon();
    } else if (kind === "point" && this.parts) {
      this.#hearPoint(data);
    }
    this.#show();
  }

  get #isMapped() {
    return (this.job?.kind ?? "plan") === "plan";
  }

  // The first point found is shown, until another is chosen or all are there.
  #hearPoint(point) {
    const part = this.parts.add(point);
    if (part !== null && this.parts.chosen === null) this.#choosePart(this.isPicked ? this.source.part : part).catch(() => this.parts.choose(null));
  }

  // Show one of the plans.
  async #choosePart(part) {
    this.parts.choose(part);
    this.source.part = part;
    if (this.isPicked || this.job.finished) this.dispatchEvent(new Event("part"));
    await this.#load(`Reading ${this.parts.called(part)}`);
  }

  // Loads the best plan so far, at sensible intervals.
  #redrawSoon() {
    this.isBehind = true;
    if (this.waiting) return;
    this.waiting = setTimeout(async () => {
      const { signal } = this.over;
      const begun = performance.now();
      const mayDraw = () => !signal.aborted && !this.job.finished;
      this.isBehind = false;
      try {
        const hasPlan = mayDraw() && (await this.source.job(signal)).links.plan !== null;
        const map = hasPlan ? await this.source.map(signal) : null;
        if (map && mayDraw()) this.#take(map);
        else this.isBehind = true; // points are found before they are kept
      } catch {
        this.isBehind = true; // the service is busy
      }
      this.waiting = null;
      this.pause = Math.max(REDRAW, 4 * (performance.now() - begun));
      if (this.isBehind && mayDraw()) this.#redrawSoon();
    }, this.pause ?? 200);
  }

  async #finish() {
    const { signal } = this.over;
    if (this.job && (!this.job.links.plan || (!this.#isMapped && this.parts === null))) {
      this.#show();
      this.#remark();
      if (!this.#isMapped && this.parts === null) this.remarks.append(element("p", { className: "remark" }, `This answer is a ${this.job.kind}, of which this page has no map.`));
      return;
    }
    if (this.parts === null) {
      await this.#load("Reading the plan and its map");
      if (!signal.aborted) this.convergence.replace(this.plan.run?.trace ?? [], this.plan.run?.seconds ?? 0);
      this.#show();
      return;
    }
    this.parts.replace(await this.source.curve(signal));
    const wanted = this.isPicked && this.parts.has(this.source.part) ? this.source.part : this.parts.first;
    this.#show();
    if (wanted !== undefined) await this.#choosePart(wanted);
    else this.#remark();
  }

  // Shows a plan and its map; of several requests, the last.
  async #load(said) {
    const { signal } = this.over;
    const asked = (this.asked = Symbol(said));
    const [text, map] = await this.#while(said, Promise.all([this.#hasPlans ? this.source.plan(signal) : "null", this.source.map(signal)]));
    if (signal.aborted || this.asked !== asked) return;
    this.plan = JSON.parse(text);
    await this.#while(`Drawing ${grouped(map.buffers.id.length)} buffers`, nextFrame());
    if (signal.aborted || this.asked !== asked) return;
    this.#take(map);
    this.#show();
    this.#remark();
    this.dispatchEvent(new Event("loaded"));
  }

  // Shapes each have a map, and together one plan.
  get #hasPlans() {
    return this.parts?.hasPlans ?? true;
  }

  // Tells what the reader is waiting for.
  async #while(said, work) {
    if (this.data !== null && this.parts) return work; // existing content stays meanwhile
    this.busy.textContent = `${said}…`;
    this.busy.hidden = false;
    try {
      return await work;
    } finally {
      this.busy.hidden = true;
    }
  }

  #take(document) {
    const data = new MapData(document);
    const [pool, ...others] = data.layers.map((layer) => layer.pool);
    this.convergence.inBytes = document.in_bytes;
    if (document.in_bytes && pool && !others.length) {
      pool.bound = Math.max(Number(pool.bound), this.plan?.bound ?? this.job?.bound ?? 0); // a plan that is not final knows less
    }
    this.maps.take(data);
    this.#show();
    this.dispatchEvent(new Event("map"));
  }

  // Returns a picture of the maps, with the title and the figures above.
  #png() {
    const figures = [...this.figures.children].slice(0, 6).map((each) => [...each.children].map((part) => part.textContent).join(" "));
    const title = `${visible(this.title)}${this.isWrong ? " (no valid plan of its problem)" : ""}`;
    return this.maps.picture([title, figures.join(PART)]);
  }

  #show() {
    const { job, plan, data } = this;
    this.heading.replaceChildren(name(this.title));
    const state = this.#state();
    const isEnding = job?.cancelling && !job.finished;
    this.badge.textContent = isEnding ? "stopping" : state;
    this.badge.className = `badge ${state}`;
    this.stop.hidden = !job || job.finished !== null;
    const hasPicture = data !== null && !this.maps.root.hidden;
    const isThere = !this.#isMapped && this.parts === null && job.links.plan !== null;
    this.savers.forEach((each, i) => (each.hidden = i ? !hasPicture : !this.#hasPlans || (data === null && !isThere)));
    this.figures.hidden = Boolean(this.isRefused);
    this.figures.replaceChildren(...figures(job, plan, data, this.parts?.figures() ?? []));
    this.convergence.root.hidden = this.parts !== null || !this.convergence.isTelling;
    this.wholeSavers.forEach((each, i) => (each.hidden = !this.parts.points.length || (i > 0 && job.finished === null)));
    this.root.setAttribute("aria-busy", String(job !== null && job.finished === null));
  }

  // One word: faults of a plan take precedence over its own claims.
  #state() {
    const { job, plan } = this;
    if (this.isRefused) return "refused";
    if (this.isWrong) return "wrong";
    if (job !== null && !(job.state === "succeeded" && job.status)) return job.state;
    if (this.parts) return job.status;
    return plan?.status ?? job?.status ?? "reading";
  }

  // Called once at the end, so that unfolded parts stay unfolded. Serious warnings are above the map.
  #remark() {
    const said = remarks(this.job, this.plan, this.data, this.parts?.warnings);
    const isGrave = (each) => each.classList.contains("bad");
    this.alerts.replaceChildren(...said.filter(isGrave));
    this.remarks.replaceChildren(...said.filter((each) => !isGrave(each)));
  }

  // Shows errors in the pane.
  #button(text, act, label = text) {
    return element("button", { type: "button", onclick: () => this.#trying(act), "aria-label": label }, text);
  }

  async #trying(act) {
    try {
      showError(this.error, null);
      await act();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error) {
    if (!(error instanceof Refused)) console.error(error);
    this.isRefused = this.plan === null && this.job === null;
    if (this.isRefused) {
      this.#show();
      this.dispatchEvent(new Event("refused"));
    }
    showError(this.error, this.source.explained?.(error) ?? error);
  }
}

// Resolves two frames from now, when changes are visible.
function nextFrame() {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
}
