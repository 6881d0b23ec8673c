// Comfort for pages that are whole without it: results as one types, keys, copying, more of a session, and its growth.
// Nothing here makes HTML of a text: what is shown comes from the server as a page, or is set as text.
const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

const TYPING_MS = 40; // until what is typed is asked for: a fast typist's keystrokes are 60 ms apart
const SAID_MS = 4_000;
const AGAIN_MS = 30_000; // until a stream that was refused is asked for again
const NEAR = 800; // pixels from the end of what is shown at which more is loaded
const MOST = 1_000; // messages that stay shown: of more, those farthest away are dropped
const LOADS = 10; // pages that are loaded at most for one key

const isSession = document.body.classList.contains("is-session");
const isSearch = document.body.classList.contains("is-search");
const [main, box, header, list] = ["#main", "#q", "header.session", "#messages"].map((selector) => $(selector));
const known = () => $("#known");
const given = new URLSearchParams(location.search);

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
const inTurn = (action) => (turn = turn.then(action).catch((error) => say(error.message)));

const hasSelection = (within) => !getSelection().isCollapsed && within.contains(getSelection().anchorNode);

// -- results as one types
let [asking, typing] = [null, 0]; // the request, and the timer until the next
let hasEntry = false; // in the history, of what is being typed
let answered = location.search; // what the results answer

async function ask(url) {
  clearTimeout(typing);
  typing = 0;
  asking?.abort();
  const mine = (asking = new AbortController());
  main.setAttribute("aria-busy", "true");
  try {
    const made = await page(url, { signal: mine.signal });
    main.replaceChildren(...$("#main", made).children);
    answered = new URL(url, location).search;
    document.title = made.title;
    known().replaceWith($("#known", made));
    say($("#results h1").textContent, false);
  } catch (error) {
    if (error.name !== "AbortError") say(error.message);
  }
  if (asking !== mine) return;
  asking = null;
  main.removeAttribute("aria-busy");
}

function search() {
  const values = new URLSearchParams([...new FormData($("#search"))].filter(([, value]) => value.trim()));
  const url = values.size ? `/?${values}` : "/";
  if (url !== location.pathname + location.search) {
    history[hasEntry ? "replaceState" : "pushState"](null, "", url);
    hasEntry = true;
  }
  return ask(url);
}

function typed(event) {
  clearTimeout(typing);
  if (!event.isComposing) typing = setTimeout(search, TYPING_MS);
}

async function submitted(event) {
  event.preventDefault();
  await search();
  hasEntry = false;
  $("article.hit h2 a")?.focus();
}

function returned() {
  box.value = new URLSearchParams(location.search).get("q") ?? "";
  hasEntry = false;
  // A link within the page leads to the same results.
  if (asking || typing || location.search !== answered) ask(location.href);
}

// -- where one is on a page, and how one gets on
const place = () => document.activeElement?.closest("article.hit, article.message") ?? null;
const edge = (element, side) => element.getBoundingClientRect()[side];
const cover = () => edge($(".top"), "bottom");
const inView = (element) => edge(element, "bottom") > cover() && edge(element, "top") < innerHeight;
const named = () => all(".is-at").find(inView);
const firstInView = () => articles().find((one) => edge(one, "bottom") > cover() + 1);

/** The next of some elements, in the order of the page, after (1) or before (-1) another. */
function beyond(elements, start, step) {
  const side = step > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const found = elements.filter((one) => !start || start.compareDocumentPosition(one) & side);
  return step > 0 ? found[0] : found.at(-1);
}

function stand(article) {
  all(".is-at").forEach((one) => one.classList.remove("is-at"));
  article.classList.add("is-at");
  Object.assign(article, { tabIndex: -1 }).focus({ preventScroll: true });
  history.replaceState(null, "", $("a.at", article).href);
}

function go(article) {
  if (!isSession) {
    $("h2 a", article).focus({ preventScroll: true });
    return article.scrollIntoView({ block: "nearest" });
  }
  $("mark.is-now")?.classList.remove("is-now");
  stand(article);
  article.scrollIntoView();
}

async function move(step, selector = "article") {
  for (let loads = 0; loads <= LOADS; loads++) {
    const at = place() ?? (isSession ? named() : null);
    const start = at ?? (isSession ? firstInView() : null);
    if (start && !at && step > 0 && start.matches(selector)) return go(start);
    const found = beyond(all(`${selector}:is(.hit, .message)`), start, step);
    if (found) return go(found);
    if (!isSession || !(await more(step > 0 ? "next" : "prev"))) break;
  }
  say(step > 0 ? "Nothing further" : "Nothing before");
}

function hit(step) {
  const found = beyond(all("mark", list), $("mark.is-now") ?? place() ?? named() ?? firstInView(), step);
  if (found) return show(found);
  const places = all("#found details a").map((link) => [Number(link.textContent.slice(1)), link.href]);
  const next = step > 0 ? places.find(([at]) => at > last()) : places.findLast(([at]) => at < first());
  if (next) location.assign(next[1]);
  else say(step > 0 ? "No further hit here" : "No hit before this one");
}

function show(mark) {
  $("mark.is-now")?.classList.remove("is-now");
  mark.classList.add("is-now");
  for (let one = mark.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
  if (!inView(mark)) mark.scrollIntoView({ block: "center" });
  stand(mark.closest("article"));
}

// -- keys
const focus = (input) => (input.focus(), input.select());

const fold = () => $("article.message:focus > details")?.toggleAttribute("open") ?? false;
/** Go back to the results that this tab has shown last. */
const leave = () => (isSession ? location.assign(sessionStorage.getItem("results") ?? "/") : box.focus());

const inSession = (action) => () => isSession && action();

/** What each row of keys is for, and what each of its keys does; false if it does nothing here. */
const KEYS = [
  ["Search", { "/": () => focus(box) }],
  ["Find in this session", { f: inSession(() => focus($("#find-text"))) }],
  ["Next, previous result or message", { j: () => move(1), k: () => move(-1) }],
  ["Next, previous prompt", { J: inSession(() => move(1, ".is-prompt")), K: inSession(() => move(-1, ".is-prompt")) }],
  ["Next, previous hit in a session", { "]": inSession(() => hit(1)), "[": inSession(() => hit(-1)) }],
  ["Open a result; fold or unfold a message", { Enter: fold }],
  ["Leave a box; go back to the results", { Escape: leave }],
  ["These keys", { "?": help }],
];
const ACTIONS = Object.assign({}, ...KEYS.map(([, actions]) => actions));

function help() {
  const rows = KEYS.map(([what, actions]) => {
    const keys = Object.keys(actions).flatMap((key) => [make("kbd", {}, key), " "]);
    return make("tr", {}, make("th", { scope: "row" }, ...keys), make("td", {}, what));
  });
  const close = make("button", { textContent: "Close", autofocus: true, onclick: () => dialog.close() });
  const parts = [make("h2", {}, "Keys"), make("table", {}, ...rows), close];
  const dialog = make("dialog", { id: "keys", ariaLabel: "Keys", onclose: () => dialog.remove() }, ...parts);
  document.body.append(dialog);
  dialog.showModal();
}

function pressed(event) {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  if ($("dialog[open]")) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key !== "Escape") return;
    event.preventDefault(); // which would empty the box
    event.target.blur();
    main.focus({ preventScroll: true });
  } else if (Object.hasOwn(ACTIONS, event.key) && ACTIONS[event.key]() !== false) event.preventDefault();
}

// -- more of a session, on both sides of what is shown
const articles = () => all("article.message", list);
const position = (article) => (article ? Number(article.dataset.seq) : -1);
const first = () => position(articles()[0]);
const last = () => position(articles().at(-1));
const total = () => Number(list.dataset.total);

/** The address of this session's page from a position; without one, of its end. */
function from(start) {
  const url = new URL(location.pathname, location.origin);
  for (const name of ["find", "q"]) if (given.get(name)) url.searchParams.set(name, given.get(name));
  if (start !== undefined) url.searchParams.set("from", start);
  return url.href;
}

/** Make the links before and after what is shown lead to what is not. */
function edges() {
  const link = (text, href, rel = "") => [make("a", { href, rel }, text), " "];
  const before = Math.max(0, first() - list.dataset.shown);
  const earlier = () => [link("First", from(0)), link("Earlier", from(before), "prev")];
  const later = () => [link("Later", from(last() + 1), "next"), link("Latest", from())];
  for (const nav of all("nav.pages")) {
    $(".before", nav).replaceChildren(...(first() > 0 ? earlier().flat() : []));
    $(".range", nav).textContent = `#${first()} to #${last()} of ${total()}`;
    $(".after", nav).replaceChildren(...(last() + 1 < total() ? later().flat() : []));
  }
}

/** Add the messages of another page that are not shown yet, drop those that are far, and keep what is in view there. */
function take(made, isBefore) {
  const anchor = place() ?? firstInView();
  const was = anchor && edge(anchor, "top");
  const added = [];
  for (const one of all("#messages > article", made)) {
    const [old, now] = [$(`#${one.id} .text`), $(".text", one)];
    if (!old) added.push(one);
    else if (old.innerHTML !== now.innerHTML && !hasSelection(old)) old.replaceWith(now);
  }
  list[isBefore ? "prepend" : "append"](...added);
  list.dataset.total = $("#messages", made).dataset.total;
  const far = isBefore ? articles().slice(MOST) : articles().slice(0, -MOST);
  const isUsed = far.some((one) => one === anchor || one.contains(document.activeElement) || hasSelection(one));
  if (!isUsed) far.forEach((one) => one.remove());
  edges();
  if (anchor) scrollBy(0, edge(anchor, "top") - was);
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

let [isLoading, height] = [false, scrollY];
async function scrolled() {
  const step = scrollY - height;
  height = scrollY;
  if (isLoading || !step) return;
  // Not while the head of the page is in view: it would be pushed away from those who want it.
  const isUp = step < 0 && edge(list, "top") > -NEAR && edge(header, "bottom") < cover();
  if (!isUp && !(step > 0 && edge(list, "bottom") < innerHeight + NEAR)) return;
  isLoading = true;
  await more(isUp ? "prev" : "next");
  isLoading = false;
}

// -- what can be done with a message, and with a session
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

const copier = (what, of) =>
  make("button", { type: "button", className: "copy", onclick: () => copy(of(), `the ${what}`) }, `Copy ${what}`);

/** One bar of buttons, which is in the message that one points to or stands on: not hundreds for a keyboard to pass. */
function tools() {
  const article = () => bar.closest("article");
  const text = () => $(".text", article());
  const bar = make("div", { id: "tools", role: "toolbar", ariaLabel: "Message" });
  bar.append(
    copier("text", () => (text().checkVisibility() ? text().innerText : text().textContent).trim()),
    copier("link", () => $("a.at", article()).href),
    copier("command", () => `sesame show ${article().dataset.place}`),
  );
  let pointer = "";
  const attach = (event) => {
    const [target, was] = [event.target.closest("article.message"), pointer];
    if (event.type === "pointerover") {
      pointer = `${event.screenX},${event.screenY}`;
      // Not where the page moved below a pointer that rests, nor away from who is about to use it.
      if (pointer === was || bar.contains(document.activeElement)) return;
    }
    if (target && bar.parentElement !== target) target.prepend(bar);
  };
  for (const kind of ["pointerover", "focusin", "click"]) list.addEventListener(kind, attach);
  const command = $("code.command");
  command?.after(" ", copier("command", () => command.textContent));
}

function marked(event) {
  const form = event.target;
  if (!form.matches(".marks form")) return;
  event.preventDefault();
  const changed = $("input:not([type=hidden]), textarea", form)?.name;
  inTurn(async () => {
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

function indexed({ text }) {
  // The list of the latest sessions grows, too, while nobody is about to use it.
  const isBusy = asking || typing || box.value || scrollY > NEAR || place() || hasSelection(main);
  if (isSearch && known().textContent !== text && !isBusy) ask(location.href);
  known().textContent = text;
}

let stream = null;
function listen() {
  stream?.close(); // a browser has six connections to a server: pages that nobody sees take none
  stream = null;
  if (document.hidden) return;
  const of = isSession ? `?session=${encodeURIComponent(header.dataset.session)}` : "";
  stream = new EventSource(`/api/events${of}`);
  stream.addEventListener("index", (event) => indexed(JSON.parse(event.data)));
  stream.addEventListener("session", (event) => inTurn(() => grow(JSON.parse(event.data).chunkCount)));
  stream.addEventListener("error", (event) => {
    if (event.target === stream && stream.readyState === EventSource.CLOSED) setTimeout(listen, AGAIN_MS);
  });
}

// -- the start
if (/^#[\w-]{22,}$/.test(location.hash)) {
  // The link of `sesame web`, in a browser that is in already: its token is used up, and does not stay in the history.
  const secret = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search);
  fetch("/enter", { method: "POST", body: new URLSearchParams({ secret }) });
}
document.addEventListener("keydown", pressed);
if (isSearch) {
  for (const kind of ["input", "compositionend"]) box.addEventListener(kind, typed);
  $("#search").addEventListener("submit", submitted);
  addEventListener("popstate", returned);
  addEventListener("pagehide", () => sessionStorage.setItem("results", location.pathname + location.search));
}
if (isSession) {
  tools();
  header.addEventListener("submit", marked);
  if (!given.has("whole")) addEventListener("scroll", scrolled, { passive: true });
  if ($(".is-at mark")) show($(".is-at mark"));
}
if (known()) {
  known().parentElement.append(make("button", { type: "button", className: "plain", onclick: help }, "Keys"));
  listen();
  document.addEventListener("visibilitychange", listen);
  addEventListener("pagehide", () => stream?.close());
}
