// Keeps the console current: the server says which incident changed, the page fetches what it shows of it.
const list = document.getElementById('incidents');
const thread = document.getElementById('thread');

const load = async (path, target) => {
  const response = await fetch(path, { headers: { accept: 'text/html' } });
  if (!response.ok) return;
  const fresh = document.createElement('template');
  fresh.innerHTML = await response.text();
  // What is the same stays: a click, a selection and an opened list outlive the look for news.
  if (fresh.innerHTML !== target.innerHTML) target.replaceChildren(fresh.content);
};

const refresh = (incident) => {
  const chosen = thread.dataset.incident;
  load(`/incidents?chosen=${encodeURIComponent(chosen)}`, list);
  if (chosen && (!incident || incident === chosen)) load(`/incidents/${encodeURIComponent(chosen)}/thread`, thread);
};

let pending;
const changed = new Set();
const source = new EventSource('/changes');
source.onopen = () => refresh(null);
source.onmessage = (event) => {
  changed.add(event.data);
  if (pending) return;
  pending = setTimeout(() => {
    pending = undefined;
    const chosen = thread.dataset.incident;
    refresh(changed.has(chosen) ? chosen : [...changed][0]);
    changed.clear();
  }, 150);
};

list.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-incident]');
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  thread.dataset.incident = link.dataset.incident;
  history.replaceState(null, '', link.href);
  thread.scrollTop = 0;
  refresh(null);
});

thread.addEventListener('click', async (event) => {
  const button = event.target.closest('button[data-action]');
  if (!button) return;
  button.disabled = true;
  const response = await fetch(`/incidents/${encodeURIComponent(thread.dataset.incident)}/${button.dataset.action}`, {
    method: 'POST',
  });
  if (!response.ok) button.textContent = (await response.json().catch(() => ({}))).error ?? 'failed';
});
