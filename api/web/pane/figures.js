// A plan's figures and notes: what is short, what the bound rests on, warnings.

import { countsBytes, element, exactBytes, grouped, name, percent, plural, seconds, visible } from "../text.js";

// The best value of jobs with more than a plan; for a frontier, that is a curve.
const NAMED = new Map([["frontier", ""], ["sweep", "smallest size"], ["nested", "peak"], ["shapes", "peak"], ["sharing", "all objects"]]);
const OPEN = ["queued", "running"];
const LISTED = 40; // buffers
const CLAIMS = new Set(["peak", "bound", "bound of it", "gap", "cost", "bound of the cost"]); // of a plan, which may be false
const COST = " (a cost)";

// Terms and values side by side.
// `more`: about the choice among several plans.
export function figures(job, plan, map, more = []) {
  const rows = [...more];
  const best = plan?.peak ?? job?.best ?? null;
  const known = plan?.bound ?? job?.bound ?? null;
  const bound = plan?.status === "infeasible" && !known ? null : known; // 0 B would look as if nothing were needed
  const lack = plan?.status === "infeasible" && !map?.document.wrong_count ? lacking(plan, map) : [];
  // Before there is a plan, only the minimised value is known, which need not be bytes.
  const shown = plan || map?.document.in_bytes ? exactBytes : grouped;
  const isNamed = !plan && NAMED.has(job?.kind);
  const isCost = plan ? termsOf(plan, map)[0].name !== "sum_of_peaks" : map && !map.document.in_bytes;
  if (lack.length) {
    rows.push(...lack);
  } else if (plan && isCost) {
    rows.push(...costs(termsOf(plan, map)));
    rows.push(["peak", best === null ? "–" : shown(best)]);
  } else if (isNamed) {
    if (best !== null) rows.push([NAMED.get(job.kind), exactBytes(best)], ["bound", bound === null ? "–" : exactBytes(bound)]);
  } else {
    const unit = isCost ? " (a cost, not bytes)" : "";
    const name = OPEN.includes(job?.state) ? "best so far" : "best";
    rows.push([plan ? "peak" : `${name}${unit}`, best === null ? "–" : shown(best)]);
    rows.push(["bound", bound === null ? "–" : shown(bound)]);
    const gap = plan ? plan.gap : job?.gap;
    rows.push(["gap", gap === null || gap === undefined ? "–" : percent(gap)]);
  }
  const count = map?.document.buffers.id.length ?? job?.buffers;
  if (count !== undefined) rows.push(["buffers", grouped(count)]);
  if (plan?.choice) {
    const { cost, cost_bound: least } = plan.choice;
    rows.push(["cost", grouped(cost)], ["bound of the cost", least === null ? "–" : grouped(least)]);
  }
  if (plan) {
    rows.push(["ended by", words(plan.stop)]);
    if (plan.solver) rows.push(["solver", visible(plan.solver)]);
    rows.push(["time", seconds(plan.run.seconds)]);
  }
  if (map?.document.wrong_count) for (const row of rows) if (CLAIMS.has(row[0]) || row[0].endsWith(COST)) row[0] = `claimed ${row[0]}`;
  return rows.map(([term, value]) => element("div", {}, element("dt", {}, term), element("dd", {}, value)));
}

// Where nothing fits: the need, what there is, and what lacks, as far as that is known, in the memory that the proof names or the first that is too small.
function lacking({ shortage, pools }, map) {
  const short = shortage?.pool ? undefined : map?.layers.find((layer) => layer.isShort);
  const has = short?.pool.size ?? pools.find((pool) => pool.name === shortage?.pool)?.size ?? null;
  const bytes = shortage?.bytes_short ?? (short ? short.needed - Number(has) : null);
  if (bytes === null) return [];
  const needed = has === null ? [] : [["needed", exactBytes(Number(has) + Number(bytes))], ["there is", exactBytes(has)]];
  return [...needed, ["lacking", exactBytes(bytes)]];
}

// What was minimised, if not memory alone: each term, and how far the first may be from the least possible.
function costs(terms) {
  const rows = terms.map(({ name: term, value }) => [termName(term), amount(term, value)]);
  const [{ name: term, bound }] = terms;
  const gap = gapOf(terms[0]);
  rows.splice(1, 0, ["bound of it", amount(term, bound)], ["gap", gap === null ? "–" : percent(gap)]);
  return rows;
}

// The objective's terms; a sum of peaks of pools with costs counts no bytes. Without a map only the figures tell, which may be wrong.
export function termsOf({ objective, peak }, map) {
  const isCost = ({ name, value }) => name === "sum_of_peaks" && (map?.document.weighs_peaks ?? value !== peak);
  return objective.terms.map((term) => (isCost(term) ? { ...term, name: "peaks_by_cost" } : term));
}

// The name of an objective's term in figures.
export function termName(term) {
  return `${words(term)}${countsBytes(term) ? "" : COST}`;
}

// How far a term may be from the least possible, as a share; null if unknown.
export function gapOf({ value, bound }) {
  if (value === null || bound === null || (bound === 0 && value > 0)) return null;
  return value === bound ? 0 : value / bound - 1;
}

function amount(term, value) {
  return value === null ? "–" : countsBytes(term) ? exactBytes(value) : grouped(value);
}

// Paragraphs, the most serious first.
export function remarks(job, plan, map, warnings = []) {
  const said = [];
  const wrong = map?.document.wrong ?? [];
  if (wrong.length) {
    const list = wrong.slice(0, 10).map((finding) => element("li", {}, visible(finding.message)));
    const count = map.document.wrong_count;
    const verdict = `This is no valid plan of the problem: ${plural(count, "thing")} ${count === 1 ? "is" : "are"} wrong with it.`;
    said.push(element("div", { className: "remark bad" }, element("p", {}, verdict), element("ul", {}, ...list)));
  }
  if (job?.failure) said.push(element("p", { className: "remark bad" }, visible(job.failure.detail)));
  if (plan?.shortage) said.push(shortage(plan.shortage));
  for (const warning of [...warnings, ...(plan?.warnings ?? [])]) said.push(element("p", { className: "remark" }, visible(warning)));
  if (plan?.choice) said.push(chosen(plan.choice));
  for (const certificate of plan?.certificate ?? []) {
    const proof = bound(certificate, plan);
    if (proof) said.push(proof);
  }
  if (plan && !plan.reproducible) {
    const text = "The clock or a limit cut this run short: another run may end with another plan.";
    said.push(element("p", { className: "remark" }, text));
  }
  return said;
}

function shortage({ message, buffers, subset, irreducible }) {
  const those = subset ?? buffers;
  const title = subset ? (irreducible ? "These cannot be placed together; without any one of them the rest fits: " : "These cannot be placed together: ") : "In use then: ";
  const list = subset || those.length > 4 ? element("p", {}, title, ...names(those)) : null;
  return element("div", { className: "remark bad" }, element("p", {}, visible(message)), list);
}

function bound({ proof, value, pool, time, buffers }, plan) {
  if (proof !== "live_together" || !buffers.length) return null;
  const where = pool === null ? "" : ` in pool ${visible(pool)}`;
  const when = time === null ? "" : ` at time ${grouped(time)}`;
  const isOfChoice = plan.choice && plan.bound < value; // other alternatives may need less
  const text = `${isOfChoice ? "With these alternatives" : "Why the bound holds"}${where}: ${plural(buffers.length, "buffer")} in use together${when} take ${exactBytes(value)}`;
  return element("details", { className: "remark" }, element("summary", {}, text), element("p", {}, ...names(buffers)));
}

function chosen({ alternatives }) {
  const said = alternatives.slice(0, LISTED).flatMap(({ group, alternative }, i) => [i ? ", " : "", name(group), ": ", name(alternative)]);
  const more = alternatives.length > LISTED ? ` and ${grouped(alternatives.length - LISTED)} more` : "";
  const summary = `Chosen in ${plural(alternatives.length, "group")}`;
  return element("details", { className: "remark" }, element("summary", {}, summary), element("p", {}, ...said, more));
}

function names(ids) {
  const shown = ids.slice(0, LISTED).flatMap((id, i) => (i ? [", ", name(id)] : [name(id)]));
  return ids.length > LISTED ? [...shown, ` and ${grouped(ids.length - LISTED)} more`] : shown;
}

function words(text) {
  return visible(text).replaceAll("_", " ");
}
