"use strict";
(async () => {
  const FIELDS = ["run", "type", "metric", "verdict", "error", "change", "cause", "q"];
  const PAGE = 50;
  const byId = (id) => document.getElementById(id);

  // Texts of the data become text nodes and never markup.
  const make = (tag, className, ...children) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...children.map((child) => (child instanceof Node ? child : String(child ?? "–"))));
    return node;
  };

  const packed = Uint8Array.from(atob(byId("data").textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());
  const { runs, questions, answers, scores } = data;
  const count = answers.run.length;

  // Charts: SVG drawn beforehand, one at a time where there is a choice.
  const draw = (figure, source) => {
    const svg = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
    figure.querySelector("svg")?.remove();
    figure.append(document.importNode(svg, true));
  };
  for (const figure of document.querySelectorAll("figure")) {
    const choices = data.charts[figure.dataset.charts] ?? {};
    const names = Object.keys(choices);
    if (names.length > 1) {
      const select = make("select", "", ...names.map((name) => new Option(name)));
      select.setAttribute("aria-label", "shown");
      select.addEventListener("change", () => draw(figure, choices[select.value]));
      figure.append(select);
    }
    if (names.length) draw(figure, choices[names[0]]);
    else {
      const section = figure.closest("section");
      document.querySelector(`nav a[href="#${section.id}"]`).remove();
      section.remove();
    }
  }

  const tip = byId("tip");
  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest?.(".role-mark [aria-label]");
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.getAttribute("aria-label");
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${event.clientY + 16}px`;
  });

  // Filters: what is chosen stands in the address after #, so that a view can be linked to.
  const form = byId("filters");
  const choose = (name, options, all) => {
    const field = form.elements[name];
    field.append(...(all ? [new Option(all, "")] : []), ...options.map((one) => new Option(one)));
    field.closest("label").hidden = options.length < 1;
  };
  const present = (column) => [...new Set(answers[column] ?? [])].filter((value) => value !== null).sort();
  choose("run", runs, "all");
  choose("type", data.types, "all");
  choose("metric", data.metrics);
  choose("verdict", ["right", "partly", "wrong", "not scored"], "all");
  choose("error", ["no answer", "agent error", "judge failed"], "all");
  choose("change", present("change"), "all");
  choose("cause", present("cause"), "all");
  if (data.moved) {
    const label = form.querySelector(".moved");
    label.textContent = `Against ${data.base}`;
    label.title = `${data.moved} against ${data.base}`;
  }

  const clear = () => {
    form.reset();
    form.elements.metric.value = data.leading;
  };
  const read = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    if (location.hash.length > 1 && !location.hash.includes("=")) return; // a section of the page
    clear();
    for (const name of FIELDS) if (given.has(name)) form.elements[name].value = given.get(name);
    show();
  };
  const write = () => {
    const told = new URLSearchParams();
    for (const name of FIELDS) {
      const value = form.elements[name].value;
      if (value && !(name === "metric" && value === data.leading)) told.set(name, value);
    }
    history.replaceState(null, "", `#${told.size ? told : "questions"}`);
  };

  const verdict = (score) =>
    score === null ? "not scored" : score >= 0.99995 ? "right" : score <= 0.00005 ? "wrong" : "partly";
  const failed = (i) => (answers.judged?.[i] ?? []).some(([, status]) => !["ok", "missing"].includes(status));
  const errors = {
    "no answer": (i) => answers.prediction[i] === null,
    "agent error": (i) => (answers.error?.[i] ?? null) !== null,
    "judge failed": failed,
  };
  const type = (i) => questions.question_type[answers.question[i]];
  const haystack = [];
  const text = (i) => {
    const at = answers.question[i];
    const asked = ["question", "ground_truth", "question_id", "sample_id"].map((name) => questions[name]?.[at]);
    const said = (answers.judged?.[i] ?? []).flat();
    return (haystack[i] ??= [...asked, answers.prediction[i], answers.error?.[i], ...said].join("\n").toLowerCase());
  };
  const matching = () => {
    const chosen = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value]));
    const words = chosen.q.toLowerCase().trim();
    const run = runs.indexOf(chosen.run);
    const column = scores[chosen.metric];
    const kept = [];
    for (let i = 0; i < count; i++) {
      if (chosen.run && answers.run[i] !== run) continue;
      if (chosen.type && type(i) !== chosen.type) continue;
      if (chosen.verdict && verdict(column[i]) !== chosen.verdict) continue;
      if (chosen.error && !errors[chosen.error](i)) continue;
      if (chosen.change && answers.change?.[i] !== chosen.change) continue;
      if (chosen.cause && answers.cause?.[i] !== chosen.cause) continue;
      if (words && !text(i).includes(words)) continue;
      kept.push(i);
    }
    return kept;
  };

  const SIGNS = { right: "✓", partly: "◐", wrong: "✗", "not scored": "–" };
  const badge = (score) => {
    const told = verdict(score);
    const className = { right: "right", wrong: "wrong", "not scored": "none" }[told] ?? "";
    return make("span", className, `${SIGNS[told]} ${score === null ? "" : score.toFixed(2)}`);
  };
  const named = (run) => {
    const dot = make("span", "dot");
    dot.style.background = data.colours[run % data.colours.length];
    return make("span", "", dot, runs[run]);
  };
  const chips = (names, hits = []) => names.map((name) => make("span", hits.includes(name) ? "chip hit" : "chip", name));

  const said = (i, evidence) => {
    const box = make("div", "said", make("h3", "", named(answers.run[i])));
    const list = make("dl");
    const add = (name, ...what) => list.append(make("dt", "", name), make("dd", "", ...what));
    add("prediction", answers.prediction[i] ?? "no answer came back");
    if (answers.error?.[i]) add("error", answers.error[i]);
    add("scores", ...data.metrics.map((name) => make("span", "chip", `${name} ${scores[name][i] ?? "–"}`)));
    for (const [score, status, words] of answers.judged?.[i] ?? []) add("judge", `${score || status}: ${words}`);
    if (answers.change?.[i]) add("moved", `${answers.change[i]} against ${data.base}: ${answers.cause[i]}`);
    if (answers.retrieved?.[i]) add("retrieved", ...chips(answers.retrieved[i], evidence));
    const took = [["latency_s", "s"], ["input_tokens", "tokens in"], ["output_tokens", "tokens out"]];
    const known = took.filter(([name]) => (answers[name]?.[i] ?? null) !== null);
    if (known.length) add("took", known.map(([name, unit]) => `${answers[name][i]} ${unit}`).join(", "));
    box.append(list);
    return box;
  };
  const detail = (i) => {
    const at = answers.question[i];
    const evidence = questions.evidence?.[at] ?? [];
    const list = make("dl");
    const add = (name, ...what) => list.append(make("dt", "", name), make("dd", "", ...what));
    add("question", questions.question?.[at]);
    add("gold", questions.ground_truth[at]);
    if (evidence.length) add("evidence", ...chips(evidence));
    const link = make("a", "", questions.question_id[at]);
    link.href = `#${new URLSearchParams({ q: questions.question_id[at] ?? "" })}`;
    add("question_id", link, ` in ${questions.sample_id[at] ?? "–"} of ${questions.dataset[at]}`);
    const others = [];
    for (let j = 0; j < count; j++) if (answers.question[j] === at) others.push(said(j, evidence));
    const cell = make("td", "", make("div", "detail", list, ...others));
    cell.colSpan = 6;
    return make("tr", "opened", cell);
  };

  const body = document.querySelector("#answers tbody");
  const row = (i, column) => {
    const at = answers.question[i];
    const short = (value) => make("td", "", make("div", "short", value));
    const id = make("div", "id", questions.question_id[at] ?? "");
    const prediction = short(answers.prediction[i] ?? "no answer");
    if (answers.prediction[i] === null) prediction.className = "none";
    const line = make(
      "tr", "answer",
      make("td", "", named(answers.run[i])), make("td", "", type(i), id),
      short(questions.question?.[at]), short(questions.ground_truth[at]), prediction,
      make("td", "number", badge(column[i])),
    );
    line.tabIndex = 0;
    line.setAttribute("aria-expanded", "false");
    const toggle = () => {
      const open = line.nextElementSibling?.className === "opened";
      if (open) line.nextElementSibling.remove();
      else line.after(detail(i));
      line.setAttribute("aria-expanded", String(!open));
    };
    line.addEventListener("click", () => getSelection().isCollapsed && toggle());
    line.addEventListener("keydown", (event) => event.key === "Enter" && toggle());
    return line;
  };

  let kept = [];
  const more = byId("more");
  const append = () => {
    const shown = body.querySelectorAll(".answer").length;
    const column = scores[form.elements.metric.value];
    body.append(...kept.slice(shown, shown + PAGE).map((i) => row(i, column)));
    more.hidden = shown + PAGE >= kept.length;
  };
  const show = () => {
    kept = matching();
    byId("found").textContent = `${kept.length.toLocaleString("en")} of ${count.toLocaleString("en")} rows`;
    body.replaceChildren();
    append();
  };
  more.addEventListener("click", append);
  form.addEventListener("input", () => { write(); show(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("clear").addEventListener("click", () => { clear(); write(); show(); });
  addEventListener("hashchange", read);
  clear();
  show();
  read();
  if (location.hash.includes("=")) byId("questions").scrollIntoView({ behavior: "instant" });
  document.documentElement.dataset.ready = "yes";
})();
