// The source of a pane's plan: a job of the service, or a plan file for a problem.

import { ask, asBlob, asJson, asText } from "./requests.js";

export class JobSource {
  constructor(id, part = null) {
    this.id = id;
    this.part = part; // of an answer with several plans
    this.path = `v1/jobs/${id}`;
  }

  // `id@part`, as in the page's address.
  static at(address) {
    const [id, part] = address.split("@");
    return new JobSource(id, part === undefined ? null : decodeURIComponent(part));
  }

  get address() {
    return this.part === null ? this.id : `${this.id}@${encodeURIComponent(this.part)}`;
  }

  job = (signal) => asJson(this.path, { signal });
  plan = (signal) => asText(`${this.path}/plan${this.#asked()}`, { signal });
  map = (signal) => asJson(`${this.path}/drawing${this.#asked({ as: "map" })}`, { signal });
  mapOf = (part, signal) => asJson(`${this.path}/drawing?${new URLSearchParams({ as: "map", part })}`, { signal });
  picture = () => asBlob(`${this.path}/drawing${this.#asked()}`);
  whole = () => asText(`${this.path}/plan`);
  curve = (signal) => asJson(`${this.path}/drawing?as=map`, { signal });
  curvePicture = () => asBlob(`${this.path}/drawing`);
  problem = () => asBlob(`${this.path}/problem`);
  stop = () => ask(this.path, { method: "DELETE" });

  #asked(said = {}) {
    const query = new URLSearchParams(this.part === null ? said : { ...said, part: this.part });
    return query.size ? `?${query}` : "";
  }
}

const OTHER = ["unknown_buffer", "unknown_pool"]; // codes of the service

export class FileSource {
  constructor(name, problem, plan) {
    this.id = null;
    this.address = null;
    this.name = name;
    this.text = plan;
    this.body = new FormData();
    this.body.append("problem", new Blob([problem]));
    this.body.append("plan", new Blob([plan]));
  }

  plan = async () => this.text;

  // A plan that places unknown buffers is a plan of another problem.
  explained = (error) => {
    const other = (error.errors ?? []).find((each) => /^\/plan\/placements\//.test(each.pointer) && OTHER.includes(each.code));
    return other ? new Error(`This is a plan of another problem: ${other.message}.`) : error;
  };

  map = (signal) => asJson("v1/draw?as=map", { ...this.#sent, signal });
  picture = () => asBlob("v1/draw", this.#sent);

  get #sent() {
    return { method: "POST", body: this.body };
  }
}
