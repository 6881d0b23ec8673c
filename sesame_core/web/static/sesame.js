// Comfort for pages that are whole without it: results as one types, keys, copying, more of a session, and its growth.
// Nothing here makes HTML of a text: what is shown comes from the server as a page, or is set as text.

const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

const TYPING_MS = 40; // until what is typed is asked for: a fast typist's keystrokes are 60 ms apart
const SAID_MS = 4000;
const AGAIN_MS = 30000; // until a stream that was refused is asked for again
const NEAR = 800; // pixels from the end of what is shown at which more is loaded
const MOST = 1000; // messages that stay shown: of more, those farthest away are dropped
const LOADS = 10; // pages that are loaded at most for one key

const isSession = document.body.classList.contains("is-session");
const isSearch = document.body.classList.contains("is-search");
const main = $("#main");
const box = $("#q");
const header = $("header.session");
const list = $("#messages");

// -- what both kinds of pages need

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

let silence = 0;
function say(text, isShown = true) {
  const said = $("#said");
  said.textContent = text;
  said.classList.toggle("is-shown", isShown);
  clearTimeout(silence);
  silence = setTimeout(() => said.classList.remove("is-shown"), SAID_MS);
}

async function page(url, options = {}) {
  const answer = await fetch(url, options);
  if (answer.status === 401) location.reload(); // signed out, or another server: the door says so
  const made = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok) throw new Error($("[role=alert]", made)?.textContent ?? `The server answered ${answer.status}`);
  return made;
}

/** Pages that were asked for are shown in their order, one at a time. */
let turn = Promise.resolve();
function inTurn(action) {
  turn = turn.then(action).catch((error) => say(error.message));
  return turn;
}

const hasSelection = (within) => {
  const selection = getSelection();
  return !selection.isCollapsed && within.contains(selection.anchorNode);
};

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No clipboard for a page without encryption from another machine, or none was granted.
    const area = make("textarea", { value: text, readOnly: true, className: "hidden" });
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    focused?.focus({ preventScroll: true });
    if (!isDone) return say("The browser does not let a page copy");
  }
  say(`Copied ${what}`);
}

// -- results as one types

let asking = null;
let typing = 0;
let hasEntry = false; // in the history, of what is being typed

const address = () => {
  const values = new URLSearchParams([...new FormData($("#search"))].filter(([, value]) => value.trim()));
  return values.size ? `/?${values}` : "/";
};

async function ask(url) {
  clearTimeout(typing);
  typing = 0;
  asking?.abort();
  const mine = (asking = new AbortController());
  $("#results")?.setAttribute("aria-busy", "true");
  try {
    const made = await page(url, { signal: mine.signal });
    main.replaceChildren(...$("#main", made).children);
    document.title = made.title;
    $("#known").replaceWith($("#known", made));
    say($("#results h1").textContent, false);
  } catch (error) {
    if (error.name !== "AbortError") say(error.message);
  } finally {
    if (asking === mine) {
      asking = null;
      $("#results")?.removeAttribute("aria-busy");
    }
  }
}

function search() {
  const url = address();
  if (url !== location.pathname + location.search) {
    history[hasEntry ? "replaceState" : "pushState"](null, "", url);
    hasEntry = true;
  }
  return ask(url);
}

if (isSearch) {
  box.addEventListener("input", (event) => {
    if (event.isComposing) return;
    clearTimeout(typing);
    typing = setTimeout(search, TYPING_MS);
  });
  box.addEventListener("compositionend", () => (typing = setTimeout(search, TYPING_MS)));
  $("#search").addEventListener("submit", async (event) => {
    event.preventDefault();
    await search();
    hasEntry = false;
    $("article.hit h2 a")?.focus();
  });
  addEventListener("pagehide", () => sessionStorage.setItem("results", location.pathname + location.search));
  addEventListener("popstate", () => {
    box.value = new URLSearchParams(location.search).get("q") ?? "";
    hasEntry = false;
    ask(location.href);
  });
}

// -- where one is on a page, and how one gets on

const place = () => document.activeElement?.closest("article.hit, article.message") ?? null;
const top = () => $(".top").getBoundingClientRect().bottom;
const inView = (element) => {
  const { top: from, bottom: to } = element.getBoundingClientRect();
  return to > top() && from < innerHeight;
};
const firstInView = () => all("article.message").find((one) => one.getBoundingClientRect().bottom > top() + 1);

function go(article) {
  if (!isSession) {
    $("h2 a", article).focus({ preventScroll: true });
    return article.scrollIntoView({ block: "nearest" });
  }
  for (const name of ["is-at", "is-now"]) all(`.${name}`).forEach((one) => one.classList.remove(name));
  article.classList.add("is-at");
  article.tabIndex = -1;
  article.focus({ preventScroll: true });
  article.scrollIntoView();
  history.replaceState(null, "", $("a.at", article).href);
}

/** The next of some elements, in the order of the page, after (1) or before (-1) another. */
function beyond(elements, start, step) {
  const side = step > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const found = elements.filter((one) => !start || start.compareDocumentPosition(one) & side);
  return step > 0 ? found[0] : found.at(-1);
}

async function move(step, selector = "") {
  for (let loads = 0; loads <= LOADS; loads++) {
    const items = all((isSession ? "article.message" : "article.hit") + selector);
    const at = place() ?? (isSession ? all(".is-at").find(inView) : null);
    const start = at ?? (isSession ? firstInView() : null);
    if (start && !at && step > 0 && start.matches(selector || "*")) return go(start);
    const found = beyond(items, start, step);
    if (found) return go(found);
    if (!isSession || !(await more(step > 0 ? "next" : "prev"))) break;
  }
  say(step > 0 ? "Nothing further" : "Nothing before");
}

function unfold(element) {
  for (let one = element.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
}

function hit(step) {
  const here = $("mark.is-now") ?? place() ?? all(".is-at").find(inView) ?? firstInView();
  const found = beyond(all("mark", list), here, step);
  if (found) return show(found);
  const places = all("#found details a").map((link) => [Number(link.textContent.slice(1)), link.href]);
  const next = step > 0 ? places.find(([at]) => at > last()) : places.findLast(([at]) => at < first());
  if (next) location.assign(next[1]);
  else say(step > 0 ? "No further hit here" : "No hit before this one");
}

function show(mark) {
  $("mark.is-now")?.classList.remove("is-now");
  mark.classList.add("is-now");
  unfold(mark);
  mark.scrollIntoView({ block: "center" });
  const article = mark.closest("article.message");
  article.tabIndex = -1;
  article.focus({ preventScroll: true });
}

/** Go back to the results that this tab has shown last. */
function leave() {
  if (!isSession) return box.focus();
  location.assign(sessionStorage.getItem("results") ?? "/");
}

// -- keys

function focus(input) {
  input?.focus();
  input?.select();
}

/** What each row of keys is for, and what each of its keys does; false if it does nothing here. */
const KEYS = [
  ["Search", { "/": () => focus(box) }],
  ["Find in this session", { f: () => focus($("#find-text")) }],
  ["The next, the previous result or message", { j: () => move(1), k: () => move(-1) }],
  ["The next, the previous prompt", { J: () => isSession && move(1, ".is-prompt"), K: () => isSession && move(-1, ".is-prompt") }],
  ["The next, the previous hit in a session", { "]": () => isSession && hit(1), "[": () => isSession && hit(-1) }],
  ["Open a result; fold or unfold a message", { Enter: fold }],
  ["Leave a box; go back to the results", { Escape: leave }],
  ["These keys", { "?": help }],
];
const ACTIONS = Object.assign({}, ...KEYS.map(([, actions]) => actions));

function fold() {
  const folded = document.activeElement.matches("article.message") && $("details", document.activeElement);
  if (!folded) return false;
  folded.open = !folded.open;
}

function help() {
  const rows = KEYS.map(([what, actions]) => {
    const keys = Object.keys(actions).flatMap((key) => [make("kbd", {}, key), " "]);
    return make("tr", {}, make("th", { scope: "row" }, ...keys), make("td", {}, what));
  });
  const close = make("button", { textContent: "Close", autofocus: true });
  const dialog = make("dialog", { id: "keys" }, make("h2", { id: "keys-name" }, "Keys"), make("table", {}, ...rows), close);
  dialog.setAttribute("aria-labelledby", "keys-name");
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  if ($("dialog[open]")) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key !== "Escape") return;
    event.preventDefault(); // which would empty the box
    event.target.blur();
    return (place() ?? $(".is-at") ?? main).focus({ preventScroll: true });
  }
  if (Object.hasOwn(ACTIONS, event.key) && ACTIONS[event.key]() !== false) event.preventDefault();
});

if ($("#known")) {
  const opener = make("button", { className: "plain", type: "button", textContent: "Keys" });
  opener.addEventListener("click", help);
  $("#known").after(" ", opener);
}

// -- more of a session, on both sides of what is shown

const articles = () => all("article.message", list);
const position = (article) => Number(article.dataset.seq);
const first = () => (articles().length ? position(articles()[0]) : 0);
const last = () => (articles().length ? position(articles().at(-1)) : -1);
const total = () => Number(list.dataset.total);

/** The address of this session's page from a position; without one, of its end. */
function from(position) {
  const url = new URL(location.href);
  for (const name of ["at", "from", "whole"]) url.searchParams.delete(name);
  if (position !== undefined) url.searchParams.set("from", position);
  url.hash = "";
  return url.href;
}

/** Make the links before and after what is shown lead to what is not. */
function edges() {
  const shown = Number(list.dataset.shown);
  const link = (text, href, rel = "") => make("a", { href, rel }, text);
  for (const nav of all("nav.pages")) {
    const [before, after] = [$(".before", nav), $(".after", nav)];
    before.replaceChildren(...(first() ? [link("First", from(0)), " ", link("Earlier", from(Math.max(0, first() - shown)), "prev")] : []));
    $(".range", nav).textContent = `#${first()} to #${last()} of ${total()}`;
    after.replaceChildren(...(last() + 1 < total() ? [link("Later", from(last() + 1), "next"), " ", link("Latest", from())] : []));
  }
}

/** Add the messages of another page that are not shown yet, and drop those that are far; what is in view stays there. */
function take(made, isBefore) {
  const anchor = place() ?? firstInView();
  const was = anchor?.getBoundingClientRect().top;
  let lead = [];
  const added = [];
  for (const node of [...$("#messages", made).children]) {
    lead.push(node);
    if (!node.matches("article")) continue;
    const old = document.getElementById(node.id);
    if (!old) added.push(...lead);
    else if ($(".text", old)?.innerHTML !== $(".text", node)?.innerHTML && !hasSelection(old)) $(".text", old).replaceWith($(".text", node));
    lead = [];
  }
  list[isBefore ? "prepend" : "append"](...added);
  list.dataset.total = $("#messages", made).dataset.total;
  const far = isBefore ? articles().slice(MOST) : articles().slice(0, -MOST);
  if (!far.some((one) => one === anchor || one.contains(document.activeElement) || hasSelection(one))) {
    for (const one of far) {
      if (one.previousElementSibling?.matches(".branch")) one.previousElementSibling.remove();
      one.remove();
    }
  }
  edges();
  if (anchor) scrollBy(0, anchor.getBoundingClientRect().top - was);
  return added.length;
}

async function more(rel) {
  let count = 0;
  await inTurn(async () => {
    const link = $(`nav.pages a[rel=${rel}]`);
    if (link) count = take(await page(link.href), rel === "prev");
  });
  return count > 0;
}

let isLoading = false;
let height = scrollY;
async function scrolled() {
  const step = scrollY - height;
  height = scrollY;
  if (isLoading || !step) return;
  const [from, to] = [list.getBoundingClientRect().top, list.getBoundingClientRect().bottom];
  // Not while the head of the page is in view: it would be pushed away from those who want it.
  const isUp = step < 0 && from > -NEAR && header.getBoundingClientRect().bottom < top();
  const isDown = step > 0 && to < innerHeight + NEAR;
  if (!isUp && !isDown) return;
  isLoading = true;
  await more(isUp ? "prev" : "next");
  isLoading = false;
}

// -- what can be done with a message, and with a session

function tools() {
  const bar = make("div", { id: "tools" });
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", "Copy");
  const button = (what, of) => {
    const made = make("button", { type: "button", textContent: what });
    made.addEventListener("click", () => copy(of(bar.closest("article")), `the ${what.toLowerCase()}`));
    bar.append(made);
  };
  button("Text", (article) => {
    const text = $(".text", article);
    return (text.checkVisibility() ? text.innerText : text.textContent).trim();
  });
  button("Link", (article) => $("a.at", article).href);
  button("Command", (article) => `sesame show ${article.dataset.place}`);
  let pointer = "";
  const attach = (event) => {
    const [article, was] = [event.target.closest("article.message"), pointer];
    if (event.type === "pointerover") {
      pointer = `${event.screenX},${event.screenY}`;
      // Not where the page moved below a pointer that rests, nor away from who is about to use it.
      if (pointer === was || bar.contains(document.activeElement)) return;
    }
    if (article && bar.parentElement !== article) article.prepend(bar);
  };
  for (const kind of ["pointerover", "focusin", "click"]) list.addEventListener(kind, attach);
  const command = $("code.command");
  if (command) {
    const line = make("button", { type: "button", className: "copy", textContent: "Copy" });
    line.addEventListener("click", () => copy(command.textContent, "the command"));
    command.after(" ", line);
  }
}

async function mark(event) {
  const form = event.target.closest("form");
  if (!form?.matches(".marks form")) return;
  event.preventDefault();
  const changed = $("input:not([type=hidden]), textarea", form)?.name;
  await inTurn(async () => {
    const made = await page(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    $(".known", header).replaceWith($(".known", made));
    $("details.marks").replaceChildren(...$("details.marks", made).childNodes);
    document.title = made.title;
    (changed ? $(`details.marks [name=${changed}]`) : $("details.marks form button")).focus();
    say("Marked");
  });
}

// -- growth

async function grow(count) {
  if (count < total()) return say("This session was rewritten: load the page anew");
  if (count === total()) return;
  if (last() + 1 < total()) {
    list.dataset.total = count;
    return edges();
  }
  const scroller = document.documentElement;
  const isAtEnd = innerHeight + scrollY >= scroller.scrollHeight - 4 && !hasSelection(list) && !place();
  const added = take(await page(from(Math.max(0, last()))), false);
  if (added) say(`${added} new message${added === 1 ? "" : "s"}`, false);
  if (isAtEnd) scrollTo(scrollX, scroller.scrollHeight);
}

let stream = null;
function listen() {
  if (document.hidden || stream) return;
  stream = new EventSource("/api/events" + (isSession ? `?${new URLSearchParams({ session: header.dataset.session })}` : ""));
  stream.addEventListener("index", (event) => {
    const { text } = JSON.parse(event.data);
    const isNew = $("#known").textContent !== text;
    $("#known").textContent = text;
    // A list of the latest sessions that nobody is about to use.
    const isIdle = isSearch && !asking && !typing && !box.value && scrollY < NEAR && !place() && !hasSelection(main);
    if (isNew && isIdle) ask(location.href);
  });
  stream.addEventListener("session", (event) => inTurn(() => grow(JSON.parse(event.data).chunkCount)));
  stream.addEventListener("error", () => {
    if (stream?.readyState !== EventSource.CLOSED) return; // the browser asks again
    stream = null;
    setTimeout(listen, AGAIN_MS);
  });
}

// A browser has six connections to a server: pages that nobody sees take none.
function unlisten() {
  stream?.close();
  stream = null;
}

// -- the start

if (/^#[\w-]{22,}$/.test(location.hash)) {
  // The link of `sesame web`, in a browser that is in already: its token is used up, and does not stay in the history.
  const secret = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search);
  fetch("/enter", { method: "POST", body: new URLSearchParams({ secret }) });
}
if (isSession) {
  tools();
  header.addEventListener("submit", mark);
  if (!new URLSearchParams(location.search).has("whole")) addEventListener("scroll", scrolled, { passive: true });
  const hitHere = $(".is-at mark");
  if (hitHere) {
    hitHere.classList.add("is-now");
    unfold(hitHere);
    if (!inView(hitHere)) hitHere.scrollIntoView({ block: "center" });
  }
}
if ($("#known")) {
  listen();
  document.addEventListener("visibilitychange", () => (document.hidden ? unlisten() : listen()));
  addEventListener("pagehide", unlisten);
}
