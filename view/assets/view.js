// The script adds keys and live numbers. All pages work without it.
"use strict";

const body = document.body;
const $ = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];

// Opening: the page ends when the dataset is open.
if ($("[data-opened]")) location.replace($("[data-opened] a").href);

// Keys.

const items = () => all("[data-item]");

// stored returns what the browser keeps under a name, and keeps a value; some browsers refuse both.
function stored(name, value) {
	try {
		if (value) localStorage.setItem(name, value);
		return localStorage.getItem(name);
	} catch {
		return value || null;
	}
}

const off = () => stored("keys") === "off";

// step moves the focus to the next or previous card, row or picture.
function step(by) {
	const list = items();
	if (!list.length) return;
	const now = list.indexOf(document.activeElement);
	const at = now < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(now + by, 0), list.length - 1);
	list[at].focus();
}

function go(link) {
	if (link) link.click();
}

function up() {
	const crumbs = all(".crumbs a");
	go($("[data-close]") || $(".tabs [aria-current]") || crumbs[crumbs.length - 1]);
}

// help shows the list of keys in a dialog.
async function help() {
	let dialog = $("dialog");
	if (!dialog) {
		const page = await part(body.dataset.keys);
		const main = page && page.querySelector("main");
		if (!main) return;
		dialog = document.createElement("dialog");
		dialog.append(...main.childNodes);
		body.append(dialog);
		prepare(dialog);
	}
	dialog.showModal();
}

const keys = {
	"/": () => $("[type=search]") && $("[type=search]").select(),
	j: () => step(1),
	k: () => step(-1),
	u: up,
	"[": () => go($("[data-row-prev]") || $("[rel=prev]")),
	"]": () => go($("[data-row-next]") || $("[rel=next]")),
	1: () => go(all(".tabs a")[0]),
	2: () => go(all(".tabs a")[1]),
	3: () => go(all(".tabs a")[2]),
	4: () => go(all(".tabs a")[3]),
	".": () => go($("[data-new]")),
	"?": help,
};

document.addEventListener("keydown", (e) => {
	if (e.ctrlKey || e.altKey || e.metaKey || e.isComposing) return;
	const field = e.target.closest("input, select, textarea");
	if (e.key === "Escape") {
		if (field) field.blur();
		else if (!$("dialog[open]")) go($("[data-close]"));
		return;
	}
	if (field || off() && e.key !== "?" || !Object.hasOwn(keys, e.key) || $("dialog[open]")) return;
	e.preventDefault();
	keys[e.key]();
});

// prepare shows the switch of the keys in the list of keys.
function prepare(root) {
	const button = root.querySelector("[data-keys-off]");
	if (!button) return;
	const name = () => { button.textContent = off() ? "Switch keys on" : "Switch keys off"; };
	button.hidden = false;
	name();
	button.addEventListener("click", () => {
		stored("keys", off() ? "on" : "off");
		name();
	});
}
prepare(document);

// Copying.

document.addEventListener("click", async (e) => {
	const link = e.target.closest("[data-copy]");
	if (!link || !navigator.clipboard) return;
	e.preventDefault();
	try {
		const answer = await fetch(link.href);
		if (!answer.ok || answer.redirected) throw new Error(answer.status);
		await navigator.clipboard.writeText(await answer.text());
		link.textContent = "Copied";
	} catch {
		location.href = link.href;
	}
});

// A whole row of a table is a link.
document.addEventListener("click", (e) => {
	const row = e.target.closest("tr[data-row]");
	if (!row || e.target.closest("a") || String(getSelection())) return;
	go(row.querySelector("[data-item]"));
});

// The current row of the tree is in sight.
const current = $(".tree .now");
if (current) {
	const tree = $(".tree");
	const at = current.offsetTop - tree.offsetTop;
	if (at > tree.clientHeight - 48) tree.scrollTop = at - tree.clientHeight / 2;
}

// Live numbers: a stream of events, open only while the page is visible.

let stream, first, seen, said = 0;

// part fetches a page, or a piece of one.
async function part(address) {
	const answer = await fetch(address);
	return answer.ok && !answer.redirected ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
}

function write(selector, text) {
	for (const at of all(selector)) {
		if (at.textContent === text) continue;
		at.textContent = text;
		at.classList.remove("fresh");
		void at.offsetWidth; // the animation begins anew
		at.classList.add("fresh");
	}
}

// take shows an event.
function take(event) {
	if (first === undefined) first = Number(new URL(body.dataset.events, location.href).searchParams.get("rows"));
	if (event.replaced) return replaced(event);
	const badge = $("#badge");
	if (event.word && !badge.firstElementChild) {
		for (const [tag, name] of [["span", "dot"], ["span", "word"], ["b", "rows"], ["b", "plus"]]) {
			const at = document.createElement(tag);
			if (name === "dot") at.className = "dot"; else at.dataset.live = name;
			if (name === "plus") at.className = "plus";
			badge.append(at, " ");
		}
		badge.classList.remove("none");
	}
	badge.classList.toggle("grows", event.growing);
	write("[data-live=word]", event.word || "finished");
	if (event.n === seen) return;
	seen = event.n;
	const plus = event.n - first;
	if ($("[data-live=rows]")) $("[data-live=rows]").textContent = event.rows;
	if ($("[data-live=plus]")) $("[data-live=plus]").textContent = plus > 0 ? "+" + plus.toLocaleString("en") : "";
	if (plus <= 0) return;
	write("[data-fact=rows] b", event.rows);
	write("[data-fact=size] b", event.size.split(" ")[0]);
	for (const at of all('[data-count="Rows"]')) at.textContent = event.rows;
	for (const at of all("[data-rows]")) at.textContent = event.rows + " rows";
	for (const at of all("[data-fact=form]")) at.textContent = at.textContent.replace(/last commit \S+/, "last commit " + event.at);
	for (const at of all(".again")) at.hidden = false;
	if (Date.now() - said > 10000) {
		said = Date.now();
		$("#hear").textContent = event.rows + " rows";
	}
	follow();
}

let asked = false, again = false; // a request is under way; a commit has come meanwhile

// follow fetches the rows that follow a table.
async function follow() {
	const table = $("[data-follow]");
	if (!table) return;
	if (asked) {
		again = true;
		return;
	}
	asked = true;
	const page = await part(table.dataset.follow).catch(() => null);
	asked = false;
	if (again) {
		again = false;
		follow();
	}
	const rows = page && [...page.querySelectorAll("tr")];
	if (!rows || !rows.length) return;
	const before = new Set(all("[data-follow] tr").map((row) => row.dataset.row));
	for (const row of all("[data-follow] tr.new")) row.classList.remove("new");
	for (const row of rows) {
		if (before.has(row.dataset.row)) continue;
		row.classList.add("new");
		table.append(row); // the others stay as they are: somebody may read them
	}
	const last = $("[data-last]");
	while (last && table.rows.length > rows.length) table.rows[0].remove();
	if (last) last.textContent = rows[0].querySelector("th").textContent + " to " + rows[rows.length - 1].querySelector("th").textContent;
}

// replaced says that the dataset was replaced, and offers the new version.
function replaced(event) {
	close();
	body.removeAttribute("data-events");
	const box = document.createElement("aside");
	box.className = "notice";
	const line = document.createElement("p");
	const strong = document.createElement("b");
	strong.textContent = "Replaced at " + event.replaced + ".";
	const was = first === undefined ? "" : ", of " + first.toLocaleString("en") + " rows";
	line.append(strong, " You see the version before it" + was + "; the new one has " + event.now + ".");
	$("#badge").className = "badge none";
	$("#badge").replaceChildren();
	const links = document.createElement("p");
	const show = document.createElement("a");
	show.className = "button";
	show.textContent = "Show the new version";
	show.dataset.new = "";
	const address = new URL(location.href);
	address.searchParams.delete("v");
	show.href = address;
	const stay = document.createElement("a");
	stay.className = "button";
	stay.textContent = "Stay";
	stay.href = "#main";
	stay.addEventListener("click", () => box.remove());
	links.append(show, " ", stay);
	box.append(line, links);
	$("#notice").replaceChildren(box);
	$("#hear").textContent = "The dataset was replaced.";
}

function open() {
	if (stream || !body.dataset.events || document.hidden) return;
	stream = new EventSource(body.dataset.events);
	stream.onmessage = (e) => take(JSON.parse(e.data));
	stream.onerror = () => { if (stream && stream.readyState === EventSource.CLOSED) close(); };
}

function close() {
	if (stream) stream.close();
	stream = undefined;
}

document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
addEventListener("pagehide", close);
addEventListener("pageshow", open);
open();
